// The loop over rows, included by one file per instruction set with NAME(x) = x_<isa>. Formulas are
// additions, multiplications and divisions in a fixed order, without contraction: every vector
// width gives the same bits.

namespace spinney {
namespace {

template <class Loss>
void fill(const DerivativeTask& task, const Loss& loss) {
    const double* __restrict y = task.y;
    const double* __restrict scores = task.scores;
    float* __restrict gradients = task.gradients;
    float* __restrict hessians = task.hessians;
    const std::size_t n = task.n;
    for (std::size_t i = 0; i < n; ++i) {
        const Derivatives at = loss.derivatives(y[i], scores[i]);
        gradients[i] = static_cast<float>(at.gradient);
        hessians[i] = static_cast<float>(at.hessian);
    }
}

}  // namespace

void NAME(derivatives)(const DerivativeTask& task) {
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
}

}  // namespace spinney
