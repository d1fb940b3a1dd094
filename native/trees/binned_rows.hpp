/// What a tree is grown from: bins, and for each row an exact integer weight and target sums.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace spinney {

/// Everything is an integer, so sums do not depend on the order of rows, threads or machines.
/// The caller chooses the scales so that no sum over all rows can leave 62 bits.
struct BinnedRows {
    std::size_t n_rows = 0;
    std::size_t n_features = 0;
    std::size_t n_outputs = 1;
    std::span<const std::uint8_t> bins;          ///< row-major
    std::span<const std::int32_t> n_value_bins;  ///< per feature; missing is the bin behind them
    std::span<const std::uint8_t> categorical;   ///< per feature
    std::span<const std::int64_t> targets;       ///< row-major n_rows * n_outputs: weight * target
    std::span<const std::int64_t> weights;       ///< per row, at least 1
    double target_scale = 1.0;  ///< target = integer * target_scale, a power of two
    double weight_scale = 1.0;  ///< weight = integer * weight_scale, a power of two
    bool one_hot = false;       ///< targets are classes: one output per row

    /// Weighted squared error in integer units; targets beyond 1e150 or below 1e-150 have squares
    /// that leave the range of double, so both directions stay within it.
    double gain_in_units(double gain) const {
        return gain > 0 ? std::min(gain / gain_unit(), kLargestGain) : 0.0;
    }
    double real_gain(double units) const { return std::min(units * gain_unit(), kLargestGain); }

  private:
    static constexpr double kLargestGain = 1e300;  ///< the sum over many nodes still fits

    double gain_unit() const { return target_scale * target_scale / weight_scale; }
};

}  // namespace spinney
