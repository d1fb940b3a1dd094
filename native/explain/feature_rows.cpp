#include "native/explain/feature_rows.hpp"

#include <algorithm>
#include <limits>

#include "native/base/failure.hpp"

namespace spinney {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

void check_types(const ForestArrays& forest, const Columns& columns) {
    bool fits = columns.features.size() == forest.n_features;
    for (std::size_t f = 0; fits && f < forest.n_features; ++f) {
        fits = (columns.features[f].type == ValueType::kCode32) == forest.is_categorical(f);
    }
    if (!fits) {
        throw Failure(FailureKind::kInvalidInput, "the table does not have the model's features");
    }
}

}  // namespace

FeatureRows::FeatureRows(const ForestArrays& forest, std::size_t room)
    : forest_(forest),
      room_((room + kRowGroup - 1) / kRowGroup * kRowGroup),
      slot_(forest.n_features, forest.n_features) {
    for (const std::int32_t signed_feature : forest.feature) {
        if (signed_feature < 0) continue;
        const auto feature = static_cast<std::size_t>(signed_feature);
        if (slot_[feature] < forest.n_features) continue;
        slot_[feature] = used_.size();
        used_.push_back(feature);
    }
    values_.assign(used_.size() * room_, kMissing);
}

void FeatureRows::read(const Columns& columns, std::size_t first, std::size_t n, std::size_t at) {
    check_types(forest_, columns);
    for (std::size_t slot = 0; slot < used_.size(); ++slot) {
        double* to = values_.data() + slot * room_ + at;
        const ColumnView& column = columns.features[used_[slot]];
        switch (column.type) {
            case ValueType::kFloat32:
                read_numbers<float>(column, first, n, to);
                break;
            case ValueType::kFloat64:
                read_numbers<double>(column, first, n, to);
                break;
            case ValueType::kCode32:
                for (std::size_t i = 0; i < n; ++i) {
                    to[i] = bin_of(used_[slot], column.at<std::int32_t>(first + i));
                }
        }
    }
}

template <class T>
void FeatureRows::read_numbers(const ColumnView& column, std::size_t first, std::size_t n,
                               double* to) {
    if (!column.is_sparse) {
        for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<double>(column.at<T>(first + i));
        return;
    }
    std::fill_n(to, n, 0.0);
    const auto is_before = [](std::int32_t row, std::size_t wanted) {
        return static_cast<std::size_t>(row) < wanted;
    };
    auto at = std::lower_bound(column.rows.begin(), column.rows.end(), first, is_before);
    for (; at != column.rows.end() && is_before(*at, first + n); ++at) {
        const T* stored = reinterpret_cast<const T*>(column.data);
        to[static_cast<std::size_t>(*at) - first] =
            static_cast<double>(stored[at - column.rows.begin()]);
    }
}

double FeatureRows::bin_of(std::size_t feature, std::int32_t code) const {
    const std::int64_t start = forest_.category_start[feature];
    const std::int64_t n_codes = forest_.category_start[feature + 1] - start;
    if (code < 0 || code >= n_codes) return kMissing;
    return forest_.category_bins[static_cast<std::size_t>(start + code)];
}

}  // namespace spinney
