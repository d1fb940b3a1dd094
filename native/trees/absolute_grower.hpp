/// Growing a tree that lowers absolute error: leaves are medians.
#pragma once

#include <cstdint>
#include <span>

#include "native/trees/tree_grower.hpp"

namespace spinney {

/// The rows of a table. Integers on grids, so that the sum over any rows is exact.
struct AbsoluteRows {
    std::span<const double> targets;         ///< by row
    std::span<const std::int64_t> products;  ///< by row: weight times (target - centre)
    std::span<const std::int64_t> weights;   ///< by row, at least 1; empty: one each
    double centre = 0.0;
    double product_scale = 1.0;  ///< what a unit of the products is worth
    double weight_scale = 1.0;
    bool whole = false;  ///< weights are whole, and every product is a multiple of its weight

    std::int64_t weight(std::uint32_t row) const { return weights.empty() ? 1 : weights[row]; }
};

/// Every cut of every feature is tried, or one random cut per feature: O(rows log rows) per node
/// and feature. Categories are put in the order of their medians and cut there.
ForestTree grow_absolute_tree(const RankedColumns& columns, const AbsoluteRows& rows,
                              const ForestSettings& settings);

}  // namespace spinney
