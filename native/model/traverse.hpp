/// Rows down the trees: raw scores and leaf numbers. Plain and correct; the definition of
/// prediction.
#pragma once

#include <cstdint>
#include <span>

#include "native/data/columns.hpp"
#include "native/model/forest.hpp"

namespace spinney {

/// scores[row * n_outputs + k] = baseline[k] + sum over trees, in their order, of weight * value.
/// The forest must have passed check_forest().
void raw_scores(const ForestArrays& forest, const Columns& columns, std::span<double> scores,
                int n_threads);

/// leaves[row * n_trees + t] = node number, within tree t, of the leaf the row falls into.
void leaf_ids(const ForestArrays& forest, const Columns& columns, std::span<std::int32_t> leaves,
              int n_threads);

}  // namespace spinney
