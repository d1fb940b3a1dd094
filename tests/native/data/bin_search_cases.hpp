/// What every bin_search kernel must do, whichever instructions it uses; shared by the test of the
/// kernels this machine can run and by the test of those it can only emulate.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <type_traits>
#include <vector>

#include "native/base/random.hpp"
#include "native/data/bin_mapper.hpp"
#include "native/data/bin_search.hpp"
#include "tests/native/check.hpp"

namespace cases {

inline constexpr std::size_t kMaxCuts = 254;
inline constexpr std::uint8_t kUntouched = 0xA5;

/// Draws in a row, the same on every machine.
class Draws {
  public:
    explicit Draws(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t bits() { return spinney::random_bits(seed_, spinney::Stream::kRows, next_++); }
    std::uint64_t below(std::uint64_t n) { return bits() % n; }
    double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  private:
    std::uint64_t seed_;
    std::uint64_t next_ = 0;
};

/// Where cut points stand; each style is awkward in its own way.
enum class Style {
    kUniform,     ///< float64 that no float32 equals
    kIntegers,    ///< exact in both types, zero among them
    kAnyFloat32,  ///< any bits: all magnitudes of float32
    kAnyFloat64,  ///< the same of float64, most of them beyond float32
    kDenormal,    ///< around zero, in steps of the smallest float32 or float64
    kNeighbours,  ///< a chain of next floats: nothing fits between
    kInfinite,    ///< ends in -infinity and +infinity
};
inline constexpr std::array kStyles = {Style::kUniform,    Style::kIntegers, Style::kAnyFloat32,
                                       Style::kAnyFloat64, Style::kDenormal, Style::kNeighbours,
                                       Style::kInfinite};

inline double draw_cut(Style style, std::size_t drawn, Draws& draws) {
    switch (style) {
        case Style::kUniform:
            return draws.unit() * 2 - 1;
        case Style::kIntegers:
            return static_cast<double>(draws.below(600)) - 300;
        case Style::kAnyFloat32:
            return std::bit_cast<float>(static_cast<std::uint32_t>(draws.bits()));
        case Style::kAnyFloat64:
            return std::bit_cast<double>(draws.bits());
        case Style::kDenormal: {
            const double step = draws.below(2) == 0
                                    ? std::numeric_limits<double>::denorm_min()
                                    : double{std::numeric_limits<float>::denorm_min()};
            return step * (static_cast<double>(draws.below(600)) - 300);
        }
        case Style::kNeighbours: {
            // Consecutive bits are consecutive numbers; the chain crosses a power of two.
            const std::uint32_t start = std::bit_cast<std::uint32_t>(2.0F) - 100;
            return std::bit_cast<float>(start + static_cast<std::uint32_t>(drawn));
        }
        case Style::kInfinite:
            if (drawn < 2) return std::numeric_limits<double>::infinity() * (drawn == 0 ? 1 : -1);
            return draws.unit();
    }
    return 0;
}

inline std::vector<double> make_cuts(Style style, std::size_t n_cuts, Draws& draws) {
    std::set<double> cuts;
    while (cuts.size() < n_cuts) {
        const double cut = draw_cut(style, cuts.size(), draws);
        if (!std::isnan(cut)) cuts.insert(cut);
    }
    return {cuts.begin(), cuts.end()};
}

/// Every cut with its two neighbours, the special numbers, and random ones, in random order.
template <class T>
std::vector<T> make_values(const std::vector<double>& cuts, std::size_t n, Draws& draws) {
    using Limits = std::numeric_limits<T>;
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr T kInfinity = Limits::infinity();
    std::vector<T> pool = {T{0},
                           -T{0},
                           kInfinity,
                           -kInfinity,
                           Limits::quiet_NaN(),
                           -Limits::quiet_NaN(),
                           Limits::denorm_min(),
                           -Limits::denorm_min(),
                           Limits::min(),
                           -Limits::min(),
                           Limits::max(),
                           Limits::lowest()};
    for (const double cut : cuts) {
        const T value = static_cast<T>(cut);
        pool.insert(pool.end(), {value, std::nextafter(value, kInfinity),
                                 std::nextafter(value, -kInfinity), value + T{0.5}});
    }
    std::vector<T> values(n);
    for (T& value : values) {
        const bool from_pool = draws.below(4) != 0;
        value = from_pool ? pool[draws.below(pool.size())]
                          : std::bit_cast<T>(static_cast<Bits>(draws.bits()));
    }
    return values;
}

/// The definition, from the cuts as they were before they were rounded or grouped.
template <class T>
std::vector<std::uint8_t> plain_bins(const std::vector<double>& cuts,
                                     const std::vector<T>& values) {
    std::vector<std::uint8_t> bins;
    for (const T value : values) {
        const auto below = std::count_if(cuts.begin(), cuts.end(), [value](double cut) {
            return cut < static_cast<double>(value);
        });
        const std::size_t missing_bin = cuts.size() + 1;
        bins.push_back(static_cast<std::uint8_t>(std::isnan(value) ? missing_bin : below));
    }
    return bins;
}

inline const spinney::CutTable<float>& table_of(const spinney::FeatureBins& bins, float) {
    return bins.narrow();
}
inline const spinney::CutTable<double>& table_of(const spinney::FeatureBins& bins, double) {
    return bins.wide();
}

/// Runs the kernel on values [first, first + n), every bin_stride-th byte of its output, and
/// compares; also what it must leave alone.
template <class T>
bool agrees(spinney::BinSearch<T>* kernel, const std::vector<T>& values, std::size_t first,
            std::size_t n, const spinney::FeatureBins& feature,
            const std::vector<std::uint8_t>& expected, std::size_t bin_stride = 1) {
    const int n_groups = (feature.n_value_bins() - 1) / 16 + 1;
    std::vector<std::uint8_t> bins(n * bin_stride + 32, kUntouched);
    kernel({&table_of(feature, T{}), n_groups, feature.missing_bin(),
            reinterpret_cast<const std::byte*>(values.data() + first), sizeof(T), bins.data() + 16,
            static_cast<std::ptrdiff_t>(bin_stride), n});
    bool same = true;
    for (std::size_t i = 0; i < bins.size(); ++i) {
        const bool is_bin = i >= 16 && (i - 16) % bin_stride == 0 && (i - 16) / bin_stride < n;
        same = same && bins[i] == (is_bin ? expected[first + (i - 16) / bin_stride] : kUntouched);
    }
    return same;
}

/// A table in C order: values three apart, and backwards.
template <class T>
void check_strides(spinney::BinSearch<T>* kernel) {
    Draws draws(5);
    const std::vector<double> cuts = make_cuts(Style::kUniform, 100, draws);
    const auto feature = spinney::FeatureBins::numeric(cuts);
    const std::vector<T> values = make_values<T>(cuts, 900, draws);
    const std::vector<std::uint8_t> expected = plain_bins(cuts, values);
    for (const int step : {3, -3}) {
        const std::size_t first = step > 0 ? 1 : 898;
        std::vector<std::uint8_t> bins(300);
        kernel({&table_of(feature, T{}), 7, feature.missing_bin(),
                reinterpret_cast<const std::byte*>(values.data() + first),
                step * static_cast<std::ptrdiff_t>(sizeof(T)), bins.data(), 1, 300});
        for (std::size_t i = 0; i < 300; ++i) {
            const auto at =
                static_cast<std::ptrdiff_t>(first) + step * static_cast<std::ptrdiff_t>(i);
            CHECK(bins[i] == expected[static_cast<std::size_t>(at)]);
        }
    }
}

/// Every number of cuts, so every n_groups, in every style.
template <class T>
void check_all_cut_counts(spinney::BinSearch<T>* kernel, std::size_t n_values) {
    for (const Style style : kStyles) {
        for (std::size_t n_cuts = 0; n_cuts <= kMaxCuts; ++n_cuts) {
            Draws draws(1000 * static_cast<std::uint64_t>(style) + n_cuts);
            const std::vector<double> cuts = make_cuts(style, n_cuts, draws);
            const auto bins = spinney::FeatureBins::numeric(cuts);
            const std::vector<T> values = make_values<T>(cuts, n_values, draws);
            CHECK(agrees<T>(kernel, values, 0, n_values, bins, plain_bins(cuts, values)));
        }
    }
}

/// Every n from 0 to 300, from pointers that are aligned to nothing but their type.
template <class T>
void check_all_lengths(spinney::BinSearch<T>* kernel) {
    for (std::size_t n_groups = 1; n_groups <= 16; ++n_groups) {
        const std::size_t n_cuts = std::min(16 * n_groups - 1, kMaxCuts);
        Draws draws(n_groups);
        const std::vector<double> cuts = make_cuts(Style::kIntegers, n_cuts, draws);
        const auto bins = spinney::FeatureBins::numeric(cuts);
        const std::vector<T> values = make_values<T>(cuts, 300 + 16, draws);
        const std::vector<std::uint8_t> expected = plain_bins(cuts, values);
        for (std::size_t n = 0; n <= 300; ++n) {
            CHECK(agrees<T>(kernel, values, n % 16, n, bins, expected, 1 + n % 5));
        }
        for (std::size_t first = 0; first < 16; ++first) {
            CHECK(agrees<T>(kernel, values, first, 300, bins, expected));
        }
    }
}

/// -0.0 and 0.0 are one number, as a value and as a cut; NaN has the bin behind the others.
template <class T>
void check_special_values(spinney::BinSearch<T>* kernel) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    const std::vector<T> values = {
        -kInfinity, T{-1}, -T{0}, T{0}, T{1}, T{2}, kInfinity, std::numeric_limits<T>::quiet_NaN()};
    for (const double zero : {0.0, -0.0}) {
        const auto bins = spinney::FeatureBins::numeric(std::vector<double>{-1, zero, 1});
        CHECK(agrees<T>(kernel, values, 0, values.size(), bins, {0, 0, 1, 1, 2, 3, 3, 4}));
    }
    const std::vector<double> ends = {-std::numeric_limits<double>::infinity(), 0,
                                      std::numeric_limits<double>::infinity()};
    const auto bins = spinney::FeatureBins::numeric(ends);
    CHECK(agrees<T>(kernel, values, 0, values.size(), bins, {0, 1, 1, 1, 2, 2, 2, 4}));
}

}  // namespace cases
