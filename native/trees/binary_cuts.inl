// The loops of binary_cuts.hpp, included by one file per instruction set with NAME(x) = x_<isa>.
// Every cut is worked out by itself with the operations of BinaryNode::gain, so every instruction
// set gives the same bits.

#include <bit>
#include <limits>

namespace spinney {
namespace {

constexpr std::size_t kLanes = 8;
using Lanes [[gnu::vector_size(kLanes * sizeof(std::int32_t))]] = std::int32_t;

[[gnu::always_inline]] inline double all_of(PackedCount packed) {
    return static_cast<double>(static_cast<std::int32_t>(packed & 0xFFFFU));
}
[[gnu::always_inline]] inline double second_of(PackedCount packed) {
    return static_cast<double>(static_cast<std::int32_t>(packed >> 16));
}

/// Gains of n cuts, -1 where limits forbid; the largest of them.
[[gnu::always_inline]] inline double judge_all(const PackedCount* left, std::size_t n,
                                               const BinaryNode& node, const LeftLimits& limits,
                                               double* gains) {
    const double all = node.all;
    const double second = node.second;
    const double least = limits.least;
    const double most = limits.most;
    // Bits of numbers that are not negative are in the order of the numbers; those of -1 are below.
    std::int64_t largest = std::bit_cast<std::int64_t>(-1.0);
    for (std::size_t i = 0; i < n; ++i) {
        const double count = all_of(left[i]);
        const double own = second_of(left[i]);
        const double rest = all - count;
        const double apart = own * rest - (second - own) * count;
        const double gain = apart * apart / (count * rest);
        gains[i] = (count < least) | (count > most) ? -1.0 : gain;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const auto bits = std::bit_cast<std::int64_t>(gains[i]);
        largest = bits > largest ? bits : largest;
    }
    return std::bit_cast<double>(largest);
}

/// Sums up to each of kVectors * kLanes rows beginning with `first`.
template <std::size_t kVectors>
[[gnu::always_inline]] inline void sum_up(FewRows& rows, std::size_t first, std::size_t n) {
    std::array<Lanes, kVectors> ranks;
    std::array<Lanes, kVectors> sums{};
    __builtin_memcpy(ranks.data(), rows.ranks.data() + first, sizeof(ranks));
    for (std::size_t j = 0; j < n; ++j) {
        const Lanes rank = Lanes{} + rows.ranks[j];
        const Lanes count = Lanes{} + static_cast<std::int32_t>(rows.counts[j]);
        for (std::size_t k = 0; k < kVectors; ++k) sums[k] += (ranks[k] >= rank) & count;
    }
    __builtin_memcpy(rows.left.data() + first, sums.data(), sizeof(sums));
}

}  // namespace

double NAME(few_row_gains)(FewRows& rows, std::size_t n, const BinaryNode& node,
                           const LeftLimits& limits) {
    const std::size_t padded = (n + kLanes - 1) / kLanes * kLanes;
    for (std::size_t i = n; i < padded; ++i) {  // behind all others: everything is on the left
        rows.ranks[i] = std::numeric_limits<std::int32_t>::max();
        rows.counts[i] = 0;
    }
    std::size_t first = 0;
    for (; padded - first >= 4 * kLanes; first += 4 * kLanes) sum_up<4>(rows, first, n);
    if (padded - first >= 2 * kLanes) {
        sum_up<2>(rows, first, n);
        first += 2 * kLanes;
    }
    if (padded > first) sum_up<1>(rows, first, n);
    return judge_all(rows.left.data(), padded, node, limits, rows.gains.data());
}

double NAME(bin_gains)(CountedBins& bins, std::size_t n_bins, const BinaryNode& node,
                       const LeftLimits& limits) {
    PackedCount sum = 0;
    for (std::size_t bin = 0; bin < n_bins; ++bin) {
        sum += bins.cells[bin];
        bins.left[bin] = sum;
    }
    return judge_all(bins.left.data(), n_bins, node, limits, bins.gains.data());
}

std::size_t NAME(promising_bins)(CountedBins& bins, std::size_t n_bins, const BinaryNode& node,
                                 double enough) {
    constexpr LeftLimits kAny = {0.0, std::numeric_limits<double>::infinity()};
    std::size_t n_mixed = 0;
    for (std::size_t bin = 0; bin < n_bins; ++bin) {
        const PackedCount second = bins.cells[bin] >> 16;
        bins.mixed[n_mixed] = static_cast<std::uint8_t>(bin);
        n_mixed += second != 0 && second != (bins.cells[bin] & 0xFFFFU) ? 1 : 0;
    }
    std::size_t n_promising = 0;
    constexpr std::size_t kPortion = CountedBins::kMost / 2;
    for (std::size_t from = 0; from < n_mixed; from += kPortion) {
        const std::size_t n = n_mixed - from < kPortion ? n_mixed - from : kPortion;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t bin = bins.mixed[from + i];
            const PackedCount second = bins.cells[bin] >> 16;
            const PackedCount behind = bins.left[bin];
            const PackedCount first = (bins.cells[bin] & 0xFFFFU) - second;
            bins.corners[2 * i] = behind - first;                        // the second class
            bins.corners[2 * i + 1] = behind - (second << 16 | second);  // the first
        }
        judge_all(bins.corners.data(), 2 * n, node, kAny, bins.bounds.data());
        for (std::size_t i = 0; i < n; ++i) {
            bins.mixed[n_promising] = bins.mixed[from + i];
            n_promising += bins.bounds[2 * i] >= enough || bins.bounds[2 * i + 1] >= enough ? 1 : 0;
        }
    }
    return n_promising;
}

}  // namespace spinney
