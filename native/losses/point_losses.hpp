/// Losses of one row: a formula each. Loops, threads and weights live elsewhere.
///
/// To add a loss: write its struct here, add it to LossKind (those without curvature first), to its
/// names in derivatives.cpp and to the switch in derivatives.inl, and give it a row in
/// src/spinney/losses/loss.py; the tests run over those rows. A loss with one exponential gives its
/// exponent() and leaves the exponential to the loop.
#pragma once

#include "native/base/elementary.hpp"

namespace spinney {

struct Derivatives {
    double gradient;
    double hessian;
};

#define SPINNEY_FORMULA [[gnu::always_inline]] inline

/// (s - y)^2 / 2.
struct SquaredLoss {
    static constexpr bool kHessianIsOne = true;
    SPINNEY_FORMULA Derivatives derivatives(double y, double s) const { return {s - y, 1.0}; }
    SPINNEY_FORMULA double value(double y, double s) const { return 0.5 * (s - y) * (s - y); }
};

/// |s - y|. The second derivative is zero; 1 turns the Newton step into a gradient step, and the
/// leaves are then set to the median of their residuals. The same holds for Huber and quantile.
struct AbsoluteLoss {
    static constexpr bool kHessianIsOne = true;
    SPINNEY_FORMULA Derivatives derivatives(double y, double s) const {
        return {s > y ? 1.0 : (s < y ? -1.0 : 0.0), 1.0};
    }
    SPINNEY_FORMULA double value(double y, double s) const { return s > y ? s - y : y - s; }
};

/// Squared up to delta, linear beyond.
struct HuberLoss {
    static constexpr bool kHessianIsOne = true;
    double delta;
    SPINNEY_FORMULA Derivatives derivatives(double y, double s) const {
        const double r = s - y;
        return {r > delta ? delta : (r < -delta ? -delta : r), 1.0};
    }
    SPINNEY_FORMULA double value(double y, double s) const {
        const double r = s > y ? s - y : y - s;
        return r <= delta ? 0.5 * r * r : delta * (r - 0.5 * delta);
    }
};

/// max(q * (y - s), (q - 1) * (y - s)).
struct QuantileLoss {
    static constexpr bool kHessianIsOne = true;
    double q;
    SPINNEY_FORMULA Derivatives derivatives(double y, double s) const {
        return {y >= s ? -q : 1.0 - q, 1.0};
    }
    SPINNEY_FORMULA double value(double y, double s) const {
        return y >= s ? q * (y - s) : (q - 1.0) * (y - s);
    }
};

/// e^s - y s, log link; half the Poisson deviance up to a term of y.
struct PoissonLoss {
    static constexpr bool kHessianIsOne = false;
    SPINNEY_FORMULA double exponent(double, double s) const { return s; }
    SPINNEY_FORMULA Derivatives derivatives(double y, double, double mean) const {
        return {mean - y, mean};
    }
    SPINNEY_FORMULA double value(double y, double s) const { return exact_exp(s) - y * s; }
};

/// s + y e^-s, log link; half the gamma deviance up to a term of y.
struct GammaLoss {
    static constexpr bool kHessianIsOne = false;
    SPINNEY_FORMULA double exponent(double, double s) const { return -s; }
    SPINNEY_FORMULA Derivatives derivatives(double y, double, double inverse) const {
        return {1.0 - y * inverse, y * inverse};
    }
    SPINNEY_FORMULA double value(double y, double s) const { return s + y * exact_exp(-s); }
};

/// e^((2-p)s)/(2-p) - y e^((1-p)s)/(1-p), log link, 1 < p < 2.
struct TweedieLoss {
    static constexpr bool kHessianIsOne = false;
    double power;
    SPINNEY_FORMULA Derivatives derivatives(double y, double s) const {
        const double a = exact_exp((1.0 - power) * s);
        const double b = exact_exp((2.0 - power) * s);
        return {b - y * a, (2.0 - power) * b - (1.0 - power) * y * a};
    }
    SPINNEY_FORMULA double value(double y, double s) const {
        const double a = exact_exp((1.0 - power) * s);
        const double b = exact_exp((2.0 - power) * s);
        return b / (2.0 - power) - y * a / (1.0 - power);
    }
};

/// ln(1 + e^s) - y s for y in {0, 1}.
struct LogisticLoss {
    static constexpr bool kHessianIsOne = false;
    // e^-|s| never overflows, and p (1 - p) keeps its digits in both tails.
    SPINNEY_FORMULA double exponent(double, double s) const { return -magnitude_of(s); }
    SPINNEY_FORMULA Derivatives derivatives(double y, double s, double small) const {
        const double inverse = 1.0 / (1.0 + small);
        const double other = small * inverse;
        return {(s < 0.0 ? other : inverse) - y, other * inverse};
    }
    SPINNEY_FORMULA double value(double y, double s) const {
        const double small = exact_exp(-magnitude_of(s));
        return (s > 0.0 ? s : 0.0) + exact_log(1.0 + small) - y * s;
    }
};

/// e^(-(2y - 1) s) for y in {0, 1}: AdaBoost's loss.
struct ExponentialLoss {
    static constexpr bool kHessianIsOne = false;
    SPINNEY_FORMULA double exponent(double y, double s) const { return -(2.0 * y - 1.0) * s; }
    SPINNEY_FORMULA Derivatives derivatives(double y, double, double loss) const {
        return {-(2.0 * y - 1.0) * loss, loss};
    }
    SPINNEY_FORMULA double value(double y, double s) const {
        return exact_exp(-(2.0 * y - 1.0) * s);
    }
};

}  // namespace spinney
