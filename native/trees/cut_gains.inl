// The loops of cut_gains.hpp, included by one file per instruction set with NAME(x) = x_<isa>.
// Every row is worked out by itself with the same operations, so every instruction set gives the
// same bits.

#include <algorithm>
#include <array>
#include <bit>

namespace spinney {
namespace {

constexpr std::uint64_t kBalancedBits = 0x4338000000000000U;  // the bits of 1.5 * 2^52
constexpr double kBalanced = 0x1.8p52;
constexpr std::uint64_t kTwoTo52Bits = 0x4330000000000000U;
constexpr double kTwoTo52 = 0x1p52;

/// Narrowing::operator(), by bits: vectors can add them.
[[gnu::always_inline]] inline double narrowed(std::int64_t x, int shift) {
    constexpr std::uint64_t kBias = std::uint64_t{1} << 62;
    const std::uint64_t units =
        ((static_cast<std::uint64_t>(x) + kBias) >> shift) - (kBias >> shift);
    return std::bit_cast<double>(units + kBalancedBits) - kBalanced;
}

[[gnu::always_inline]] inline double small(std::uint64_t x) {
    return std::bit_cast<double>(x | kTwoTo52Bits) - kTwoTo52;
}

/// Gains are worked out in portions of as many, the last of them beyond the end: a remainder row by
/// row would cost small nodes more than all the rest.
constexpr std::size_t kPortion = kCutPadding;

/// The largest of gains[first, last), the first among equals: what differs by rounding alone is a
/// tie. Writes -1 behind them, up to the end of the last portion.
[[gnu::always_inline]] inline BestRow largest(double* gains, std::size_t first, std::size_t last) {
    // Bits of numbers that are not negative are in the order of the numbers; those of -1 are below.
    std::array<std::int64_t, kPortion> most;
    most.fill(-1);
    for (std::size_t lane = 0; lane < kPortion; ++lane) gains[last + lane] = -1.0;
    for (std::size_t i = first; i < last; i += kPortion) {
        for (std::size_t lane = 0; lane < kPortion; ++lane) {
            const auto bits = std::bit_cast<std::int64_t>(gains[i + lane]);
            most[lane] = bits > most[lane] ? bits : most[lane];
        }
    }
    const std::int64_t largest = *std::max_element(most.begin(), most.end());
    if (largest < 0) return {};
    const double enough = std::bit_cast<double>(largest) * (1.0 - kTie);
    std::size_t row = first;
    while (gains[row] < enough) ++row;
    return {gains[row], row};
}

/// ScalarNode::gain.
[[gnu::always_inline]] inline double scalar_gain(const ScalarPair& left, const ScalarNode& node) {
    constexpr double kRounding = 0x1p-48;
    const double sum = narrowed(left.number, node.number.shift);
    const double own = narrowed(left.weight, node.weight.shift);
    const double expected = node.mean * own;
    const double apart = sum - expected;
    const double size = own * (node.all - own);
    const double square = apart * apart;
    const double noise = kRounding * sum;
    const double quotient = square / size;
    return (square <= noise * noise) | (size <= 0.0) ? 0.0 : quotient;
}

}  // namespace

BestRow NAME(best_scalar_row)(const ScalarPair* sums, const std::uint32_t* keys, int key_shift,
                              std::size_t first, std::size_t last, const ScalarNode& node,
                              double* gains) {
    const ScalarNode own = node;  // gains are no parts of it
    for (std::size_t begin = first; begin < last; begin += kPortion) {
        for (std::size_t i = begin; i < begin + kPortion; ++i) {
            const double gain = scalar_gain(sums[i], own);
            const std::uint32_t change = (keys[i] ^ keys[i + 1]) >> key_shift;
            gains[i] = change == 0 ? -1.0 : gain;
        }
    }
    return largest(gains, first, last);
}

void NAME(scalar_set_worths)(const ScalarPair* sums, std::size_t n_sets, const ScalarNode& node,
                             double* gains, std::uint16_t* worths) {
    const ScalarNode own = node;
    std::array<std::int64_t, kPortion> most = {};
    for (std::size_t begin = 0; begin < n_sets; begin += kPortion) {
        for (std::size_t i = begin; i < begin + kPortion; ++i) {
            gains[i] = scalar_gain(sums[i], own);
        }
        for (std::size_t k = 0; k < kPortion; ++k) {  // as whole numbers they have the same order
            const auto bits = std::bit_cast<std::int64_t>(gains[begin + k]);
            most[k] = bits > most[k] ? bits : most[k];
        }
    }
    std::int64_t largest_bits = 0;
    for (const std::int64_t bits : most) largest_bits = bits > largest_bits ? bits : largest_bits;
    const auto largest_gain = std::bit_cast<double>(largest_bits);
    constexpr double kNone = 0x1p-900;  // its reciprocal would be infinite
    const double scale = largest_gain > kNone ? kMostWorth / largest_gain : 0.0;
    for (std::size_t begin = 0; begin < n_sets; begin += kPortion) {
        std::array<std::int32_t, kPortion> whole;
        for (std::size_t k = 0; k < kPortion; ++k) {
            whole[k] = static_cast<std::int32_t>(gains[begin + k] * scale);
        }
        for (std::size_t k = 0; k < kPortion; ++k) {
            worths[begin + k] = static_cast<std::uint16_t>(1 + whole[k]);
        }
    }
}

bool NAME(may_scalar_row)(const ScalarPair* sums, std::size_t first, std::size_t last,
                          const ScalarNode& node, double bar) {
    const double mean = node.mean;
    const double all = node.all;
    const double least = bar * (1.0 - kTie);
    const int number_shift = node.number.shift;
    const int weight_shift = node.weight.shift;
    for (std::size_t begin = first; begin < last; begin += kPortion) {
        std::uint64_t any = 0;
        for (std::size_t i = begin; i < begin + kPortion; ++i) {
            const double own = narrowed(sums[i].weight, weight_shift);
            const double apart = narrowed(sums[i].number, number_shift) - mean * own;
            const double room = least * (own * (all - own)) - apart * apart;
            any |= std::bit_cast<std::uint64_t>(room);  // the sign: below 0
        }
        if (any >> 63 != 0) return true;
    }
    return false;
}

BestRow NAME(best_binary_row)(const std::uint64_t* counts, const std::uint32_t* keys, int key_shift,
                              std::size_t first, std::size_t last, const BinaryNode& node,
                              double* gains) {
    const double second = node.second;
    const double all = node.all;
    for (std::size_t begin = first; begin < last; begin += kPortion) {
        for (std::size_t i = begin; i < begin + kPortion; ++i) {
            const double count = small(counts[i] & 0xFFFFFFFFU);
            const double own_second = small(counts[i] >> 32);
            const double rest = all - count;
            const double apart = own_second * rest - (second - own_second) * count;
            const double gain = apart * apart / (count * rest);
            const std::uint32_t change = (keys[i] ^ keys[i + 1]) >> key_shift;
            gains[i] = change == 0 ? -1.0 : gain;
        }
    }
    return largest(gains, first, last);
}

}  // namespace spinney
