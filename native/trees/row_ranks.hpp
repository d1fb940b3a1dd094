/// Ranks of all rows, row by row.
#pragma once

#include <algorithm>
#include <vector>

#include "native/trees/ranked_columns.hpp"

namespace spinney {

/// A copy of the ranks in which those of a row are neighbours: a small node, and all that grows
/// from it, then finds what it asks of its rows in a few lines of the cache. Two bytes per value,
/// or four where some feature has more than 65535 values; 0 for categories.
class RowRanks {
  public:
    RowRanks(const RankedColumns& columns, int n_threads);

    /// Calls with a function from rows to their ranks of a feature.
    template <class Callable>
    decltype(auto) with_ranks(std::size_t f, Callable&& callable) const {
        const std::size_t n_features = n_features_;
        if (long_.empty()) {
            const std::uint16_t* ranks = short_.data() + f;
            return callable([ranks, n_features](std::size_t row) -> std::uint32_t {
                return ranks[row * n_features];
            });
        }
        const std::uint32_t* ranks = long_.data() + f;
        return callable([ranks, n_features](std::size_t row) -> std::uint32_t {
            return ranks[row * n_features];
        });
    }

  private:
    std::size_t n_features_;
    std::vector<std::uint16_t> short_;
    std::vector<std::uint32_t> long_;
};

}  // namespace spinney
