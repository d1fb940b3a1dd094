/// exp and log of our own: plain additions and multiplications in a fixed order, so that every
/// machine, vector width and C library gives the same bits.
#pragma once

#include <bit>
#include <cstdint>

namespace spinney {

/// e^x with a relative error below 2e-16 (about one unit in the last place); 0 below -708, and
/// e^709 above 709, so that no sum of them is infinite. NaN stays NaN.
///
/// Always inlined: files for an instruction set must not share a copy of it.
[[gnu::always_inline]] inline double exact_exp(double x) {
    constexpr double kLog2E = 1.4426950408889634;
    constexpr double kLn2High = 6.93147180369123816490e-01;  // 33 bits: n * kLn2High is exact
    constexpr double kLn2Low = 1.90821492927058770002e-10;
    constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
    const double clipped = x > 709.0 ? 709.0 : (x < -708.0 ? -708.0 : x);
    const double shifted = clipped * kLog2E + kShift;
    const double n = shifted - kShift;
    const double r = (clipped - n * kLn2High) - n * kLn2Low;  // |r| <= ln(2) / 2
    // Taylor's series: the first term left out is r^14 / 14! < 5e-18.
    double sum = 1.0 / 6227020800.0;
    sum = sum * r + 1.0 / 479001600.0;
    sum = sum * r + 1.0 / 39916800.0;
    sum = sum * r + 1.0 / 3628800.0;
    sum = sum * r + 1.0 / 362880.0;
    sum = sum * r + 1.0 / 40320.0;
    sum = sum * r + 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    // The low bits of `shifted` are n; put them into the exponent.
    const auto bits =
        std::bit_cast<std::uint64_t>(sum) + (std::bit_cast<std::uint64_t>(shifted) << 52);
    const double scaled = std::bit_cast<double>(bits);
    return x < -708.0 ? 0.0 : (x != x ? x : scaled);
}

/// ln(x) for positive finite x, relative error below 4e-16; used where losses are summed.
[[gnu::always_inline]] inline double exact_log(double x) {
    // x = m * 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh(s), s = (m - 1) / (m + 1).
    constexpr double kLn2High = 6.93147180369123816490e-01;
    constexpr double kLn2Low = 1.90821492927058770002e-10;
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const auto top = static_cast<std::int64_t>(bits >> 52) - 1022;
    const double half = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFU) | 0x3FE0000000000000U);
    const bool low = half < 0.70710678118654752;
    const double m = low ? half * 2.0 : half;
    const auto e = static_cast<double>(top - (low ? 1 : 0));
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
