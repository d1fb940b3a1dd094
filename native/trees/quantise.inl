// The loops of quantise.hpp, included by one file per instruction set with NAME(x) = x_<isa>.

namespace spinney {
namespace {

/// The nearest integer, read from the low bits of number + 1.5 * 2^52.
[[gnu::always_inline]] inline std::int32_t nearest(float number, const GradientGrid& grid) {
    double steps = static_cast<double>(number) * grid.per_step;
    steps = steps < grid.most ? steps : grid.most;
    steps = steps > -grid.most ? steps : -grid.most;
    return static_cast<std::int32_t>(
        static_cast<std::uint32_t>(__builtin_bit_cast(std::uint64_t, steps + 0x1.8p52)));
}

}  // namespace

std::int64_t NAME(quantise)(const QuantiseTask& task) {
    const float* __restrict gradients = task.gradients;
    const float* __restrict hessians = task.hessians;
    std::int32_t* __restrict to = task.gradients_out;
    std::int32_t* __restrict to_hessians = task.hessians_out;
    const GradientGrid g = task.gradient_grid;
    const GradientGrid h = task.hessian_grid;
    const int shift = task.gradient_shift;
    const std::size_t n = task.n;
    std::int64_t steps = 0;
    if (hessians == nullptr) {
        for (std::size_t i = 0; i < n; ++i) {
            to[i] = nearest(gradients[i], g);
            steps += to[i] < 0 ? -to[i] : to[i];
        }
    } else if (shift > 0) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::int32_t gradient = nearest(gradients[i], g);
            const auto high = static_cast<std::uint32_t>(gradient) << shift;
            to[i] = static_cast<std::int32_t>(high |
                                              static_cast<std::uint32_t>(nearest(hessians[i], h)));
            steps += gradient < 0 ? -gradient : gradient;
        }
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            to[i] = nearest(gradients[i], g);
            to_hessians[i] = nearest(hessians[i], h);
            steps += to[i] < 0 ? -to[i] : to[i];
        }
    }
    return steps;
}

float NAME(largest)(const float* numbers, std::size_t n) {
    // Sixteen maxima side by side: a maximum does not depend on the order.
    float most[16] = {};
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        for (std::size_t lane = 0; lane < 16; ++lane) {
            const float size = __builtin_fabsf(numbers[i + lane]);
            most[lane] = size > most[lane] ? size : most[lane];
        }
    }
    float all = 0.0F;
    for (const float size : most) all = size > all ? size : all;
    for (; i < n; ++i) {
        const float size = __builtin_fabsf(numbers[i]);
        all = size > all ? size : all;
    }
    return all;
}

}  // namespace spinney
