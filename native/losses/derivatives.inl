// The loop over rows, included by one file per instruction set with NAME(x) = x_<isa>. Formulas are
// additions, multiplications and divisions in a fixed order, without contraction: every vector
// width gives the same bits.

namespace spinney {
namespace {

/// Magnitudes of floats compare as their bits without the sign do, and integer maxima become
/// vectors without a promise about NaN. A NaN is above infinity: it shows in the limit.
[[gnu::always_inline]] inline std::int32_t magnitude(float value) {
    return std::bit_cast<std::int32_t>(value) & 0x7FFFFFFF;
}

[[gnu::always_inline]] inline std::int32_t larger(std::int32_t a, std::int32_t b) {
    return a > b ? a : b;
}

template <class Loss>
DerivativeLimits fill(const DerivativeTask& task, const Loss& loss) {
    const double* __restrict y = task.y;
    const double* __restrict scores = task.scores;
    float* __restrict gradients = task.gradients;
    float* __restrict hessians = task.hessians;
    std::int32_t most_gradient = 0;
    std::int32_t most_hessian = Loss::kHessianIsOne ? magnitude(1.0F) : 0;
    const std::size_t n = task.n;
    for (std::size_t i = 0; i < n; ++i) {
        const Derivatives at = loss.derivatives(y[i], scores[i]);
        gradients[i] = static_cast<float>(at.gradient);
        most_gradient = larger(most_gradient, magnitude(static_cast<float>(at.gradient)));
        if constexpr (!Loss::kHessianIsOne) {
            hessians[i] = static_cast<float>(at.hessian);
            most_hessian = larger(most_hessian, magnitude(static_cast<float>(at.hessian)));
        }
    }
    return {std::bit_cast<float>(most_gradient), std::bit_cast<float>(most_hessian)};
}

/// Scores of one class after the other, so that the loops below run over rows; gives the largest
/// of each row.
void turn_scores(const SoftmaxTask& task, double* __restrict largest) {
    const std::size_t n = task.n;
    for (std::size_t k = 0; k < task.n_classes; ++k) {
        const double* __restrict scores = task.scores + k;
        double* __restrict turned = task.buffer + k * kSoftmaxRows;
        for (std::size_t i = 0; i < n; ++i) {
            const double score = scores[i * task.n_classes];
            turned[i] = score;
            largest[i] = k == 0 || score > largest[i] ? score : largest[i];
        }
    }
}

/// e^(score - largest), and one over their sum: classes are added in their order.
void exponentiate(const SoftmaxTask& task, const double* __restrict largest,
                  double* __restrict inverse) {
    const std::size_t n = task.n;
    for (std::size_t i = 0; i < n; ++i) inverse[i] = 0.0;
    for (std::size_t k = 0; k < task.n_classes; ++k) {
        double* __restrict e = task.buffer + k * kSoftmaxRows;
        for (std::size_t i = 0; i < n; ++i) {
            e[i] = exact_exp(e[i] - largest[i]);
            inverse[i] += e[i];
        }
    }
    for (std::size_t i = 0; i < n; ++i) inverse[i] = 1.0 / inverse[i];
}

DerivativeLimits fill_class(const SoftmaxTask& task, std::size_t k, const double* __restrict code,
                            const double* __restrict inverse) {
    const double* __restrict e = task.buffer + k * kSoftmaxRows;
    float* __restrict gradients = task.gradients + k * task.stride;
    float* __restrict hessians = task.hessians + k * task.stride;
    const auto this_class = static_cast<double>(k);
    std::int32_t most_gradient = 0;
    std::int32_t most_hessian = 0;
    const std::size_t n = task.n;
    for (std::size_t i = 0; i < n; ++i) {
        const double p = e[i] * inverse[i];
        const auto gradient = static_cast<float>(p - (code[i] == this_class ? 1.0 : 0.0));
        const auto hessian = static_cast<float>(p * (1.0 - p));
        gradients[i] = gradient;
        hessians[i] = hessian;
        most_gradient = larger(most_gradient, magnitude(gradient));
        most_hessian = larger(most_hessian, magnitude(hessian));
    }
    return {std::bit_cast<float>(most_gradient), std::bit_cast<float>(most_hessian)};
}

/// The larger of two magnitudes; NaN if one is.
[[gnu::always_inline]] inline float larger_of(float a, float b) {
    return std::bit_cast<float>(larger(magnitude(a), magnitude(b)));
}

}  // namespace

DerivativeLimits NAME(derivatives)(const DerivativeTask& task) {
    const double parameter = task.loss.parameter;
    switch (task.loss.kind) {
        case LossKind::kSquared:
            return fill(task, SquaredLoss{});
        case LossKind::kAbsolute:
            return fill(task, AbsoluteLoss{});
        case LossKind::kHuber:
            return fill(task, HuberLoss{parameter});
        case LossKind::kQuantile:
            return fill(task, QuantileLoss{parameter});
        case LossKind::kPoisson:
            return fill(task, PoissonLoss{});
        case LossKind::kGamma:
            return fill(task, GammaLoss{});
        case LossKind::kTweedie:
            return fill(task, TweedieLoss{parameter});
        case LossKind::kLogistic:
            return fill(task, LogisticLoss{});
        case LossKind::kExponential:
            return fill(task, ExponentialLoss{});
    }
    return {};
}

void NAME(softmax_derivatives)(const SoftmaxTask& task) {
    double largest[kSoftmaxRows];
    double inverse[kSoftmaxRows];
    turn_scores(task, largest);
    exponentiate(task, largest, inverse);
    double* code = largest;  // as numbers of the same width as the rest; the maxima are used up
    for (std::size_t i = 0; i < task.n; ++i) code[i] = static_cast<double>(task.codes[i]);
    for (std::size_t k = 0; k < task.n_classes; ++k) {
        const DerivativeLimits found = fill_class(task, k, code, inverse);
        DerivativeLimits& limits = task.limits[k];
        limits = {larger_of(limits.gradient, found.gradient),
                  larger_of(limits.hessian, found.hessian)};
    }
}

}  // namespace spinney
