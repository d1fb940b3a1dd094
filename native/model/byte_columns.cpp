#include "native/model/byte_columns.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace spinney {
namespace {

constexpr std::size_t kMostCuts = kMaxValueBins - 1;
static_assert(kByteRows <= kBinBlockRows);

/// Bins of 0 to 254 become bytes of -128 to 126, the missing bin 127.
void make_signed(std::int8_t* bytes, std::uint8_t missing_bin) {
    for (std::size_t i = 0; i < kByteRows; ++i) {
        const auto bin = static_cast<std::uint8_t>(bytes[i]);
        const auto code = static_cast<std::uint8_t>(bin == missing_bin ? 255 : bin);
        bytes[i] = static_cast<std::int8_t>(code ^ 128U);
    }
}

/// One higher; 127 wraps around to -128, which is what missing values need.
void raise(const std::int8_t* from, std::int8_t* to) {
    for (std::size_t i = 0; i < kByteRows; ++i) {
        to[i] = static_cast<std::int8_t>(static_cast<std::uint8_t>(from[i]) + 1U);
    }
}

}  // namespace

ByteColumns::ByteColumns(const ForestArrays& forest)
    : first_part_(forest.n_features), thresholds_(forest.n_features) {
    std::vector<Uses> uses(forest.n_features);
    for (std::size_t node = 0; node < forest.n_nodes(); ++node) {
        if (forest.feature[node] < 0) continue;
        Uses& of_feature = uses[static_cast<std::size_t>(forest.feature[node])];
        of_feature.thresholds.push_back(forest.threshold[node]);
        (forest.missing_left[node] ? of_feature.sends_missing_left
                                   : of_feature.sends_missing_right) = true;
    }
    for (std::size_t feature = 0; feature < forest.n_features; ++feature) {
        first_part_[feature] = parts_.size();
        if (uses[feature].thresholds.empty()) continue;
        if (forest.is_categorical(feature)) {
            add_categorical(forest, feature);
        } else {
            add_numeric(feature, std::move(uses[feature]));
        }
    }
}

void ByteColumns::add_numeric(std::size_t feature, Uses uses) {
    std::vector<double>& cuts = uses.thresholds;
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (std::size_t first = 0; first < cuts.size(); first += kMostCuts) {
        const std::size_t n = std::min(kMostCuts, cuts.size() - first);
        Part part{feature, FeatureBins::numeric(std::span(cuts).subspan(first, n))};
        if (uses.sends_missing_right) part.missing_high = n_columns_++;
        if (uses.sends_missing_left) part.missing_low = n_columns_++;
        parts_.push_back(std::move(part));
    }
    thresholds_[feature] = std::move(cuts);
}

void ByteColumns::add_categorical(const ForestArrays& forest, std::size_t feature) {
    const auto first = static_cast<std::size_t>(forest.category_start[feature]);
    const auto last = static_cast<std::size_t>(forest.category_start[feature + 1]);
    const auto table = forest.category_bins.subspan(first, last - first);
    parts_.push_back({feature, FeatureBins::categorical(table, kMaxValueBins), n_columns_++});
}

ByteQuestion ByteColumns::question(std::int32_t feature, double threshold,
                                   bool missing_left) const {
    const auto f = static_cast<std::size_t>(feature);
    const std::vector<double>& all = thresholds_[f];
    const auto place =
        static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), threshold) - all.begin());
    const Part& part = parts_[first_part_[f] + place / kMostCuts];
    const int lowest = missing_left ? -126 : -127;  // one threshold is below x
    return {missing_left ? part.missing_low : part.missing_high,
            static_cast<std::int8_t>(lowest + static_cast<int>(place % kMostCuts))};
}

std::uint32_t ByteColumns::bins_of(std::int32_t feature) const {
    return parts_[first_part_[static_cast<std::size_t>(feature)]].missing_high;
}

void ByteColumns::read(const Columns& columns, std::size_t first, std::size_t n,
                       std::int8_t* bytes) const {
    for (const Part& part : parts_) {
        const bool is_high = part.missing_high != kNone;
        std::int8_t* to = bytes + (is_high ? part.missing_high : part.missing_low) * kByteRows;
        bin_rows(columns.features[part.feature], first, n, part.bins,
                 reinterpret_cast<std::uint8_t*>(to));
        if (part.bins.is_categorical()) continue;
        make_signed(to, part.bins.missing_bin());
        if (part.missing_low == kNone) continue;
        raise(to, bytes + part.missing_low * kByteRows);
    }
}

}  // namespace spinney
