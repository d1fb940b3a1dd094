/// Letting the sorted rows of a block follow a split, by every feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "native/base/isa.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define SPINNEY_MOVE_KERNEL \
    (active_isa() >= Isa::kAvx512 ? &move_block_avx512 : static_cast<MoveBlock*>(nullptr))
#else
#define SPINNEY_MOVE_KERNEL (static_cast<MoveBlock*>(nullptr))
#endif

namespace spinney {

/// The same places of the keys of every feature. The lower half of a key is a row of the block.
struct BlockPart {
    std::uint32_t* keys;                  ///< of the first feature
    std::size_t stride;                   ///< from a feature to the next
    std::span<const std::uint8_t> moves;  ///< by feature: 0 if its keys stay as they are
    std::size_t n;
    bool wants_left;  ///< whether keys of rows on the left are wanted: else anything may be there
    bool wants_right;
};

constexpr std::size_t kMoveMarks = 512;   ///< most rows of the block
constexpr std::size_t kMovePadding = 16;  ///< entries of the room behind the most rows

/// Moves keys whose row is marked in front of the others, in their order otherwise. left_bits: one
/// bit per row of the block. What moves does not depend on who moves it: there is no other kernel,
/// for the marks of a block fit one register only here.
using MoveBlock = void(const BlockPart& part, const std::uint32_t* left_bits, std::uint32_t* room);

MoveBlock move_block_avx512;

}  // namespace spinney
