#include "native/explain/quadrature.hpp"

#include <numbers>

namespace spinney {
namespace {

/// Cosine of an angle in [0, pi / 2], to ten digits: where Newton's method begins.
double rough_cosine(double angle) {
    double term = 1.0;
    double sum = 1.0;
    for (int k = 1; k <= 9; ++k) {
        term *= -angle * angle / (2.0 * k * (2.0 * k - 1.0));
        sum += term;
    }
    return sum;
}

struct Legendre {
    double value;
    double slope;
};

/// The polynomial of degree n at x by its three-term recurrence; |x| < 1.
Legendre legendre(std::size_t n, double x) {
    double before = 1.0;
    double value = x;
    for (std::size_t k = 2; k <= n; ++k) {
        const auto degree = static_cast<double>(k);
        const double next = ((2.0 * degree - 1.0) * x * value - (degree - 1.0) * before) / degree;
        before = value;
        value = next;
    }
    return {value, static_cast<double>(n) * (x * value - before) / (x * x - 1.0)};
}

}  // namespace

Quadrature gauss_legendre(std::size_t n) {
    Quadrature rule{std::vector<double>(n), std::vector<double>(n)};
    const auto degree = static_cast<double>(n);
    for (std::size_t i = 0; i < (n + 1) / 2; ++i) {
        // The roots lie symmetrically; these are the non-negative ones, the largest first.
        double x =
            rough_cosine(std::numbers::pi * (static_cast<double>(i) + 0.75) / (degree + 0.5));
        for (int step = 0; step < 6; ++step) {
            const Legendre at = legendre(n, x);
            x -= at.value / at.slope;
        }
        if (2 * i + 1 == n) x = 0.0;
        const double slope = legendre(n, x).slope;
        rule.at[i] = (1.0 - x) / 2.0;
        rule.at[n - 1 - i] = (1.0 + x) / 2.0;
        rule.weight[i] = rule.weight[n - 1 - i] = 1.0 / ((1.0 - x * x) * slope * slope);
    }
    return rule;
}

}  // namespace spinney
