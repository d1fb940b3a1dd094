#include "native/losses/derivatives.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "native/base/failure.hpp"
#include "native/base/isa.hpp"
#include "native/base/parallel.hpp"
#include "native/losses/point_losses.hpp"

namespace spinney {
namespace {

/// Rows per task, and per partial sum: a constant, so that sums do not depend on threads.
constexpr std::size_t kBlock = 8192;
/// Rows whose classes become numbers at a time: they stay in the first-level cache. Divides kBlock.
constexpr std::size_t kPart = 1024;
/// Rows whose losses are found before they are added.
constexpr std::size_t kTile = 256;
/// Rows of several classes per task.
constexpr std::size_t kSoftmaxBlock = 1024;

constexpr std::array<std::string_view, 9> kNames = {"squared",  "absolute", "huber",
                                                    "quantile", "poisson",  "gamma",
                                                    "tweedie",  "logistic", "exponential"};

#if defined(__x86_64__) && defined(__GNUC__)
#define SPINNEY_KERNEL(name) pick(name##_portable, name##_avx2, name##_avx512)
#else
#define SPINNEY_KERNEL(name) (name##_portable)
#endif

/// Sum of weight * value in blocks of fixed size, blocks in their order; weights empty: all 1.
/// fill(begin, n, values) gives the values of at most kTile rows.
template <class Fill>
double sum_in_blocks(std::size_t n_rows, std::span<const double> weights, int n_threads,
                     const Fill& fill) {
    std::vector<double> of_block((n_rows + kBlock - 1) / kBlock, 0.0);
    parallel_blocks(n_threads, n_rows, kBlock, [&](std::size_t begin, std::size_t end) {
        std::array<double, kTile> values;
        double sum = 0.0;
        for (std::size_t first = begin; first < end; first += kTile) {
            const std::size_t n = std::min(kTile, end - first);
            fill(first, n, values.data());
            for (std::size_t i = 0; i < n && !weights.empty(); ++i) values[i] *= weights[first + i];
            for (std::size_t i = 0; i < n; ++i) sum += values[i];
        }
        of_block[begin / kBlock] = sum;
    });
    double total = 0.0;
    for (const double sum : of_block) total += sum;
    return total;
}

/// Largest limits of each output over all blocks; blocks one after the other, n_outputs each.
std::vector<DerivativeLimits> largest_of(std::span<const DerivativeLimits> of_block,
                                         std::size_t n_outputs) {
    // NaN wins: `a < b` would depend on the order.
    const auto larger = [](float a, float b) { return a >= b || a != a ? a : b; };
    std::vector<DerivativeLimits> most(n_outputs);
    for (std::size_t i = 0; i < of_block.size(); ++i) {
        DerivativeLimits& limits = most[i % n_outputs];
        limits = {larger(limits.gradient, of_block[i].gradient),
                  larger(limits.hessian, of_block[i].hessian)};
    }
    return most;
}

void check_lengths(bool fits) {
    if (!fits) throw Failure(FailureKind::kInvalidInput, "targets and scores differ in length");
}

}  // namespace

LossKind parse_loss(std::string_view name) {
    const auto found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end()) {
        throw Failure(FailureKind::kInvalidParameter, "unknown loss: " + std::string(name));
    }
    return static_cast<LossKind>(found - kNames.begin());
}

bool has_constant_hessian(const LossSpec& loss) { return loss.kind <= LossKind::kQuantile; }

DerivativeLimits fill_derivatives(const LossSpec& loss, const RowTargets& y,
                                  std::span<const double> scores, std::span<float> gradients,
                                  std::span<float> hessians, int n_threads) {
    const bool constant = has_constant_hessian(loss);
    check_lengths(scores.size() == y.size() && gradients.size() == y.size() &&
                  (hessians.size() == y.size() || (constant && hessians.empty())));
    if (constant) std::fill(hessians.begin(), hessians.end(), 1.0F);
    DerivativeKernel* kernel = SPINNEY_KERNEL(derivatives);
    std::vector<DerivativeLimits> of_part((y.size() + kPart - 1) / kPart);
    parallel_blocks(n_threads, y.size(), kBlock, [&](std::size_t begin, std::size_t end) {
        std::array<double, kPart> room;
        for (std::size_t i = begin; i < end; i += kPart) {
            const std::size_t n = std::min(kPart, end - i);
            of_part[i / kPart] =
                kernel({loss, y.some(i, n, room.data()), scores.data() + i, gradients.data() + i,
                        constant ? nullptr : hessians.data() + i, n});
        }
    });
    return largest_of(of_part, 1).front();
}

std::vector<DerivativeLimits> fill_softmax_derivatives(std::span<const std::int32_t> codes,
                                                       std::span<const double> scores,
                                                       std::size_t n_classes,
                                                       std::span<float> gradients,
                                                       std::span<float> hessians, int n_threads) {
    const std::size_t n_rows = codes.size();
    check_lengths(n_classes > 0 && scores.size() == n_rows * n_classes &&
                  gradients.size() == scores.size() && hessians.size() == scores.size());
    SoftmaxKernel* kernel = SPINNEY_KERNEL(softmax_derivatives);
    std::vector<DerivativeLimits> of_block((n_rows + kSoftmaxBlock - 1) / kSoftmaxBlock *
                                           n_classes);
    parallel_blocks(n_threads, n_rows, kSoftmaxBlock, [&](std::size_t begin, std::size_t end) {
        std::vector<double> buffer(n_classes * kSoftmaxRows);
        for (std::size_t i = begin; i < end; i += kSoftmaxRows) {
            kernel({codes.data() + i, scores.data() + i, gradients.data() + i, hessians.data() + i,
                    n_rows, n_classes, std::min(kSoftmaxRows, end - i), buffer.data(),
                    of_block.data() + begin / kSoftmaxBlock * n_classes});
        }
    });
    return largest_of(of_block, n_classes);
}

double sum_loss(const LossSpec& loss, const RowTargets& y, std::span<const double> scores,
                std::span<const double> weights, int n_threads) {
    check_lengths(scores.size() == y.size() && (weights.empty() || weights.size() == y.size()));
    LossValuesKernel* kernel = SPINNEY_KERNEL(loss_values);
    const auto fill = [&](std::size_t begin, std::size_t n, double* values) {
        std::array<double, kTile> room;
        kernel({loss, y.some(begin, n, room.data()), scores.data() + begin, values, n});
    };
    return sum_in_blocks(y.size(), weights, n_threads, fill);
}

double sum_softmax_loss(std::span<const std::int32_t> codes, std::span<const double> scores,
                        std::size_t n_classes, std::span<const double> weights, int n_threads) {
    const std::size_t n_rows = codes.size();
    check_lengths(n_classes > 0 && scores.size() == n_rows * n_classes &&
                  (weights.empty() || weights.size() == n_rows));
    SoftmaxValuesKernel* kernel = SPINNEY_KERNEL(softmax_values);
    const auto fill = [&](std::size_t begin, std::size_t n, double* values) {
        std::vector<double> buffer(n_classes * kSoftmaxRows);
        for (std::size_t i = 0; i < n; i += kSoftmaxRows) {
            const std::size_t first = begin + i;
            kernel({codes.data() + first, scores.data() + first, nullptr, nullptr, n_rows,
                    n_classes, std::min(kSoftmaxRows, n - i), buffer.data(), nullptr},
                   values + i);
        }
    };
    return sum_in_blocks(n_rows, weights, n_threads, fill);
}

}  // namespace spinney
