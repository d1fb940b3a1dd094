/// The grid of a tree's gradients, by its definition: which rows count, how many bits there are,
/// the power of two that follows from the largest, and the integer of every row.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "native/base/failure.hpp"
#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/trees/packed_gradients.hpp"
#include "tests/native/check.hpp"

namespace {

using spinney::GradientInput;
using spinney::GradientSums;
using spinney::PackedGradients;
using spinney::random_below;
using spinney::random_unit;
using spinney::Stream;

template <class Work>
void for_every_isa(const Work& work) {
    for (int isa = 0; isa <= static_cast<int>(spinney::best_isa()); ++isa) {
        spinney::use_isa(static_cast<spinney::Isa>(isa));
        work();
    }
}

/// What a tree is grown from, with room of its own.
struct Given {
    std::vector<float> gradients, hessians;
    std::vector<std::int64_t> weights;
    bool weights_repeat = true;
    std::vector<std::uint32_t> rows;  ///< empty: all
    bool every_hessian_counts = true;

    GradientInput input() const {
        GradientInput input{gradients, hessians, weights, weights_repeat, 1.0};
        input.every_hessian_counts = every_hessian_counts;
        return input;
    }
    std::vector<std::uint32_t> grown_on() const {
        std::vector<std::uint32_t> all = rows;
        for (std::uint32_t i = 0; all.size() < gradients.size() && rows.empty(); ++i) {
            all.push_back(i);
        }
        return all;
    }
    std::int64_t repeats(std::size_t row) const {
        return weights.empty() || !weights_repeat ? 1 : weights[row];
    }
};

/// A grid of some bits that holds everything up to the largest number.
struct SlowGrid {
    double step = 1.0;
    std::int64_t most = 1;

    /// The least power of two above the largest is 2^bits steps away from zero.
    SlowGrid(float largest, int bits) : most((std::int64_t{1} << bits) - 1) {
        double power = 1.0;
        if (largest > 0.0F) {
            while (power > largest) power /= 2.0;
            while (power <= largest) power *= 2.0;
        }
        step = power / std::pow(2.0, bits);
    }
    std::int64_t of(float number) const {
        const double steps = static_cast<double>(number) / step;  // exact: a power of two
        if (std::abs(steps) >= static_cast<double>(most)) return steps < 0.0 ? -most : most;
        const double rounded = std::nearbyint(steps);  // ties to even, the mode of every program
        return std::clamp(static_cast<std::int64_t>(rounded), -most, most);
    }
};

struct SlowGrids {
    SlowGrid gradient, hessian;
    bool packed;
};

SlowGrids slow_grids_of(const Given& given, int gradient_bits, int hessian_bits, bool packed) {
    double n = 0.0;
    float largest_gradient = 0.0F;
    float largest_hessian = 0.0F;
    for (const std::uint32_t row : given.grown_on()) {
        n += static_cast<double>(given.repeats(row));
        largest_gradient = std::max(largest_gradient, std::abs(given.gradients[row]));
        if (!given.hessians.empty()) {
            largest_hessian = std::max(largest_hessian, given.hessians[row]);
        }
    }
    int room = 50;  // no sum of so many rows leaves 50 bits
    for (double rows = 1.0; rows < n + 1.0; rows *= 2.0) --room;
    const bool fits = gradient_bits <= room;
    return {SlowGrid(largest_gradient, std::min(gradient_bits, room)),
            SlowGrid(largest_hessian, std::min(hessian_bits, room)),
            packed && fits && given.weights.empty()};
}

/// Whether more than one row in sixteen has a hessian of less than four steps that is not zero.
bool slow_loses_hessians(const Given& given, const SlowGrid& grid) {
    double n = 0.0;
    double n_lost = 0.0;
    for (const std::uint32_t row : given.grown_on()) {
        const auto repeats = static_cast<double>(given.repeats(row));
        n += repeats;
        if (given.hessians.empty() || given.hessians[row] == 0.0F) continue;
        if (static_cast<double>(given.hessians[row]) / grid.step < 4.0) n_lost += repeats;
    }
    return given.every_hessian_counts && 16.0 * n_lost > n;
}

/// Many rows whose gradients are not too unlike share a word; others take a finer grid, of which
/// that of hessians is no finer than they need.
SlowGrids slow_grids(const Given& given) {
    const bool has_hessians = !given.hessians.empty();
    const SlowGrids fine = slow_grids_of(given, 29, 30, false);
    double n = 0.0;
    double steps = 0.0;
    float largest = 0.0F;
    const SlowGrids coarse =
        has_hessians ? slow_grids_of(given, 13, 13, true) : slow_grids_of(given, 23, 1, true);
    for (const std::uint32_t row : given.grown_on()) {
        const auto repeats = static_cast<double>(given.repeats(row));
        n += repeats;
        steps += repeats * static_cast<double>(std::abs(coarse.gradient.of(given.gradients[row])));
        largest = std::max(largest, std::abs(given.gradients[row]));
    }
    if (n <= 512.0) return fine;
    const bool is_fine_enough = largest == 0.0F || steps / n >= 16.0;
    if (is_fine_enough && !slow_loses_hessians(given, coarse.hessian)) return coarse;
    const SlowGrids middle = slow_grids_of(given, 29, 20, false);
    return has_hessians && !slow_loses_hessians(given, middle.hessian) ? middle : fine;
}

void check_rows(const Given& given) {
    const SlowGrids grids = slow_grids(given);
    const bool has_hessians = !given.hessians.empty();
    for (const int n_threads : {1, 3}) {
        PackedGradients found;
        found.fill(given.input(), given.rows, n_threads);
        CHECK(found.is_packed() == grids.packed);
        CHECK(found.gradient_scale() == grids.gradient.step);
        CHECK(found.hessian_scale() == (has_hessians ? grids.hessian.step : 1.0));
        bool all = true;
        for (std::size_t row = 0; row < given.gradients.size(); ++row) {
            const std::int64_t w = given.repeats(row);
            const GradientSums sums = found.of_row(row);
            const std::int64_t hessian = has_hessians ? grids.hessian.of(given.hessians[row]) : 1;
            all = all && sums.gradient == w * grids.gradient.of(given.gradients[row]) &&
                  sums.hessian == w * hessian &&
                  sums.weight == (given.weights.empty() ? 1 : given.weights[row]);
        }
        CHECK(all);
    }
}

/// Gradients and hessians below 1; many are exactly between two integers of the packed grid.
Given make_given(std::size_t n, bool has_hessians, float scale = 1.0F) {
    Given given;
    for (std::size_t i = 0; i < n; ++i) {
        const auto halves = static_cast<double>(random_below(n, Stream::kRows, i, 1U << 15));
        const double noise = random_unit(n, Stream::kRows, n + i) - 0.5;
        const double gradient = i % 3 == 0 ? noise : std::ldexp(halves, -14) - 1.0;
        given.gradients.push_back(static_cast<float>(gradient) * scale);
        if (!has_hessians) continue;
        const double hessian = i % 3 == 1 ? std::abs(noise) : std::ldexp(halves, -15);
        given.hessians.push_back(static_cast<float>(hessian) * scale);
    }
    return given;
}

}  // namespace

