/// The gain of every cut of sorted rows, many at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "native/base/isa.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define SPINNEY_CUT_KERNEL(name) pick(name##_portable, name##_avx2, name##_avx512)
#else
#define SPINNEY_CUT_KERNEL(name) (&name##_portable)
#endif

namespace spinney {

/// Gains that differ by less than this share of them are equal: the same rows, summed on a grid or
/// counted from the other side, give gains that differ by their last bits.
constexpr double kTie = 0x1p-40;

/// An integer as a double of at most 51 bits: what is below `shift` is dropped, and the same by
/// every instruction set, for vectors have no conversion of wide integers. |x| < 2^62, and
/// |x| >> shift < 2^51.
struct Narrowing {
    int shift = 0;

    /// For sums of which none is above `most` in magnitude.
    static Narrowing below(std::int64_t most) {
        Narrowing narrowing;
        while ((most >> narrowing.shift) >= (std::int64_t{1} << 51)) ++narrowing.shift;
        return narrowing;
    }
    std::int64_t units(std::int64_t x) const {
        constexpr std::int64_t kBias = std::int64_t{1} << 62;
        return ((x + kBias) >> shift) - (kBias >> shift);
    }
    double operator()(std::int64_t x) const { return static_cast<double>(units(x)); }
};

/// What gains of squared error depend on besides the sums on the left.
struct ScalarNode {
    double mean = 0.0;  ///< narrowed sum over narrowed weight
    double all = 0.0;   ///< narrowed weight
    Narrowing number;
    Narrowing weight;

    /// With d the sum on the left less what the mean of the node would give it:
    /// d^2 / (W_left W_right), to be multiplied by W. One division; means that differ by rounding
    /// alone are equal.
    double gain(std::int64_t left_number, std::int64_t left_weight) const {
        constexpr double kRounding = 0x1p-48;
        const double sum = number(left_number);
        const double own = weight(left_weight);
        const double expected = mean * own;
        const double apart = sum - expected;
        const double size = own * (all - own);
        const double square = apart * apart;
        const double noise = kRounding * sum;
        return square <= noise * noise || size <= 0.0 ? 0.0 : square / size;
    }
};

/// What gains of Gini impurity depend on besides the counts on the left: of rows in the lower half
/// of a word, of the second class in the upper.
struct BinaryNode {
    double second = 0.0;
    double all = 0.0;

    /// (second_left count_right - second_right count_left)^2 / (count_left count_right), to be
    /// multiplied by 2 / count. Products are exact up to 2^26 rows, so equal splits have equal
    /// gains.
    double gain(std::uint64_t left) const {
        const auto count = static_cast<double>(left & 0xFFFFFFFFU);
        const auto own_second = static_cast<double>(left >> 32);
        const double rest = all - count;
        const double apart = own_second * rest - (second - own_second) * count;
        return apart * apart / (count * rest);
    }
};

/// A cut behind row number `row` of those sorted; gain below 0: there is none.
struct BestRow {
    double gain = -1.0;
    std::size_t row = 0;
};

/// A sum of numbers and of the weights they came with.
struct ScalarPair {
    std::int64_t number = 0;
    std::int64_t weight = 0;
};

/// Entries behind the last that must exist wherever kernels read or write: what they hold does not
/// matter.
constexpr std::size_t kCutPadding = 8;

/// The best cut behind a row in [first, last), the first among equals. Rows whose keys, shifted
/// down by `key_shift`, are equal are not cut apart; keys[last] exists. All arrays have kCutPadding
/// entries behind that. gains: room.
using BestScalarRow = BestRow(const ScalarPair* sums, const std::uint32_t* keys, int key_shift,
                              std::size_t first, std::size_t last, const ScalarNode& node,
                              double* gains);
using BestBinaryRow = BestRow(const std::uint64_t* counts, const std::uint32_t* keys, int key_shift,
                              std::size_t first, std::size_t last, const BinaryNode& node,
                              double* gains);

/// Whether a cut behind a row in [first, last) may gain more than `bar`, which is above 0: without
/// a division, and so at half the price. A hair generous: only `false` is certain. Sums behind
/// `last` are 0.
using MayScalarRow = bool(const ScalarPair* sums, std::size_t first, std::size_t last,
                          const ScalarNode& node, double bar);

/// Of n_sets sums, each the left side of a node of few rows: gains, and gains on a scale from 1 to
/// kMostWorth + 1, rounded down. Sums behind n_sets are 0, up to a multiple of kCutPadding.
using ScalarSetWorths = void(const ScalarPair* sums, std::size_t n_sets, const ScalarNode& node,
                             double* gains, std::uint16_t* worths);
constexpr double kMostWorth = 65000.0;

ScalarSetWorths scalar_set_worths_portable, scalar_set_worths_avx2, scalar_set_worths_avx512;
MayScalarRow may_scalar_row_portable, may_scalar_row_avx2, may_scalar_row_avx512;
BestScalarRow best_scalar_row_portable, best_scalar_row_avx2, best_scalar_row_avx512;
BestBinaryRow best_binary_row_portable, best_binary_row_avx2, best_binary_row_avx512;

}  // namespace spinney
