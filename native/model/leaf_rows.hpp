/// The training rows behind the leaves of a forest, as weights of a prediction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spinney {

/// Borrowed arrays. Rows are numbered by their target, the smallest first; nodes tree behind tree.
struct LeafRowArrays {
    std::span<const std::int64_t> tree_start;  ///< n_trees + 1; as the forest has it
    std::span<const std::int64_t>
        entry_start;                       ///< n_nodes + 1; entries of a node: [node, node + 1)
    std::span<const std::uint32_t> row;    ///< of each entry; increasing inside a node
    std::span<const std::uint32_t> times;  ///< how often the tree counted the row; not 0
    std::span<const double> weight;        ///< n_rows; positive
    std::span<const double> target;        ///< n_rows; not decreasing
};

/// Weights of training rows for one prediction, by row; they add up to 1.
struct RowWeights {
    std::vector<std::uint32_t> row;
    std::vector<double> weight;
};

/// Checked once, trusted afterwards. A leaf below 0 means that this tree does not count.
class LeafRows {
  public:
    /// Throws Failure(kInvalidModel) unless every index is in range and every number is one.
    explicit LeafRows(const LeafRowArrays& arrays);

    std::size_t n_trees() const { return arrays_.tree_start.size() - 1; }

    /// The smallest target that, with all smaller ones, has the share `levels[k]` of the weight.
    /// leaves: n_trees per row; quantiles: one per level and row. NaN where no tree counts.
    void quantiles(std::span<const std::int32_t> leaves, std::span<const double> levels,
                   std::span<double> quantiles, int n_threads) const;

    /// Weights of one row: the mean over trees of times * weight over the sum in the leaf.
    RowWeights weights(std::span<const std::int32_t> leaves) const;

  private:
    class Sums;

    LeafRowArrays arrays_;
    std::vector<double> leaf_weight_;  ///< by node; 0: no leaf
};

}  // namespace spinney
