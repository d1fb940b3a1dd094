/// A tree as growers leave it.
#pragma once

#include <cstdint>
#include <vector>

#include "native/trees/split.hpp"

namespace spinney {

/// Nodes in preorder, as model/forest.hpp describes them.
struct GrownTree {
    std::vector<std::int32_t> feature;  ///< -1: leaf
    std::vector<std::int32_t> bin;      ///< numeric: last bin that goes left; -1 otherwise
    std::vector<std::int32_t> right;    ///< -1: leaf
    std::vector<std::uint8_t> missing_left;
    std::vector<std::int32_t> category_set;  ///< -1 unless categorical
    std::vector<std::uint8_t> category_sets;
    std::vector<double> values;  ///< n_nodes * n_outputs: mean targets
    std::vector<std::int64_t> count;
    std::vector<double> weight;
    std::vector<double> gain;

    /// Adds a node with its split, or a leaf; `right` is filled in when the right child comes.
    void append(const Split* split);
};

}  // namespace spinney
