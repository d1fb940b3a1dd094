/// Every feature as ranks of its values, found once for many trees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "native/data/columns.hpp"

namespace spinney {

/// One feature as trees of forests see it. Numbers are ranks among the different values of the
/// feature, so that every cut between two of them can be told apart in two bytes, or four where
/// there are more than 65535; and bins of neighbouring ranks, for nodes with many rows.
struct RankedFeature {
    std::vector<std::uint16_t> short_ranks;  ///< by row; empty if ranks are long or there are none
    std::vector<std::uint32_t> long_ranks;   ///< by row
    std::vector<double> values;              ///< by rank; the rank behind them means missing
    std::vector<std::uint32_t> last_rank;    ///< numeric, by bin
    std::vector<std::uint8_t> bins;          ///< by row; n_bins: missing
    std::size_t n_bins = 0;
    bool is_categorical = false;  ///< no ranks, only bins
    bool has_missing = false;

    std::uint32_t missing_rank() const { return static_cast<std::uint32_t>(values.size()); }

    /// Calls with the ranks in whichever width they have.
    template <class Callable>
    decltype(auto) with_ranks(Callable&& callable) const {
        return long_ranks.empty() ? callable(short_ranks.data()) : callable(long_ranks.data());
    }
};

/// Copies what it needs: the table may go. O(rows) per byte of the values and per feature; three
/// bytes per value are kept, or five.
class RankedColumns {
  public:
    /// category_bins: per feature, the bin of each code; empty for numbers. max_bins: most bins of
    /// a numeric feature, at most 255; each holds about as much weight as the others. weights: by
    /// row, below 2^53 in all; empty: one each.
    RankedColumns(const Columns& columns,
                  const std::vector<std::vector<std::uint8_t>>& category_bins,
                  std::span<const std::int64_t> weights, std::size_t max_bins, int n_threads);

    /// Gathers some rows of another table, in this order; ranks, values and bins stay those of all
    /// its rows.
    RankedColumns(const RankedColumns& from, std::span<const std::uint32_t> rows, int n_threads);

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_features() const { return features_.size(); }
    const RankedFeature& feature(std::size_t f) const { return features_[f]; }

    /// A number t with below <= t < above: the middle of the two values, as the float32 next to it
    /// where one lies between them, which is most often and takes half the room.
    static double threshold_between(double below, double above);

  private:
    std::size_t n_rows_;
    std::vector<RankedFeature> features_;
};

}  // namespace spinney
