/// Kernels that turn floats into integers on a grid.
#pragma once

#include <cstddef>
#include <cstdint>

namespace spinney {

/// integer = round(number / step), ties to even, kept within ±most.
struct GradientGrid {
    double per_step;  ///< 1 / step, a power of two: the product is exact
    double most;      ///< below 2^31
};

struct QuantiseTask {
    const float* gradients;
    const float* hessians;  ///< null: none
    GradientGrid gradient_grid;
    GradientGrid hessian_grid;
    int gradient_shift;  ///< 0: hessians go to their own array
    std::int32_t* gradients_out;
    std::int32_t* hessians_out;
    std::size_t n;
};

/// Returns the sum of the magnitudes of the gradients, in steps.
using QuantiseKernel = std::int64_t(const QuantiseTask& task);
/// Largest absolute value; NaN is ignored, the caller has none.
using LargestKernel = float(const float* numbers, std::size_t n);

QuantiseKernel quantise_portable, quantise_avx2, quantise_avx512;
LargestKernel largest_portable, largest_avx2, largest_avx512;

}  // namespace spinney
