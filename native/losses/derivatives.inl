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

/// Rows of a tile: its buffers stay in the first-level cache.
constexpr std::size_t kTile = 256;
static_assert(kSoftmaxRows <= kTile);

/// exponentials[i] = e^exponent(i). In two loops: a processor looks some hundred instructions
/// ahead, and shorter chains of dependent ones leave it more of them to choose from.
template <class Exponent>
[[gnu::always_inline]] inline void exponentiate_tile(const Exponent& exponent, std::size_t n,
                                                     double* exponentials) {
    double powers[kTile];
    for (std::size_t i = 0; i < n; ++i) {
        const ReducedExponent reduced = reduce_exponent(exponent(i));
        exponentials[i] = reduced.rest;
        powers[i] = reduced.power;
    }
    for (std::size_t i = 0; i < n; ++i) exponentials[i] = exp_of({exponentials[i], powers[i]});
}

/// Whether a loss leaves its one exponential to the loop.
template <class Loss>
concept Exponential = requires(Loss loss) { loss.exponent(0.0, 0.0); };

struct Largest {
    std::int32_t gradient = 0;
    std::int32_t hessian = 0;
};

template <class Loss>
[[gnu::always_inline]] inline void fill_tile(const DerivativeTask& task, const Loss& loss,
                                             std::size_t first, std::size_t n, Largest& largest) {
    const double* __restrict y = task.y + first;
    const double* __restrict scores = task.scores + first;
    float* __restrict gradients = task.gradients + first;
    float* __restrict hessians = Loss::kHessianIsOne ? nullptr : task.hessians + first;
    double exponentials[kTile];
    if constexpr (Exponential<Loss>) {
        exponentiate_tile([&](std::size_t i) { return loss.exponent(y[i], scores[i]); }, n,
                          exponentials);
    }
    Largest most = largest;
    for (std::size_t i = 0; i < n; ++i) {
        Derivatives at;
        if constexpr (Exponential<Loss>) {
            at = loss.derivatives(y[i], scores[i], exponentials[i]);
        } else {
            at = loss.derivatives(y[i], scores[i]);
        }
        gradients[i] = static_cast<float>(at.gradient);
        most.gradient = larger(most.gradient, magnitude(static_cast<float>(at.gradient)));
        if constexpr (!Loss::kHessianIsOne) {
            hessians[i] = static_cast<float>(at.hessian);
            most.hessian = larger(most.hessian, magnitude(static_cast<float>(at.hessian)));
        }
    }
    largest = most;
}

template <class Loss>
DerivativeLimits fill(const DerivativeTask& task, const Loss& loss) {
    Largest largest;
    if constexpr (Loss::kHessianIsOne) largest.hessian = magnitude(1.0F);
    for (std::size_t first = 0; first < task.n; first += kTile) {
        const std::size_t left = task.n - first;
        fill_tile(task, loss, first, left < kTile ? left : kTile, largest);
    }
    return {std::bit_cast<float>(largest.gradient), std::bit_cast<float>(largest.hessian)};
}

/// Calls work(formula of the loss): the loss is chosen outside of loops, so that they become
/// vectors.
template <class Work>
[[gnu::always_inline]] inline DerivativeLimits with_formula(const LossSpec& loss,
                                                            const Work& work) {
    switch (loss.kind) {
        case LossKind::kSquared:
            return work(SquaredLoss{});
        case LossKind::kAbsolute:
            return work(AbsoluteLoss{});
        case LossKind::kHuber:
            return work(HuberLoss{loss.parameter});
        case LossKind::kQuantile:
            return work(QuantileLoss{loss.parameter});
        case LossKind::kPoisson:
            return work(PoissonLoss{});
        case LossKind::kGamma:
            return work(GammaLoss{});
        case LossKind::kTweedie:
            return work(TweedieLoss{loss.parameter});
        case LossKind::kLogistic:
            return work(LogisticLoss{});
        case LossKind::kExponential:
            return work(ExponentialLoss{});
    }
    return {};
}

/// The largest score of each row.
void find_largest(const SoftmaxTask& task, double* __restrict largest) {
    const std::size_t n = task.n;
    for (std::size_t i = 0; i < n; ++i) largest[i] = task.scores[i];
    for (std::size_t k = 1; k < task.n_classes; ++k) {
        const double* __restrict scores = task.scores + k * task.stride;
        for (std::size_t i = 0; i < n; ++i) {
            largest[i] = scores[i] > largest[i] ? scores[i] : largest[i];
        }
    }
}

/// e^(score - largest), and their sum: classes are added in their order.
void exponentiate(const SoftmaxTask& task, const double* __restrict largest,
                  double* __restrict sum) {
    const std::size_t n = task.n;
    for (std::size_t i = 0; i < n; ++i) sum[i] = 0.0;
    for (std::size_t k = 0; k < task.n_classes; ++k) {
        const double* __restrict scores = task.scores + k * task.stride;
        double* __restrict e = task.buffer + k * kSoftmaxRows;
        exponentiate_tile([&](std::size_t i) { return scores[i] - largest[i]; }, n, e);
        for (std::size_t i = 0; i < n; ++i) sum[i] += e[i];
    }
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
    return with_formula(task.loss, [&](const auto& formula) { return fill(task, formula); });
}

void NAME(loss_values)(const LossValuesTask& task) {
    const double* __restrict y = task.y;
    const double* __restrict scores = task.scores;
    double* __restrict values = task.values;
    with_formula(task.loss, [&](const auto& formula) {
        for (std::size_t i = 0; i < task.n; ++i) values[i] = formula.value(y[i], scores[i]);
        return DerivativeLimits{};
    });
}

void NAME(softmax_derivatives)(const SoftmaxTask& task) {
    double largest[kSoftmaxRows] = {};
    double inverse[kSoftmaxRows];
    find_largest(task, largest);
    exponentiate(task, largest, inverse);
    for (std::size_t i = 0; i < task.n; ++i) inverse[i] = 1.0 / inverse[i];
    double* code = largest;  // as numbers of the same width as the rest; the maxima are used up
    for (std::size_t i = 0; i < task.n; ++i) code[i] = static_cast<double>(task.codes[i]);
    for (std::size_t k = 0; k < task.n_classes; ++k) {
        const DerivativeLimits found = fill_class(task, k, code, inverse);
        DerivativeLimits& limits = task.limits[k];
        limits = {larger_of(limits.gradient, found.gradient),
                  larger_of(limits.hessian, found.hessian)};
    }
}

void NAME(softmax_values)(const SoftmaxTask& task, double* __restrict values) {
    double largest[kSoftmaxRows] = {};
    double sum[kSoftmaxRows];
    find_largest(task, largest);
    exponentiate(task, largest, sum);
    for (std::size_t i = 0; i < task.n; ++i) values[i] = exact_log(sum[i]) + largest[i];
    for (std::size_t i = 0; i < task.n; ++i) {
        values[i] -= task.scores[static_cast<std::size_t>(task.codes[i]) * task.stride + i];
    }
}

}  // namespace spinney
