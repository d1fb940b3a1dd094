/// The cuts of a node of few rows, by many features at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "native/base/isa.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define SPINNEY_FEW_KERNEL(name) pick(name##_portable, name##_avx2, name##_avx512)
#else
#define SPINNEY_FEW_KERNEL(name) (&name##_portable)
#endif

namespace spinney {

/// Most rows of such a node. There are so few ways to part them that all can be judged before any
/// feature is looked at; a feature then only tells which of them are cuts of its order.
constexpr std::size_t kFewRows = 8;

/// Some rows of the node: bit i is row number i of it.
using RowSet = std::uint16_t;

/// Ranks of a row stand beside each other, padded to a multiple of so many features.
constexpr std::size_t kRankLanes = 32;

/// What sorts behind all ranks.
constexpr std::uint16_t kNoRank = 0xFFFF;

/// Rows by their ranks.
struct RowsByRank {
    std::array<const std::uint16_t*, kFewRows> ranks;  ///< of each row, by feature
    std::size_t n_rows;                                ///< 2 to kFewRows
    std::size_t n_lanes;                               ///< features with their padding
    bool any_missing;                                  ///< whether some rank may be kNoRank
};

/// Where a kernel puts the cuts of all features.
struct FewCuts {
    /// n_rows rows of n_lanes: by feature, what goes left by a cut behind the row; all rows: no cut
    /// is there. Missing values go right.
    RowSet* left;
    RowSet* missing;  ///< by feature: rows without a value; not written unless any_missing
    std::uint32_t*
        tied;  ///< a bit per lane: 1 if the feature's best cut is worth `most`, or 1 less
    std::uint16_t* room;  ///< n_lanes
    std::uint16_t most;   ///< what the best cut is worth; 0: there is none
    bool is_one_parting;  ///< tied features part the rows in the same way, either side left
};

/// worths: of every set of the node's rows, what it is worth as the left side; 0: not allowed, as
/// the empty set and that of all rows. There is room for 2^kFewRows.
using FindFewCuts = void(const RowsByRank& rows, const std::uint16_t* worths, FewCuts& cuts);

FindFewCuts find_few_cuts_portable, find_few_cuts_avx2, find_few_cuts_avx512;

}  // namespace spinney
