/// The best cut of a node of two classes whose rows nobody has sorted: loops over rows and bins.
#pragma once

#include <array>

#include "native/trees/cut_gains.hpp"

namespace spinney {

/// Rows of a node with a count of how many are of the second class, 16 bits each: the count of all
/// below, that of the second class above. Sums of it hold for nodes of fewer than 2^16.
using PackedCount = std::uint32_t;

/// How many rows the left child may have.
struct LeftLimits {
    double least = 1.0;
    double most = 0.0;
};

/// Rows of a small node, in any order, and room for the cuts behind them.
struct FewRows {
    static constexpr std::size_t kMost = 64;

    alignas(32) std::array<std::int32_t, kMost> ranks;
    alignas(32) std::array<PackedCount, kMost> counts;
    alignas(32) std::array<PackedCount, kMost> left;  ///< of all rows up to the rank of each
    alignas(32) std::array<double, kMost> gains;      ///< below 0: no cut here
};

/// Writes `left` and `gains` of n >= 1 rows, looking at every pair of them: n^2 / 8 steps without a
/// branch are fewer than what sorting takes. Returns the largest gain; below 0: there is none.
using FewRowGains = double(FewRows& rows, std::size_t n, const BinaryNode& node,
                           const LeftLimits& limits);

/// Rows of a node counted by bin, and room for the cuts behind bins and within them.
struct CountedBins {
    static constexpr std::size_t kMost = 256;

    alignas(32) std::array<PackedCount, kMost> cells;
    alignas(32) std::array<PackedCount, kMost> left;  ///< of all bins up to each
    alignas(32) std::array<double, kMost> gains;      ///< below 0: no cut here
    std::array<std::uint8_t, kMost> mixed;            ///< bins with rows of both classes
    alignas(32) std::array<PackedCount, kMost> corners;
    alignas(32) std::array<double, kMost> bounds;
};

/// Writes `left` and `gains` of n_bins >= 1 bins. Returns the largest gain; below 0: there is none.
using BinGains = double(CountedBins& bins, std::size_t n_bins, const BinaryNode& node,
                        const LeftLimits& limits);

/// Finds the bins a cut within which may gain `enough`, leaves them in front of `mixed` and returns
/// how many there are.
///
/// Gains are convex in the two counts on the left. A cut within a bin has counts between those in
/// front of the bin and those behind it, so none gains more than the best of four corners: in
/// front, behind, with all rows of the first class on the left, with all of the second. The first
/// two are cuts behind bins. If all rows of the bin are of one class there are no others.
using PromisingBins = std::size_t(CountedBins& bins, std::size_t n_bins, const BinaryNode& node,
                                  double enough);

FewRowGains few_row_gains_portable, few_row_gains_avx2, few_row_gains_avx512;
BinGains bin_gains_portable, bin_gains_avx2, bin_gains_avx512;
PromisingBins promising_bins_portable, promising_bins_avx2, promising_bins_avx512;

}  // namespace spinney
