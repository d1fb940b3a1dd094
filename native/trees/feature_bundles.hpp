/// Which features may share a byte because no row needs it for two of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "native/base/parallel.hpp"

namespace spinney {

/// How the rows of a table spread over the bins of one feature.
struct BinCounts {
    std::uint32_t n_bins = 1;        ///< up to the last one that occurs
    std::uint8_t usual = 0;          ///< the bin of most rows, the lowest among equals
    std::size_t n_usual = 0;         ///< rows there
    std::size_t most_elsewhere = 0;  ///< rows of the fullest other bin

    static BinCounts of(std::span<const std::size_t> rows_of_bin);
};

/// Codes of one bundle at most: they are a byte.
inline constexpr std::size_t kMostCodes = 256;

/// Sets the bits of the rows that are not in the usual bin of a feature; all are 0 before.
using MarkAway = FunctionRef<void(std::size_t feature, std::span<std::uint64_t> away)>;

/// Sets the bits of the rows whose bin is another one.
void mark_away(const std::uint8_t* bins, std::size_t n_rows, std::uint8_t usual,
               std::span<std::uint64_t> away);

/// Every feature is in one bundle. In a bundle of several, no row is outside the usual bins of two
/// of them, and the other bins of all, with one code for rows that are nowhere outside, fit a byte.
///
/// Greedy colouring (Ke et al. 2017, but without a single conflict): the feature that is away most
/// often first, each to the first bundle that takes it. The same for every number of threads.
/// Bundles of one feature come first; features are increasing in a bundle.
std::vector<std::vector<std::uint32_t>> find_bundles(std::span<const BinCounts> counts,
                                                     std::size_t n_rows, MarkAway mark,
                                                     int n_threads);

}  // namespace spinney
