/// A fitted collection of trees, frozen: plain arrays, checked once, never written again.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "native/data/columns.hpp"

namespace spinney {

/// 256 bins as bits: bit (b % 8) of byte (b / 8) says whether bin b goes left.
inline constexpr std::size_t kCategorySetBytes = 32;

/// Borrowed arrays of a forest. Nodes of a tree stand in preorder: the root first, the left child
/// right behind its parent, the right child where `right` says. A node sends x left when
///   numeric:      x <= threshold          (+infinity: everything that is not missing)
///   categorical:  the bin of x's category is in its set
///   missing:      missing_left
struct ForestArrays {
    std::size_t n_features = 0;
    std::size_t n_outputs = 1;
    std::size_t value_width = 1;  ///< 1, or n_outputs: numbers per node in `values`

    std::span<const std::int64_t> tree_start;    ///< n_trees + 1; nodes of tree t: [t, t + 1)
    std::span<const double> tree_weight;         ///< n_trees; multiplies the tree's values
    std::span<const std::int32_t> tree_output;   ///< n_trees; output a scalar tree adds to; -1: all
    std::span<const std::int32_t> feature;       ///< n_nodes; -1: leaf
    std::span<const double> threshold;           ///< n_nodes; 0 unless numeric
    std::span<const std::int32_t> right;         ///< n_nodes; from the tree's first node; -1: leaf
    std::span<const std::uint8_t> missing_left;  ///< n_nodes; 0 or 1
    std::span<const std::int32_t> category_set;  ///< n_nodes; -1 unless categorical
    std::span<const std::uint8_t> category_sets;  ///< n_sets * kCategorySetBytes
    std::span<const double> values;       ///< n_nodes * value_width; inner nodes have theirs too
    std::span<const std::int64_t> count;  ///< n_nodes; training rows
    std::span<const double> weight;       ///< n_nodes; their weight
    std::span<const double> gain;         ///< n_nodes; of the split; 0 for leaves
    std::span<const double> baseline;     ///< n_outputs

    /// Categorical features: bin of code c of feature f at category_bins[category_start[f] + c].
    std::span<const std::uint8_t> categorical;     ///< n_features; 0 or 1
    std::span<const std::int64_t> category_start;  ///< n_features + 1; numeric: an empty range
    std::span<const std::uint8_t> category_bins;

    std::size_t n_trees() const { return tree_weight.size(); }
    std::size_t n_nodes() const { return feature.size(); }
    bool is_categorical(std::size_t f) const { return categorical[f] != 0; }

    /// The bin of a category, as a number; NaN for codes that mean missing or are none.
    double bin_of(std::size_t f, std::int32_t code) const {
        const std::int64_t n_codes = category_start[f + 1] - category_start[f];
        if (code < 0 || code >= n_codes) return std::numeric_limits<double>::quiet_NaN();
        return category_bins[static_cast<std::size_t>(category_start[f] + code)];
    }
};

/// Throws Failure(kInvalidModel) unless every index is in range, every tree is a tree (each node
/// reached exactly once from its root) and every number is one. After this nothing needs checking
/// again, and no walk can leave the arrays or run in circles. O(nodes).
void check_forest(const ForestArrays& forest, int n_threads = 1);

/// The same of all that is not about nodes; n_nodes is how many there are.
void check_ensemble(const ForestArrays& forest, std::size_t n_nodes);

/// Throws Failure(kInvalidInput) unless a table has the features of the forest: as many, with codes
/// where it asks about categories and numbers elsewhere.
void check_features(const ForestArrays& forest, const Columns& columns);

}  // namespace spinney