TEST(every_row_is_the_integer_of_the_definition) {
    for_every_isa([] {
        for (const std::size_t n : {1UL, 2UL, 511UL, 512UL, 513UL, 4096UL, 9001UL}) {
            check_rows(make_given(n, true));
            check_rows(make_given(n, false));
        }
    });
}

TEST(grids_follow_gradients_from_the_smallest_float_to_the_largest) {
    for_every_isa([] {
        for (const bool has_hessians : {true, false}) {
            for (const int exponent : {-140, -126, -30, 30, 127}) {
                check_rows(make_given(300, has_hessians, std::ldexp(1.0F, exponent)));
                check_rows(make_given(3000, has_hessians, std::ldexp(1.0F, exponent)));
            }
        }
    });
}

TEST(largest_possible_values_everywhere_stay_within_their_bits) {
    constexpr float kMost = std::numeric_limits<float>::max();
    for_every_isa([] {
        for (const std::size_t n : {300UL, 5000UL}) {
            for (const float number : {kMost, std::numeric_limits<float>::denorm_min(), 1.0F}) {
                Given given;
                given.gradients.assign(n, number);
                for (std::size_t i = 0; i < n; i += 2) given.gradients[i] = -number;
                check_rows(given);
                given.hessians.assign(n, number);
                check_rows(given);
                given.weights.assign(n, 1 << 20);  // sums need 33 bits more
                check_rows(given);
            }
        }
    });
}

TEST(nothing_but_zeros_is_nothing_but_zeros) {
    for_every_isa([] {
        for (const std::size_t n : {10UL, 3000UL}) {
            Given given;
            given.gradients.assign(n, 0.0F);
            given.gradients[n / 2] = -0.0F;
            check_rows(given);
            given.hessians.assign(n, 0.0F);
            check_rows(given);
        }
    });
}

