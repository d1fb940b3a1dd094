/// A node while its tree of vector leaves grows.
#pragma once

#include "native/trees/vector_grower.hpp"

namespace spinney {

struct VectorGrower::Node {
    RowPartition::Range rows;
    std::int32_t depth = 0;
    std::int32_t left = -1;
    std::int32_t right = -1;
    std::vector<GradientSums> totals;  ///< one per output; all have the same weight
    std::vector<double> values;  ///< as far as the search knows them; set where they are moved
    Split split;
    std::uint64_t key = 0;  ///< decides the cuts that are drawn
    std::unique_ptr<Histograms> histograms;
    std::vector<std::uint8_t> allowed;  ///< per feature: may be split on; empty: all of the tree's
    std::vector<std::uint32_t> used;    ///< features of the path, where interactions are limited

    std::size_t n_rows() const { return rows.size(); }
    bool allows(std::size_t feature) const { return allowed.empty() || allowed[feature] != 0; }
};

}  // namespace spinney
