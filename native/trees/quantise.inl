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

/// of_row(i): the hessian of a row. The choice is made outside of the loops, so that they become
/// vectors.
template <class OfRow>
[[gnu::always_inline]] inline std::int64_t quantise_both(const QuantiseTask& task,
                                                         const OfRow& of_row) {
    const float* __restrict gradients = task.gradients;
    std::int32_t* __restrict to = task.gradients_out;
    std::int32_t* __restrict to_hessians = task.hessians_out;
    const GradientGrid g = task.gradient_grid;
    const GradientGrid h = task.hessian_grid;
    const int shift = task.gradient_shift;
    const std::size_t n = task.n;
    std::int64_t steps = 0;
    if (shift > 0) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::int32_t gradient = nearest(gradients[i], g);
            const auto high = static_cast<std::uint32_t>(gradient) << shift;
            to[i] =
                static_cast<std::int32_t>(high | static_cast<std::uint32_t>(nearest(of_row(i), h)));
            steps += gradient < 0 ? -gradient : gradient;
        }
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            to[i] = nearest(gradients[i], g);
            to_hessians[i] = nearest(of_row(i), h);
            steps += to[i] < 0 ? -to[i] : to[i];
        }
    }
    return steps;
}

}  // namespace

std::int64_t NAME(quantise)(const QuantiseTask& task) {
    const float* __restrict gradients = task.gradients;
    const float* __restrict hessians = task.hessians;
    if (hessians != nullptr) {
        return quantise_both(task, [hessians](std::size_t i) { return hessians[i]; });
    }
    if (task.hessians_follow) {
        return quantise_both(task, [gradients](std::size_t i) { return hessian_of(gradients[i]); });
    }
    std::int32_t* __restrict to = task.gradients_out;
    const GradientGrid g = task.gradient_grid;
    std::int64_t steps = 0;
    for (std::size_t i = 0; i < task.n; ++i) {
        to[i] = nearest(gradients[i], g);
        steps += to[i] < 0 ? -to[i] : to[i];
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
