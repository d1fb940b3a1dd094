/// Kernels that put gradients on a grid, each by its name, against the definition one number at a
/// time: the nearest integer, ties to even, within ±most.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/trees/quantise.hpp"
#include "tests/native/check.hpp"

namespace {

using spinney::GradientGrid;
using spinney::QuantiseTask;
using spinney::random_below;
using spinney::random_unit;
using spinney::Stream;

struct Kernels {
    spinney::QuantiseKernel* quantise;
    spinney::LargestKernel* largest;
};

std::vector<Kernels> runnable_kernels() {
    std::vector<Kernels> kernels = {{spinney::quantise_portable, spinney::largest_portable}};
#if defined(__x86_64__) && defined(__GNUC__)
    if (spinney::best_isa() >= spinney::Isa::kAvx2) {
        kernels.push_back({spinney::quantise_avx2, spinney::largest_avx2});
    }
    if (spinney::best_isa() >= spinney::Isa::kAvx512) {
        kernels.push_back({spinney::quantise_avx512, spinney::largest_avx512});
    }
#endif
    return kernels;
}

/// The definition. The product is exact: per_step is a power of two.
std::int32_t slow_nearest(float number, const GradientGrid& grid) {
    const double steps = static_cast<double>(number) * grid.per_step;
    if (steps >= grid.most) return static_cast<std::int32_t>(grid.most);
    if (steps <= -grid.most) return static_cast<std::int32_t>(-grid.most);
    const auto below = static_cast<std::int64_t>(std::floor(steps));
    const double above_it = steps - static_cast<double>(below);
    const bool is_up = above_it > 0.5 || (above_it == 0.5 && below % 2 != 0);
    return static_cast<std::int32_t>(below + (is_up ? 1 : 0));
}

GradientGrid grid_of(int exponent, int bits) {
    return {std::ldexp(1.0, -exponent), std::ldexp(1.0, bits) - 1.0};
}

/// Numbers of the grid, their middles, the neighbours of both, and everything far outside.
std::vector<float> edge_numbers(const GradientGrid& grid) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::vector<double> steps = {0.0, 0.25, 0.75, grid.most, grid.most + 1.0, 4.0 * grid.most};
    for (int k = 0; k < 40; ++k) steps.push_back(0.5 * k);
    for (const double half : {-2.0, -1.5, -1.0, -0.5, 0.5, 1.0}) steps.push_back(grid.most + half);
    std::vector<float> numbers = {std::numeric_limits<float>::max(), kInfinity,
                                  std::numeric_limits<float>::min(),
                                  std::numeric_limits<float>::denorm_min()};
    for (const double step : steps) {
        const double exact = std::fmin(step / grid.per_step, std::numeric_limits<float>::max());
        const auto number = static_cast<float>(exact);
        numbers.push_back(number);
        numbers.push_back(std::nextafter(number, kInfinity));
        numbers.push_back(std::nextafter(number, -kInfinity));
    }
    const std::size_t n = numbers.size();
    for (std::size_t i = 0; i < n; ++i) numbers.push_back(-numbers[i]);
    return numbers;
}

std::vector<float> without_negative(std::vector<float> numbers) {
    for (float& number : numbers) number = std::abs(number);
    return numbers;
}

struct Output {
    std::vector<std::int32_t> gradients, hessians;
    std::int64_t steps = 0;
};

constexpr std::int32_t kUntouched = 0x5A5A5A5A;

/// Runs a kernel on n numbers; hessians empty: none. One more entry shows whether it stops.
Output run(spinney::QuantiseKernel* kernel, const std::vector<float>& gradients,
           const std::vector<float>& hessians, const GradientGrid& g, const GradientGrid& h,
           int shift) {
    const std::size_t n = gradients.size();
    Output output{std::vector<std::int32_t>(n + 1, kUntouched),
                  std::vector<std::int32_t>(n + 1, kUntouched)};
    output.steps = kernel({.gradients = gradients.data(),
                           .hessians = hessians.empty() ? nullptr : hessians.data(),
                           .gradient_grid = g,
                           .hessian_grid = h,
                           .gradient_shift = shift,
                           .gradients_out = output.gradients.data(),
                           .hessians_out = output.hessians.data(),
                           .n = n});
    return output;
}

