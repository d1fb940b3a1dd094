/// Sums of functions that are constant on boxes: trees, and differences of trees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "native/explain/cells.hpp"

namespace spinney {

/// Borrowed arrays of trees whose splits speak of cells. Nodes stand as in ForestArrays; a numeric
/// node sends cells 0 … cut left.
struct CellForest {
    std::span<const std::int64_t> tree_start;     ///< n_trees + 1
    std::span<const std::int32_t> feature;        ///< n_nodes; -1: leaf
    std::span<const std::int32_t> cut;            ///< n_nodes; the last cell that goes left
    std::span<const std::int32_t> right;          ///< n_nodes; from the tree's first node
    std::span<const std::uint8_t> missing_left;   ///< n_nodes
    std::span<const std::int32_t> category_set;   ///< n_nodes; -1 unless categorical
    std::span<const std::uint8_t> category_sets;  ///< n_sets * 32
    std::span<const double> value;                ///< n_nodes; what a leaf adds to the score
    std::vector<Cells> domain;                    ///< n_features; rows that are asked about

    std::size_t n_trees() const { return tree_start.size() - 1; }
};

/// Functions of a row, each constant on every one of its pieces. The pieces of a part are boxes
/// that do not overlap and cover the domain; they stand with the largest value first.
struct Parts {
    std::vector<std::size_t> first_piece = {0};  ///< n_parts + 1
    std::vector<double> value;                   ///< n_pieces
    std::vector<std::size_t> first_side = {0};   ///< n_pieces + 1
    std::vector<Side> sides;

    std::size_t n_parts() const { return first_piece.size() - 1; }
    std::span<const Side> sides_of(std::size_t piece) const {
        return {sides.data() + first_side[piece], first_side[piece + 1] - first_side[piece]};
    }
};

/// A row that takes given cells in some features, and is free in the others.
struct Corner {
    Box fixed;          ///< one cell each; all corners of a question fix the same features
    double sign = 1.0;  ///< factor of the score at this corner
};

/// The sum over corners of sign times the score, tree by tree, as functions of the features that
/// are free. Without fixed features and with one corner: the trees themselves. Trees that are 0
/// everywhere are left out: adding 0 changes no sum.
Parts parts_of(const CellForest& forest, std::span<const Corner> corners);

}  // namespace spinney
