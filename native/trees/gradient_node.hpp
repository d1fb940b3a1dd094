/// A node while its tree grows.
#pragma once

#include "native/trees/gradient_grower.hpp"

namespace spinney {

struct GradientGrower::Node {
    RowPartition::Range rows;
    std::int32_t depth = 0;
    std::int32_t left = -1;
    std::int32_t right = -1;
    std::uint64_t key = 0;  ///< a function of the seed and the path from the root
    GradientSums total;
    ValueBounds bounds;
    double value = 0.0;  ///< as far as the search knows it; set where values are moved
    GradientSplit split;
    std::unique_ptr<GradientHistogram> histogram;
    std::vector<std::uint8_t> allowed;  ///< per feature: may be split on; empty: all of the tree's
    std::vector<std::uint32_t> used;    ///< features of the path, where interactions are limited

    std::size_t n_rows() const { return rows.size(); }
    bool allows(std::size_t feature) const { return allowed.empty() || allowed[feature] != 0; }
};

}  // namespace spinney
