/// Growing trees of random planes: the isolation trees of Hariri, Carrasco Kind and Brunner (2019).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spinney {

struct PlaneSettings {
    std::size_t n_terms = 1;  ///< features a plane combines; fewer where fewer vary
    std::int32_t max_depth = 1;
    std::uint64_t seed = 0;
    std::span<const std::uint8_t> categorical = {};  ///< by feature, 0 or 1; empty: none is
};

/// Trees behind each other, as PlaneArrays takes them; without values, and with thresholds of 0.
struct GrownPlanes {
    std::vector<std::int64_t> tree_start = {0};
    std::vector<std::int32_t> right;
    std::vector<std::int32_t> depth;  ///< of each node
    std::vector<std::int64_t> count;  ///< rows that reached the node; 0 beyond an empty side
    std::vector<std::int32_t> feature;
    std::vector<double> normal;
    std::vector<double> point;
};

/// Grows tree number first_tree, first_tree + 1, ... on the rows drawn for each. matrix:
/// n_features numbers per row, of categories their codes, NaN for missing; drawn: numbers of rows,
/// n_drawn per tree.
///
/// A plane goes through a point drawn evenly from the box around the rows of its node, with a
/// direction drawn from a normal distribution, along n_terms features that vary among the rows. Of
/// a category, each level gets a number there (number_of_level); then the terms of other features
/// are divided by the range in the node. A tree depends on its number and the seed, not on threads
/// or on the order of its rows.
GrownPlanes grow_planes(std::span<const double> matrix, std::size_t n_features,
                        std::span<const std::uint32_t> drawn, std::size_t n_drawn,
                        const PlaneSettings& settings, std::size_t first_tree, int n_threads);

}  // namespace spinney
