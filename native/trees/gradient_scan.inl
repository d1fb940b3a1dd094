// The loops of gradient_scan.hpp, included by one file per instruction set with NAME(x) = x_<isa>.
// The compiler makes vectors of them; every lane does the same operations in the same order, so
// every instruction set gives the same bits.

namespace spinney {
namespace {

constexpr std::uint64_t kTwoTo52Bits = 0x4330000000000000U;  // the bits of 2^52
constexpr double kTwoTo52 = 4503599627370496.0;

/// An integer below 2^52 as a double, by putting it into the low bits of 2^52.
[[gnu::always_inline]] inline double as_double(std::uint64_t integer) {
    return __builtin_bit_cast(double, integer | kTwoTo52Bits) - kTwoTo52;
}

/// Soft threshold: towards zero by l1.
[[gnu::always_inline]] inline double shrink(double g, double l1) {
    const double size = (g < 0.0 ? -g : g) - l1;
    const double kept = size > 0.0 ? size : 0.0;
    return g < 0.0 ? -kept : kept;
}

/// One cut. Kept apart from the loops so that both forms share it.
[[gnu::always_inline]] inline double cut_gain(const ScanLimits& at, double left_g, double left_h,
                                              double left_w, bool has_l1) {
    const double all_g = at.gradient - left_g;
    const double a = has_l1 ? shrink(left_g, at.l1) : left_g;
    const double b = has_l1 ? shrink(all_g, at.l1) : all_g;
    const double right_h = at.hessian - left_h;
    const double right_w = at.weight - left_w;
    const double c = left_h + at.l2;
    const double d = right_h + at.l2;
    const double total = at.hessian + 2.0 * at.l2;
    // a^2/c + b^2/d = (a d - b c)^2 / (c d (c + d)) + (a + b)^2 / (c + d): the second term is the
    // same for every cut unless l1 shrinks, so nothing large cancels.
    const double cross = a * d - b * c;
    double gain = cross * cross / (c * d * total) + at.offset;
    if (has_l1) gain += (a + b) * (a + b) / total;
    const double weight = left_w < right_w ? left_w : right_w;
    const double hessian = left_h < right_h ? left_h : right_h;
    const double curvature = c < d ? c : d;
    gain = weight >= at.min_weight ? gain : -1.0;
    gain = hessian >= at.min_hessian ? gain : -1.0;
    return curvature > 0.0 ? gain : -1.0;
}

}  // namespace

void NAME(unpack_sums)(const std::uint64_t* running, std::size_t n, const Packing& packing,
                       const ScanScales& scales, ScanSums& sums) {
    const int gradient_shift = packing.gradient_shift;
    const int hessian_shift = packing.hessian_shift;
    const std::uint64_t count_mask = (std::uint64_t{1} << hessian_shift) - 1;
    const std::uint64_t hessian_mask = (std::uint64_t{1} << (gradient_shift - hessian_shift)) - 1;
    // The signed field, moved by half its range, is an unsigned one.
    const std::uint64_t bias = std::uint64_t{1} << (63 - gradient_shift);
    const auto bias_value = static_cast<double>(bias);
    const bool counts = packing.hessian_bits == 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t word = running[i];
        const double count = as_double(word & count_mask);
        const double hessian = as_double((word >> hessian_shift) & hessian_mask);
        const double gradient = as_double((word >> gradient_shift) ^ bias) - bias_value;
        sums.gradient[i] = gradient * scales.gradient;
        sums.hessian[i] = (counts ? count : hessian) * scales.hessian;
        sums.weight[i] = count * scales.weight;
    }
}

void NAME(gain_of_cuts)(const ScanSums& sums, std::size_t n, const ScanLimits& limits,
                        double* gains) {
    const ScanLimits at = limits;  // a copy: stores through `gains` cannot change it
    if (at.l1 > 0.0) {
        for (std::size_t i = 0; i < n; ++i) {
            gains[i] = cut_gain(at, sums.gradient[i], sums.hessian[i], sums.weight[i], true);
        }
        return;
    }
    for (std::size_t i = 0; i < n; ++i) {
        gains[i] = cut_gain(at, sums.gradient[i], sums.hessian[i], sums.weight[i], false);
    }
}

}  // namespace spinney
