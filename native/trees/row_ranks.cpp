#include "native/trees/row_ranks.hpp"

#include "native/base/parallel.hpp"

namespace spinney {
namespace {

/// Rows that are copied at a time: what is written of them stays in the cache from feature to
/// feature.
constexpr std::size_t kTogether = 1024;

template <class Rank>
std::vector<Rank> by_row(const RankedColumns& columns, int n_threads) {
    const std::size_t n_features = columns.n_features();
    const std::size_t n_rows = columns.n_rows();
    std::vector<Rank> ranks(n_rows * n_features);
    parallel_for(n_threads, (n_rows + kTogether - 1) / kTogether, [&](std::size_t block) {
        const std::size_t first = block * kTogether;
        const std::size_t last = std::min(first + kTogether, n_rows);
        for (std::size_t f = 0; f < n_features; ++f) {
            const RankedFeature& feature = columns.feature(f);
            if (feature.is_categorical) continue;
            feature.with_ranks([&](const auto* own) {
                for (std::size_t row = first; row < last; ++row) {
                    ranks[row * n_features + f] = static_cast<Rank>(own[row]);
                }
            });
        }
    });
    return ranks;
}

}  // namespace

RowRanks::RowRanks(const RankedColumns& columns, int n_threads)
    : n_features_(columns.n_features()) {
    bool any_long = false;
    for (std::size_t f = 0; f < n_features_; ++f) {
        any_long |= !columns.feature(f).long_ranks.empty();
    }
    if (any_long) {
        long_ = by_row<std::uint32_t>(columns, n_threads);
    } else {
        short_ = by_row<std::uint16_t>(columns, n_threads);
    }
}

}  // namespace spinney
