/// A tree as growers leave it.
#pragma once

#include <cstdint>
#include <vector>

#include "native/trees/split.hpp"

namespace spinney {

/// Nodes in preorder, as model/forest.hpp describes them.
template <template <class> class Vector>
struct GrownNodes {
    Vector<std::int32_t> feature;  ///< -1: leaf
    Vector<std::int32_t> bin;      ///< numeric: last bin that goes left; -1 otherwise
    Vector<std::int32_t> right;    ///< -1: leaf
    Vector<std::uint8_t> missing_left;
    Vector<std::int32_t> category_set;  ///< -1 unless categorical
    Vector<std::uint8_t> category_sets;
    Vector<double> values;  ///< n_nodes * n_outputs: mean targets
    Vector<std::int64_t> count;
    Vector<double> weight;
    Vector<double> gain;
};

template <class T>
using PlainVector = std::vector<T>;

struct GrownTree : GrownNodes<PlainVector> {
    /// Adds a node with its split, or a leaf; `right` is filled in when the right child comes.
    void append(const Split* split);
};

}  // namespace spinney
