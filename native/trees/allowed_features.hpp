/// Which features a node of a boosted tree may be split on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "native/trees/gradient_split.hpp"

namespace spinney {

/// The features a tree may use, increasing: all, or some drawn for it.
std::vector<std::uint32_t> features_of_tree(std::size_t n_features,
                                            const GradientTreeSettings& settings);

/// One byte per feature of those that node number `id` may be split on: the ones of its tree, that
/// interact with the ones `used` above it, and that are drawn for it. Empty: all of its tree.
std::vector<std::uint8_t> features_of_node(std::size_t n_features,
                                           std::span<const std::uint32_t> tree_features,
                                           std::span<const std::uint32_t> used, std::int32_t id,
                                           const GradientTreeSettings& settings);

}  // namespace spinney
