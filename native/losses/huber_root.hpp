/// The minimum of the weighted Huber loss over one constant.
#pragma once

#include <cstdint>
#include <span>

namespace spinney {

/// The c where sum of w * clip(r - c, -delta, delta) is 0; the middle where that is an interval.
///
/// The sum falls with c and is linear between r +- delta. The root is within delta of the median,
/// so residuals further than 2 delta from it are always clipped and an outlier of any size costs
/// no digits. Integers: neither order nor repetition of rows changes the result. Weights positive,
/// their sum below 2^62; empty: all 1. A handful of passes over the rows, at most about 190.
double huber_root(std::span<const double> residuals, std::span<const std::int64_t> weights,
                  double median, double delta);

}  // namespace spinney