/// All three forms: gradients alone, both in one number, both in numbers of their own.
void check_all_forms(const Kernels& kernels, const std::vector<float>& gradients,
                     const std::vector<float>& hessians, const GradientGrid& g,
                     const GradientGrid& h, int shift) {
    const std::size_t n = gradients.size();
    const Output alone = run(kernels.quantise, gradients, {}, g, h, 0);
    const Output apart = run(kernels.quantise, gradients, hessians, g, h, 0);
    const Output packed =
        shift == 0 ? apart : run(kernels.quantise, gradients, hessians, g, h, shift);
    std::int64_t steps = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::int32_t gradient = slow_nearest(gradients[i], g);
        const std::int32_t hessian = slow_nearest(hessians[i], h);
        steps += std::abs(std::int64_t{gradient});
        CHECK(alone.gradients[i] == gradient && alone.hessians[i] == kUntouched);
        CHECK(apart.gradients[i] == gradient && apart.hessians[i] == hessian);
        if (shift == 0) continue;
        CHECK(packed.gradients[i] >> shift == gradient);
        CHECK((packed.gradients[i] & ((1 << shift) - 1)) == hessian);
    }
    for (const Output* output : {&alone, &apart, &packed}) {
        CHECK(output->steps == steps);
        CHECK(output->gradients[n] == kUntouched && output->hessians[n] == kUntouched);
    }
}

}  // namespace

TEST(ties_go_to_the_even_integer) {
    const GradientGrid grid = grid_of(-3, 29);
    const std::vector<float> eighths = {0.5F, 1.5F, 2.5F, -0.5F, -1.5F, -2.5F, 0.499999F, -3.51F};
    const std::vector<std::int32_t> expected = {0, 2, 2, 0, -2, -2, 0, -4};
    std::vector<float> numbers;
    for (const float eighth : eighths) numbers.push_back(eighth / 8.0F);
    for (const Kernels& kernels : runnable_kernels()) {
        Output output = run(kernels.quantise, numbers, {}, grid, grid, 0);
        output.gradients.pop_back();
        CHECK(output.gradients == expected);
        CHECK(output.steps == 12);
    }
}

TEST(edges_of_every_grid_are_rounded_and_kept_within_it) {
    // From the step of the smallest float to that of the largest, with the bits that are in use and
    // the most a grid may have.
    for (const int exponent : {-178, -149, -40, 0, 40, 98}) {
        for (const int bits : {1, 13, 23, 29, 30, 31}) {
            const GradientGrid g = grid_of(exponent, bits);
            const GradientGrid h = grid_of(exponent - 2, bits == 13 ? 13 : 30);
            const std::vector<float> gradients = edge_numbers(g);
            const std::vector<float> hessians = without_negative(gradients);
            for (const Kernels& kernels : runnable_kernels()) {
                check_all_forms(kernels, gradients, hessians, g, h, bits == 13 ? 13 : 0);
            }
        }
    }
}

TEST(the_largest_number_reaches_the_end_of_its_grid_and_does_not_pass_it) {
    // Just below a power of two the nearest integer would be 2^bits, one more than there is room.
    const float below_one = std::nextafter(1.0F, 0.0F);
    for (const Kernels& kernels : runnable_kernels()) {
        for (const int bits : {13, 23}) {
            const GradientGrid grid = grid_of(-bits, bits);
            const Output output = run(kernels.quantise, {below_one, -below_one}, {}, grid, grid, 0);
            const std::int32_t most = (1 << bits) - 1;
            CHECK(output.gradients[0] == most && output.gradients[1] == -most);
        }
    }
}

TEST(every_length_and_alignment_gives_the_definition) {
    const GradientGrid g = grid_of(-13, 13);
    const GradientGrid h = grid_of(-13, 13);
    for (std::size_t n = 0; n < 200; n += 1 + n / 40) {
        std::vector<float> gradients, hessians;
        for (std::size_t i = 0; i < n; ++i) {
            gradients.push_back(static_cast<float>(2.2 * random_unit(n, Stream::kRows, i) - 1.1));
            hessians.push_back(static_cast<float>(random_unit(n, Stream::kRows, 1000 + i)));
        }
        for (const Kernels& kernels : runnable_kernels()) {
            check_all_forms(kernels, gradients, hessians, g, h, 13);
        }
    }
}

TEST(the_largest_is_found_at_every_place_of_every_length) {
    for (std::size_t n = 0; n < 70; ++n) {
        std::vector<float> numbers;
        for (std::size_t i = 0; i < n; ++i) {
            numbers.push_back(static_cast<float>(random_below(n, Stream::kRows, i, 9)) - 4.0F);
        }
        for (const Kernels& kernels : runnable_kernels()) {
            float most = 0.0F;
            for (const float number : numbers) most = std::fmax(most, std::abs(number));
            CHECK(kernels.largest(numbers.data(), n) == most);
            for (std::size_t place = 0; place < n; ++place) {
                for (const float huge : {std::numeric_limits<float>::max(), -5.0F}) {
                    std::vector<float> changed = numbers;
                    changed[place] = huge;
                    CHECK(kernels.largest(changed.data(), n) == std::abs(huge));
                }
            }
        }
    }
}

CHECK_MAIN
