#include "native/trees/packed_gradients.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "native/base/failure.hpp"
#include "native/base/isa.hpp"
#include "native/base/parallel.hpp"
#include "native/trees/quantise.hpp"

namespace spinney {
namespace {

constexpr std::size_t kChunk = 4096;
/// Sums of all rows stay below 2^50, so that they are exact as doubles too.
constexpr int kSumBits = 50;

#if defined(__x86_64__) && defined(__GNUC__)
QuantiseKernel* active_quantise() {
    return pick<QuantiseKernel>(quantise_portable, quantise_avx2, quantise_avx512);
}
LargestKernel* active_largest() {
    return pick<LargestKernel>(largest_portable, largest_avx2, largest_avx512);
}
#else
QuantiseKernel* active_quantise() { return quantise_portable; }
LargestKernel* active_largest() { return largest_portable; }
#endif

/// Largest absolute value among the rows; a maximum does not depend on the order.
float largest(std::span<const float> numbers, std::span<const std::uint32_t> rows, int n_threads) {
    LargestKernel* kernel = active_largest();
    const std::size_t n = rows.empty() ? numbers.size() : rows.size();
    std::vector<float> of_chunk((n + kChunk - 1) / kChunk, 0.0F);
    parallel_blocks(n_threads, n, kChunk, [&](std::size_t begin, std::size_t end) {
        float most = 0.0F;
        if (rows.empty()) {
            most = kernel(numbers.data() + begin, end - begin);
        } else {
            for (std::size_t i = begin; i < end; ++i) {
                most = std::max(most, std::abs(numbers[rows[i]]));
            }
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

GradientGrid make_grid(double scale, int bits) {
    return {1.0 / scale, static_cast<double>((std::int64_t{1} << bits) - 1)};
}

/// Adds of_row(i) for the rows, in integers.
template <class OfRow>
std::int64_t sum_rows(std::size_t n_all, std::span<const std::uint32_t> rows, int n_threads,
                      const OfRow& of_row) {
    const std::size_t n = rows.empty() ? n_all : rows.size();
    std::vector<std::int64_t> of_chunk((n + kChunk - 1) / kChunk, 0);
    parallel_blocks(n_threads, n, kChunk, [&](std::size_t begin, std::size_t end) {
        std::int64_t sum = 0;
        if (rows.empty()) {
            for (std::size_t i = begin; i < end; ++i) sum += of_row(i);
        } else {
            for (std::size_t i = begin; i < end; ++i) sum += of_row(rows[i]);
        }
        of_chunk[begin / kChunk] = sum;
    });
    return std::accumulate(of_chunk.begin(), of_chunk.end(), std::int64_t{0});
}

}  // namespace

void PackedGradients::fill(const GradientInput& input, std::span<const std::uint32_t> rows,
                           int n_threads, std::size_t n_cells) {
    input_ = input;
    has_hessians_ = !input.hessians.empty();
    const bool repeats = !input.weights.empty() && input.weights_repeat;
    const std::size_t n_all = input.gradients.size();
    n_repeats_ = repeats
                     ? static_cast<double>(sum_rows(
                           n_all, rows, n_threads, [&](std::size_t i) { return input.weights[i]; }))
                     : static_cast<double>(rows.empty() ? n_all : rows.size());
    most_repeats_ = 1;  // at least: all weights may be 0
    if (repeats) most_repeats_ = std::max(most_repeats_, *std::ranges::max_element(input.weights));
    const bool known = rows.empty() && input.largest_gradient >= 0.0F;
    largest_gradient_ = known ? input.largest_gradient : largest(input.gradients, rows, n_threads);
    largest_hessian_ = !has_hessians_ ? 1.0F
                       : known        ? input.largest_hessian
                                      : largest(input.hessians, rows, n_threads);
    if (!std::isfinite(largest_gradient_) || !std::isfinite(largest_hessian_)) {
        throw Failure(FailureKind::kInvalidInput,
                      "The derivatives of a row, times its weight, are beyond what 32 bits hold. "
                      "Divide all weights by a constant, or y.");
    }
    const Packing& packing = has_hessians_ ? kWithHessian : kWithoutHessian;
    if (n_repeats_ > kFewRows || n_cells > kFewCells) {
        place(input, packing, n_threads);
        if (mean_steps(input, rows, n_threads) >= kLeastMeanSteps &&
            !loses_hessians(input, rows, n_threads)) {
            return;
        }
        if (has_hessians_) {
            place(input, kFineGradients, n_threads);
            if (!loses_hessians(input, rows, n_threads)) return;
        }
    }
    place(input, kFine, n_threads);
}

void PackedGradients::place(const GradientInput& input, const Packing& packing, int n_threads) {
    packing_ = packing;
    const int room = kSumBits - static_cast<int>(std::ceil(std::log2(n_repeats_ + 1.0)));
    const int gradient_bits = std::min(packing.gradient_bits - 1, room);  // without the sign
    const int hessian_bits = std::min(std::max(packing.hessian_bits, 1), room);
    packed_ =
        packing.max_rows > 0 && input.weights.empty() && gradient_bits == packing.gradient_bits - 1;
    const double most_steps = has_hessians_ ? std::ldexp(1.0, hessian_bits) - 1.0 : 1.0;
    most_hessian_ = most_steps * static_cast<double>(most_repeats_);
    gradient_scale_ = gradient_step(gradient_bits);
    hessian_scale_ = has_hessians_ ? hessian_step(hessian_bits) : 1.0;
    const std::size_t n = input.gradients.size();
    gradients_.resize(n);
    hessians_.resize(!packed_ && has_hessians_ ? n : 0);
    QuantiseKernel* kernel = active_quantise();
    std::vector<std::int64_t> steps((n + kChunk - 1) / kChunk);
    parallel_blocks(n_threads, n, kChunk, [&](std::size_t begin, std::size_t end) {
        steps[begin / kChunk] =
            kernel({.gradients = input.gradients.data() + begin,
                    .hessians = has_hessians_ ? input.hessians.data() + begin : nullptr,
                    .gradient_grid = make_grid(gradient_scale_, gradient_bits),
                    .hessian_grid = make_grid(hessian_scale_, hessian_bits),
                    .gradient_shift = packed_ ? packing.hessian_bits : 0,
                    .gradients_out = gradients_.data() + begin,
                    .hessians_out = hessians_.empty() ? nullptr : hessians_.data() + begin,
                    .n = end - begin});
    });
    all_steps_ = std::accumulate(steps.begin(), steps.end(), std::int64_t{0});
}

double PackedGradients::gradient_step(int bits) const { return scale_for(largest_gradient_, bits); }
double PackedGradients::hessian_step(int bits) const { return scale_for(largest_hessian_, bits); }

bool PackedGradients::loses_hessians(const GradientInput& input,
                                     std::span<const std::uint32_t> rows, int n_threads) const {
    if (!has_hessians_ || !input.every_hessian_counts) return false;
    const auto least = static_cast<float>(kLeastSteps * hessian_scale_);
    const auto lost = [&](std::size_t i) {
        const bool is_lost = input.hessians[i] > 0.0F && input.hessians[i] < least;
        return is_lost ? input.repeats(i) : 0;
    };
    const std::int64_t n_lost = sum_rows(input.hessians.size(), rows, n_threads, lost);
    return static_cast<double>(n_lost) > kMostLost * n_repeats_;
}

double PackedGradients::mean_steps(const GradientInput& input, std::span<const std::uint32_t> rows,
                                   int n_threads) const {
    if (largest_gradient_ == 0.0F) return kLeastMeanSteps;
    if (rows.empty() && input.weights.empty()) {
        return static_cast<double>(all_steps_) / n_repeats_;
    }
    const int shift = packed_ ? packing_.hessian_bits : 0;
    const auto size = [&](std::size_t i) { return std::int64_t{std::abs(gradients_[i] >> shift)}; };
    const std::int64_t total =
        input.weights.empty() ? sum_rows(gradients_.size(), rows, n_threads, size)
                              : sum_rows(gradients_.size(), rows, n_threads,
                                         [&](std::size_t i) { return size(i) * input.repeats(i); });
    return static_cast<double>(total) / n_repeats_;
}

}  // namespace spinney
