/// exp and log of our own: plain additions and multiplications in a fixed order, so that every
/// machine, vector width and C library gives the same bits.
#pragma once

#include <bit>
#include <cstdint>

namespace spinney {

/// Where exact_exp() clips. Defined elsewhere, so that no compiler knows the numbers: GCC 12 would
/// follow the two constants through all arithmetic behind the clipping and keep every version,
/// instead of using the two instructions for a minimum and a maximum.
extern const double kLeastExponent;  // -708
extern const double kMostExponent;   // 709

/// |x|; std::fabs is a function of another header.
[[gnu::always_inline]] inline double magnitude_of(double x) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7FFFFFFFFFFFFFFFU);
}

/// e^x as e^rest * power: half of exact_exp().
struct ReducedExponent {
    double rest;   ///< |rest| <= ln(2) / 2
    double power;  ///< of two
};

[[gnu::always_inline]] inline ReducedExponent reduce_exponent(double x) {
    constexpr double kLog2E = 1.4426950408889634;
    constexpr double kLn2High = 6.93147180369123816490e-01;  // 33 bits: n * kLn2High is exact
    constexpr double kLn2Low = 1.90821492927058770002e-10;
    constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
    const double below = kMostExponent < x ? kMostExponent : x;
    const double clipped = kLeastExponent > below ? kLeastExponent : below;
    const double shifted = clipped * kLog2E + kShift;
    const double n = shifted - kShift;
    // The low bits of `shifted` are n; in the exponent they make 2^n, a normal number.
    const auto exponent = (std::bit_cast<std::uint64_t>(shifted) + 1023U) << 52;
    return {(clipped - n * kLn2High) - n * kLn2Low, std::bit_cast<double>(exponent)};
}

/// The other half: e^r = 1 + r + r^2 q(r); q interpolates at the Chebyshev points, which leaves
/// 2e-17. Terms in pairs (Estrin): a chain of ten additions would leave the processor waiting.
[[gnu::always_inline]] inline double exp_of(ReducedExponent x) {
    const double r = x.rest;
    const double r2 = r * r;
    const double r4 = r2 * r2;
    const double q01 = 0.5 + r * 0.16666666666666669;
    const double q23 = 0.04166666666662413 + r * 0.008333333333330062;
    const double q45 = 0.0013888888917213717 + r * 0.00019841269863053618;
    const double q67 = 2.4801521295954376e-05 + r * 2.7557268459997064e-06;
    const double q89 = 2.7620088445409746e-07 + r * 2.510038549551032e-08;
    const double q = (q01 + r2 * q23) + r4 * ((q45 + r2 * q67) + r4 * q89);
    return (1.0 + (r + r2 * q)) * x.power;
}

/// e^x with a relative error below 2e-16 (about one unit in the last place). e^-708 below -708 and
/// e^709 above 709: never zero, and no sum of two is infinite. NaN stays NaN.
///
/// Always inlined: files for an instruction set must not share a copy of it. No conversion between
/// integers and floats, and no condition but the clipping, so that loops become vectors.
[[gnu::always_inline]] inline double exact_exp(double x) { return exp_of(reduce_exponent(x)); }

/// ln(x) for positive finite x, relative error below 4e-16; used where losses are summed.
[[gnu::always_inline]] inline double exact_log(double given) {
    const bool subnormal = given < 0x1p-1022;
    const double x = subnormal ? given * 0x1p54 : given;
    // x = m * 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh(s), s = (m - 1) / (m + 1).
    constexpr double kLn2High = 6.93147180369123816490e-01;
    constexpr double kLn2Low = 1.90821492927058770002e-10;
    const auto bits = std::bit_cast<std::uint64_t>(x);
    // 2^52 + the exponent's bits, by its bits: vectors lack the conversion from integers.
    const double top = std::bit_cast<double>((bits >> 52) | 0x4330000000000000U) - 0x1p52;
    const double half = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFU) | 0x3FE0000000000000U);
    const bool low = half < 0.70710678118654752;
    const double m = low ? half * 2.0 : half;
    const double e = (top - (subnormal ? 1076.0 : 1022.0)) - (low ? 1.0 : 0.0);
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    double sum = 1.0 / 23.0;
    sum = sum * z + 1.0 / 21.0;
    sum = sum * z + 1.0 / 19.0;
    sum = sum * z + 1.0 / 17.0;
    sum = sum * z + 1.0 / 15.0;
    sum = sum * z + 1.0 / 13.0;
    sum = sum * z + 1.0 / 11.0;
    sum = sum * z + 1.0 / 9.0;
    sum = sum * z + 1.0 / 7.0;
    sum = sum * z + 1.0 / 5.0;
    sum = sum * z + 1.0 / 3.0;
    const double series = 2.0 * s + 2.0 * s * z * sum;
    return e * kLn2High + (series + e * kLn2Low);
}

}  // namespace spinney
