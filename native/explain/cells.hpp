/// Cells: what a forest can tell apart of one feature. The thresholds of all trees cut the numbers
/// into cells 0, 1, 2, …; the bins of categories are cells of their own; missing is one more.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace spinney {

/// A set of cells of one feature: an interval of numbers or some bins, with or without missing.
struct Cells {
    std::int32_t low = 0;  ///< numeric: cells [low, high); categorical: [0, 1)
    std::int32_t high = std::numeric_limits<std::int32_t>::max();
    std::array<std::uint64_t, 4> bins = {~0ULL, ~0ULL, ~0ULL, ~0ULL};  ///< numeric: all
    bool missing = true;

    bool has_value() const { return low < high && (bins[0] | bins[1] | bins[2] | bins[3]) != 0; }
    bool is_empty() const { return !missing && !has_value(); }
};

inline Cells intersection(const Cells& one, const Cells& other) {
    Cells both;
    both.low = std::max(one.low, other.low);
    both.high = std::min(one.high, other.high);
    for (std::size_t i = 0; i < 4; ++i) both.bins[i] = one.bins[i] & other.bins[i];
    both.missing = one.missing && other.missing;
    return both;
}

inline bool meet(const Cells& one, const Cells& other) {
    if (one.missing && other.missing) return true;
    if (std::max(one.low, other.low) >= std::min(one.high, other.high)) return false;
    return ((one.bins[0] & other.bins[0]) | (one.bins[1] & other.bins[1]) |
            (one.bins[2] & other.bins[2]) | (one.bins[3] & other.bins[3])) != 0;
}

/// One feature of a box.
struct Side {
    std::int32_t feature = 0;
    Cells cells;
};

/// A set of rows: every feature within its cells. Features without a side are free.
using Box = std::vector<Side>;

}  // namespace spinney
