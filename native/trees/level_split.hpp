/// One split for all nodes of a level, of symmetric trees.
#pragma once

#include <cstdint>
#include <span>

#include "native/trees/gradient_split.hpp"

namespace spinney {

/// A split that all nodes of a level are asked to make; its gain is that of those that make it.
struct LevelSplit : Split {
    bool is_careful = false;  ///< chosen with the penalty of many categories
};

/// Puts the best split of one feature in place of `best` if all nodes together gain more by it.
///
/// A node that would be left with too little on one side does not make the split: its rows stay
/// together, and it gains nothing. Gains are added up from left to right. Ties go to the lowest
/// bin, then missing values to the right; where no node has a missing value, the larger side of
/// the level is chosen. Categories have one order for the level, by what they add to the means of
/// their nodes. key: decides the cut that is judged, where only one is.
void search_level(std::span<const SplitTask> level, std::uint64_t key, std::size_t feature,
                  LevelSplit& best);

/// The split as one node of the level makes it; it does not exist if the node does not.
GradientSplit split_of_node(const SplitTask& node, const LevelSplit& of_level);

}  // namespace spinney
