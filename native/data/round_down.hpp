/// Thresholds in the type of the numbers they are compared with.
#pragma once

#include <cmath>
#include <limits>

namespace spinney {

/// The largest T that is not above the threshold: for every x of type T, x <= threshold and x <=
/// round_down(threshold) are the same.
template <class T>
T round_down(double threshold) {
    const auto rounded = static_cast<T>(threshold);
    const bool is_above = static_cast<double>(rounded) > threshold;
    return is_above ? std::nextafter(rounded, -std::numeric_limits<T>::infinity()) : rounded;
}

}  // namespace spinney
