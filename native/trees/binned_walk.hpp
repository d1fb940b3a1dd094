/// Trees of a sum on the bins they were grown on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "native/trees/grown_trees.hpp"
#include "native/trees/training_bins.hpp"

namespace spinney {

/// Some trees of a sum, and what each is multiplied by.
struct WeightedTrees {
    std::span<const std::int32_t> numbers;
    std::span<const double> weights;
    std::size_t component = 0;  ///< of values that are vectors
};

/// Adds to the score of every row weight * value of its leaf, tree after tree: the product and the
/// sum are rounded as a forest that has these weights rounds them.
///
/// cuts: of each feature, the thresholds behind its bins. Threads take rows.
void add_tree_values(const GrownTrees& trees, const WeightedTrees& some, const TrainingBins& bins,
                     const std::vector<std::vector<double>>& cuts, std::span<double> scores,
                     int n_threads);

}  // namespace spinney
