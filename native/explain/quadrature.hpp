/// Gauss-Legendre rules on [0, 1].
#pragma once

#include <cstddef>
#include <vector>

namespace spinney {

/// The integral over [0, 1] of every polynomial of degree below 2n is the weighted sum of its
/// values at n points; points increase, all weights are positive.
struct Quadrature {
    std::vector<double> at;
    std::vector<double> weight;
};

/// O(n * n). Only additions, multiplications and divisions: the same bits on every machine.
Quadrature gauss_legendre(std::size_t n);

}  // namespace spinney