TEST(a_few_large_gradients_turn_to_the_fine_grid_exactly_where_the_mean_says) {
    // All but one of 1024 rows have k steps of the packed grid: below a mean of 16 it is left.
    for_every_isa([] {
        for (const int steps : {7, 8, 9, 15, 16, 17}) {
            Given given;
            given.gradients.assign(1024, std::ldexp(static_cast<float>(steps), -13));
            given.gradients[500] = std::nextafter(1.0F, 0.0F);
            given.hessians.assign(1024, 0.25F);
            check_rows(given);
            PackedGradients found;
            found.fill(given.input(), {}, 1);
            CHECK(found.is_packed() == (steps >= 9));  // 8191 / 1024 come from the large one
        }
    });
}

TEST(small_hessians_turn_to_a_finer_grid_exactly_where_there_are_too_many) {
    // One row has the largest hessian; of 1600 rows 99, 100 or 101 have one of k steps.
    const auto is_packed = [](std::size_t n_small, float hessian, bool counts) {
        Given given;
        given.gradients.assign(1600, 0.5F);
        given.hessians.assign(1600, 0.25F);
        given.hessians[7] = std::nextafter(1.0F, 0.0F);
        std::fill_n(given.hessians.begin() + 100, n_small, hessian);
        given.every_hessian_counts = counts;
        check_rows(given);
        PackedGradients found;
        found.fill(given.input(), {}, 1);
        return found.is_packed();
    };
    for_every_isa([&] {
        const float below_four = std::ldexp(3.99F, -13);
        for (const std::size_t n_small : {99UL, 100UL, 101UL}) {
            CHECK(is_packed(n_small, below_four, true) == (n_small <= 100));
            CHECK(is_packed(n_small, std::ldexp(4.0F, -13), true));
            CHECK(is_packed(n_small, 0.0F, true));
            CHECK(is_packed(n_small, below_four, false));
            CHECK(is_packed(n_small, 1e-7F, true) == (n_small <= 100));   // 20 bits are too few
            CHECK(is_packed(n_small, 1e-20F, true) == (n_small <= 100));  // as are all
        }
    });
}

TEST(rows_that_are_not_grown_on_are_cut_off_at_the_ends_of_the_grid) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for_every_isa([] {
        for (const std::size_t n : {600UL, 6000UL}) {
            Given given = make_given(n, true);
            for (std::uint32_t row = 0; row < n; ++row) {
                if (row % 3 != 2) given.rows.push_back(row);
            }
            given.gradients[2] = 1e30F;
            given.gradients[5] = -kInfinity;
            given.hessians[8] = kInfinity;
            check_rows(given);
        }
    });
}

TEST(infinite_rows_are_refused_if_they_are_grown_on) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for_every_isa([] {
        for (const std::size_t row : {0UL, 20UL, 2999UL}) {
            PackedGradients found;
            Given given = make_given(3000, true);
            given.hessians[row] = kInfinity;
            CHECK_THROWS(spinney::Failure, found.fill(given.input(), {}, 1));
            given = make_given(3000, false);
            given.gradients[row] = -kInfinity;
            CHECK_THROWS(spinney::Failure, found.fill(given.input(), {}, 1));
            given.rows = {static_cast<std::uint32_t>(row)};
            CHECK_THROWS(spinney::Failure, found.fill(given.input(), given.rows, 1));
        }
    });
}

TEST(weights_repeat_rows_or_only_count) {
    for_every_isa([] {
        for (const bool has_hessians : {true, false}) {
            for (const std::size_t n : {100UL, 400UL, 3000UL}) {
                Given given = make_given(n, has_hessians);
                for (std::size_t i = 0; i < n; ++i) {
                    const auto below = std::uint64_t{1} << (i % 24);
                    given.weights.push_back(
                        1 + static_cast<std::int64_t>(random_below(n, Stream::kRows, i, below)));
                }
                check_rows(given);
                given.weights_repeat = false;
                check_rows(given);
            }
        }
    });
}

TEST(a_known_largest_changes_nothing) {
    for_every_isa([] {
        const Given given = make_given(3000, true);
        GradientInput known = given.input();
        known.largest_gradient = 0.0F;
        known.largest_hessian = 0.0F;
        for (std::size_t i = 0; i < 3000; ++i) {
            known.largest_gradient = std::max(known.largest_gradient, std::abs(given.gradients[i]));
            known.largest_hessian = std::max(known.largest_hessian, given.hessians[i]);
        }
        PackedGradients with, without;
        with.fill(known, {}, 1);
        without.fill(given.input(), {}, 1);
        CHECK(with.gradient_scale() == without.gradient_scale());
        CHECK(with.hessian_scale() == without.hessian_scale());
        CHECK(std::equal(with.packed_rows(), with.packed_rows() + 3000, without.packed_rows()));
    });
}

CHECK_MAIN
