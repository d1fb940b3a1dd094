/// Shapes of clumps: which of the places in the first levels of a binary tree have a question.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace spinney {

/// Questions of a clump, and the ways out of it.
inline constexpr std::size_t kClumpQuestions = 7;
inline constexpr std::size_t kClumpExits = kClumpQuestions + 1;
/// Questions that follow each other in a clump, at most.
inline constexpr std::size_t kClumpLevels = 5;
/// All the answers that the questions of a clump can get together.
inline constexpr std::size_t kClumpAnswers = std::size_t{1} << kClumpQuestions;
/// Binary trees of seven nodes on at most five levels.
inline constexpr std::size_t kClumpShapes = 221;

/// Places are numbered as in a heap: the root is 1, the children of q are 2 q and 2 q + 1. A shape
/// has bit q set if there is a question at place q. Questions are in the order of their places, and
/// so are exits, the places behind questions that have none.
using ClumpShape = std::uint32_t;

/// The number of a shape of kClumpQuestions places.
std::size_t number_of_shape(ClumpShape shape);

/// Bit i of answers says whether question i sends its row to the right: the exit that a row takes
/// is kClumpExitsByAnswers[shape number * kClumpAnswers + answers]. Of 28 kB, a forest uses little.
extern const std::array<std::uint8_t, kClumpShapes * kClumpAnswers> kClumpExitsByAnswers;

}  // namespace spinney
