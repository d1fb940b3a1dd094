#include "native/trees/feature_bundles.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace spinney {
namespace {

/// Bundles that are asked for each feature: what does not fit so many will hardly fit another one.
constexpr std::size_t kMostTries = 64;
/// Features whose rows are marked before the next ones: bounds memory, and gives threads work.
constexpr std::size_t kBatch = 64;
/// Words that are compared before an overlap counts.
constexpr std::size_t kStretch = 16;

constexpr std::uint64_t kEveryByte = 0x0101010101010101U;
constexpr std::uint64_t kLow = kEveryByte * 0x7F;  // all bits of each byte but the highest

struct Growing {
    std::vector<std::uint32_t> features;
    std::vector<std::uint64_t> away;  ///< rows that are taken
    std::size_t n_away = 0;
    std::size_t n_codes = 1;
};

bool overlap(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
    for (std::size_t first = 0; first < a.size(); first += kStretch) {
        const std::size_t last = std::min(first + kStretch, a.size());
        std::uint64_t both = 0;
        for (std::size_t i = first; i < last; ++i) both |= a[i] & b[i];
        if (both != 0) return true;
    }
    return false;
}

/// Greedy: one feature after the other.
class Colouring {
  public:
    explicit Colouring(std::size_t n_rows) : n_rows_(n_rows) {}

    void place(std::uint32_t feature, const BinCounts& counts,
               std::vector<std::uint64_t>& feature_away) {
        const std::size_t n_away = n_rows_ - counts.n_usual;
        Growing& bundle = bundle_for(counts.n_bins - 1, n_away, feature_away);
        bundle.features.push_back(feature);
        bundle.n_codes += counts.n_bins - 1;
        bundle.n_away += n_away;
        if (bundle.away.empty()) {
            bundle.away = feature_away;
        } else if (n_away > 0) {
            for (std::size_t i = 0; i < feature_away.size(); ++i) {
                bundle.away[i] |= feature_away[i];
            }
        }
    }

    std::vector<Growing>& bundles() { return bundles_; }

  private:
    Growing& bundle_for(std::size_t n_codes, std::size_t n_away,
                        std::span<const std::uint64_t> feature_away) {
        std::size_t tries = 0;
        for (Growing& bundle : bundles_) {
            if (bundle.n_codes + n_codes > kMostCodes || bundle.n_away + n_away > n_rows_) continue;
            if (n_away == 0 || !overlap(bundle.away, feature_away)) return bundle;
            if (++tries == kMostTries) break;
        }
        return bundles_.emplace_back();
    }

    std::size_t n_rows_;
    std::vector<Growing> bundles_;
};

/// Features that are at home in at least half the rows, the one that is away most often first. Of
/// the others no two could share.
std::vector<std::uint32_t> candidates(std::span<const BinCounts> counts, std::size_t n_rows) {
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t feature = 0; feature < counts.size(); ++feature) {
        if (2 * counts[feature].n_usual >= n_rows) chosen.push_back(feature);
    }
    std::stable_sort(chosen.begin(), chosen.end(), [&counts](std::uint32_t a, std::uint32_t b) {
        return counts[a].n_usual < counts[b].n_usual;
    });
    return chosen;
}

}  // namespace

BinCounts BinCounts::of(std::span<const std::size_t> rows_of_bin) {
    BinCounts counts;
    for (std::size_t bin = 0; bin < rows_of_bin.size(); ++bin) {
        const std::size_t n = rows_of_bin[bin];
        if (n > 0) counts.n_bins = static_cast<std::uint32_t>(bin) + 1;
        if (n > counts.n_usual) {
            counts.most_elsewhere = counts.n_usual;
            counts.n_usual = n;
            counts.usual = static_cast<std::uint8_t>(bin);
        } else {
            counts.most_elsewhere = std::max(counts.most_elsewhere, n);
        }
    }
    return counts;
}

void mark_away(const std::uint8_t* bins, std::size_t n_rows, std::uint8_t usual,
               std::span<std::uint64_t> away) {
    // Eight rows at a time: a byte that is not zero gets its highest bit, and a product collects
    // these bits. Their order within the eight depends on the machine, but not on the feature.
    std::size_t row = 0;
    for (; row + 8 <= n_rows; row += 8) {
        std::uint64_t eight;
        std::memcpy(&eight, bins + row, sizeof eight);
        eight ^= usual * kEveryByte;
        if (eight == 0) continue;
        const std::uint64_t high = (((eight & kLow) + kLow) | eight) & ~kLow;
        const std::uint64_t bits = (high >> 7) * 0x0102040810204080U >> 56;
        away[row / 64] |= bits << (row % 64);
    }
    for (; row < n_rows; ++row) {
        away[row / 64] |= std::uint64_t{bins[row] != usual} << (row % 64);
    }
}

std::vector<std::vector<std::uint32_t>> find_bundles(std::span<const BinCounts> counts,
                                                     std::size_t n_rows, MarkAway mark,
                                                     int n_threads) {
    const std::vector<std::uint32_t> order = candidates(counts, n_rows);
    Colouring colouring(n_rows);
    std::vector<std::vector<std::uint64_t>> away(std::min(kBatch, order.size()));
    for (std::size_t first = 0; first < order.size(); first += kBatch) {
        const std::size_t n = std::min(kBatch, order.size() - first);
        parallel_for(n_threads, n, [&](std::size_t i) {
            away[i].assign(n_rows / 64 + 1, 0);
            mark(order[first + i], away[i]);
        });
        for (std::size_t i = 0; i < n; ++i) {
            colouring.place(order[first + i], counts[order[first + i]], away[i]);
        }
    }
    std::vector<std::uint8_t> is_alone(counts.size(), 1);
    std::vector<std::vector<std::uint32_t>> shared;
    for (Growing& bundle : colouring.bundles()) {
        if (bundle.features.size() == 1) continue;
        std::sort(bundle.features.begin(), bundle.features.end());
        for (const std::uint32_t feature : bundle.features) is_alone[feature] = 0;
        shared.push_back(std::move(bundle.features));
    }
    std::vector<std::vector<std::uint32_t>> bundles;
    for (std::uint32_t feature = 0; feature < counts.size(); ++feature) {
        if (is_alone[feature] != 0) bundles.push_back({feature});
    }
    std::move(shared.begin(), shared.end(), std::back_inserter(bundles));
    return bundles;
}

}  // namespace spinney
