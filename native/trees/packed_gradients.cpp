#include "native/trees/packed_gradients.hpp"

#include <algorithm>
#include <cmath>

#include "native/base/parallel.hpp"

namespace spinney {
namespace {

constexpr std::size_t kChunk = 16384;

/// Largest absolute value; a maximum does not depend on the order.
float largest(std::span<const float> numbers, int n_threads) {
    std::vector<float> of_chunk((numbers.size() + kChunk - 1) / kChunk, 0.0F);
    parallel_blocks(n_threads, numbers.size(), kChunk, [&](std::size_t begin, std::size_t end) {
        float most = 0.0F;
        for (std::size_t i = begin; i < end; ++i) {
            const float size = std::abs(numbers[i]);
            most = size > most ? size : most;
        }
        of_chunk[begin / kChunk] = most;
    });
    return of_chunk.empty() ? 0.0F : *std::max_element(of_chunk.begin(), of_chunk.end());
}

/// The power of two that puts `most` just below 2^bits.
double scale_for(float most, int bits) {
    int exponent = 0;
    std::frexp(most, &exponent);  // most < 2^exponent
    return std::ldexp(1.0, exponent - bits);
}

/// A grid for non-negative or signed numbers, with the limit that keeps rounding inside the field.
struct Grid {
    double per_unit;
    double most;

    std::int64_t place(float number) const {
        return static_cast<std::int64_t>(
            std::clamp(std::rint(static_cast<double>(number) * per_unit), -most, most));
    }
};

Grid make_grid(double scale, int bits) {
    return {1.0 / scale, static_cast<double>((std::int64_t{1} << bits) - 1)};
}

}  // namespace

void PackedGradients::fill(const GradientInput& input, int n_threads) {
    const bool has_hessians = !input.hessians.empty();
    const bool fine = input.total_weight <= kFewRows;
    packing_ = fine ? kFine : (has_hessians ? kWithHessian : kWithoutHessian);
    const int gradient_bits = packing_.gradient_bits - 1;  // without the sign
    const int hessian_bits = std::max(packing_.hessian_bits, 1);
    gradient_scale_ = scale_for(largest(input.gradients, n_threads), gradient_bits);
    hessian_scale_ =
        has_hessians ? scale_for(largest(input.hessians, n_threads), hessian_bits) : 1.0;
    const Grid gradient_grid = make_grid(gradient_scale_, gradient_bits);
    const Grid hessian_grid = make_grid(hessian_scale_, hessian_bits);
    const std::size_t n = input.gradients.size();
    const bool packed = !fine && input.weights.empty();
    words_.resize(packed ? n : 0);
    sums_.resize(packed ? 0 : n);
    parallel_blocks(n_threads, n, kChunk, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const std::int64_t g = gradient_grid.place(input.gradients[i]);
            const std::int64_t h = has_hessians ? hessian_grid.place(input.hessians[i]) : 1;
            if (packed) {
                words_[i] =
                    (static_cast<std::uint64_t>(g) << packing_.gradient_shift) +
                    (has_hessians ? static_cast<std::uint64_t>(h) << packing_.hessian_shift : 0) +
                    1;
            } else {
                const std::int64_t w = input.repeats(i);
                sums_[i] = {g * w, h * w, input.weights.empty() ? 1 : input.weights[i]};
            }
        }
    });
}

}  // namespace spinney
