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

constexpr std::array<std::string_view, 9> kNames = {"squared",  "absolute", "huber",
                                                    "quantile", "poisson",  "gamma",
                                                    "tweedie",  "logistic", "exponential"};

DerivativeKernel* active_kernel() {
#if defined(__x86_64__) && defined(__GNUC__)
    return pick<DerivativeKernel>(derivatives_portable, derivatives_avx2, derivatives_avx512);
#else
    return derivatives_portable;
#endif
}

double value_of(const LossSpec& loss, double y, double score) {
    switch (loss.kind) {
        case LossKind::kSquared:
            return SquaredLoss{}.value(y, score);
        case LossKind::kAbsolute:
            return AbsoluteLoss{}.value(y, score);
        case LossKind::kHuber:
            return HuberLoss{loss.parameter}.value(y, score);
        case LossKind::kQuantile:
            return QuantileLoss{loss.parameter}.value(y, score);
        case LossKind::kPoisson:
            return PoissonLoss{}.value(y, score);
        case LossKind::kGamma:
            return GammaLoss{}.value(y, score);
        case LossKind::kTweedie:
            return TweedieLoss{loss.parameter}.value(y, score);
        case LossKind::kLogistic:
            return LogisticLoss{}.value(y, score);
        case LossKind::kExponential:
            return ExponentialLoss{}.value(y, score);
    }
    return 0.0;
}

/// Adds of_row(i) in blocks of fixed size, blocks in their order.
template <class OfRow>
double sum_in_blocks(std::size_t n_rows, int n_threads, const OfRow& of_row) {
    std::vector<double> of_block((n_rows + kBlock - 1) / kBlock, 0.0);
    parallel_blocks(n_threads, n_rows, kBlock, [&](std::size_t begin, std::size_t end) {
        double sum = 0.0;
        for (std::size_t i = begin; i < end; ++i) sum += of_row(i);
        of_block[begin / kBlock] = sum;
    });
    double total = 0.0;
    for (const double sum : of_block) total += sum;
    return total;
}

/// Largest score of a row, and the sum of e^(score - largest).
std::pair<double, double> softmax_parts(const double* scores, std::size_t n_classes) {
    const double most = *std::max_element(scores, scores + n_classes);
    double sum = 0.0;
    for (std::size_t k = 0; k < n_classes; ++k) sum += exact_exp(scores[k] - most);
    return {most, sum};
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

void fill_derivatives(const LossSpec& loss, std::span<const double> y,
                      std::span<const double> scores, std::span<float> gradients,
                      std::span<float> hessians, int n_threads) {
    check_lengths(scores.size() == y.size() && gradients.size() == y.size() &&
                  hessians.size() == y.size());
    DerivativeKernel* kernel = active_kernel();
    parallel_blocks(n_threads, y.size(), kBlock, [&](std::size_t begin, std::size_t end) {
        kernel({loss, y.data() + begin, scores.data() + begin, gradients.data() + begin,
                hessians.data() + begin, end - begin});
    });
}

void fill_softmax_derivatives(std::span<const std::int32_t> codes, std::span<const double> scores,
                              std::size_t n_classes, std::span<float> gradients,
                              std::span<float> hessians, int n_threads) {
    const std::size_t n_rows = codes.size();
    check_lengths(n_classes > 0 && scores.size() == n_rows * n_classes &&
                  gradients.size() == scores.size() && hessians.size() == scores.size());
    parallel_blocks(n_threads, n_rows, kBlock / 8, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const double* row = scores.data() + i * n_classes;
            const auto [most, sum] = softmax_parts(row, n_classes);
            for (std::size_t k = 0; k < n_classes; ++k) {
                const double p = exact_exp(row[k] - most) / sum;
                const double hit = codes[i] == static_cast<std::int32_t>(k) ? 1.0 : 0.0;
                gradients[k * n_rows + i] = static_cast<float>(p - hit);
                hessians[k * n_rows + i] = static_cast<float>(p * (1.0 - p));
            }
        }
    });
}

double sum_loss(const LossSpec& loss, std::span<const double> y, std::span<const double> scores,
                std::span<const double> weights, int n_threads) {
    check_lengths(scores.size() == y.size() && (weights.empty() || weights.size() == y.size()));
    return sum_in_blocks(y.size(), n_threads, [&](std::size_t i) {
        return (weights.empty() ? 1.0 : weights[i]) * value_of(loss, y[i], scores[i]);
    });
}

double sum_softmax_loss(std::span<const std::int32_t> codes, std::span<const double> scores,
                        std::size_t n_classes, std::span<const double> weights, int n_threads) {
    const std::size_t n_rows = codes.size();
    check_lengths(n_classes > 0 && scores.size() == n_rows * n_classes &&
                  (weights.empty() || weights.size() == n_rows));
    return sum_in_blocks(n_rows, n_threads, [&](std::size_t i) {
        const double* row = scores.data() + i * n_classes;
        const auto [most, sum] = softmax_parts(row, n_classes);
        const double value = exact_log(sum) + most - row[codes[i]];
        return (weights.empty() ? 1.0 : weights[i]) * value;
    });
}

}  // namespace spinney
