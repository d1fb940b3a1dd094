// The loops of gradient_scan.hpp, included by one file per instruction set with NAME(x) = x_<isa>
// and LANES doubles per vector. Every lane does the same operations in the same order, so every
// instruction set gives the same bits.

namespace spinney {
namespace {

#if defined(__GNUC__)
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double))));
constexpr std::size_t kLanes = LANES;
#else
using Lanes = double;
constexpr std::size_t kLanes = 1;
#endif

constexpr std::uint64_t kTwoTo52Bits = 0x4330000000000000U;  // the bits of 2^52
constexpr double kTwoTo52 = 0x1p52;
constexpr std::uint64_t kBalancedBits = 0x4338000000000000U;  // the bits of 1.5 * 2^52
constexpr double kBalanced = 0x1.8p52;

/// An integer below 2^52 as a double, by putting it into the low bits of 2^52.
[[gnu::always_inline]] inline double as_double(std::uint64_t integer) {
    return __builtin_bit_cast(double, integer | kTwoTo52Bits) - kTwoTo52;
}
/// The same for integers of either sign, below 2^51 in absolute value.
[[gnu::always_inline]] inline double as_double(std::int64_t integer) {
    return __builtin_bit_cast(double, static_cast<std::uint64_t>(integer) + kBalancedBits) -
           kBalanced;
}

/// The fields of a packed word.
struct Fields {
    int gradient_shift;
    int hessian_shift;
    std::uint64_t count_mask;
    std::uint64_t hessian_mask;
    std::uint64_t bias;  ///< the signed field, moved by half its range, is an unsigned one

    explicit Fields(const Packing& packing)
        : gradient_shift(packing.gradient_shift),
          hessian_shift(packing.hessian_shift),
          count_mask((std::uint64_t{1} << hessian_shift) - 1),
          hessian_mask((std::uint64_t{1} << (gradient_shift - hessian_shift)) - 1),
          bias(std::uint64_t{1} << (63 - gradient_shift)) {}

    [[gnu::always_inline]] std::uint64_t count(std::uint64_t word) const {
        return word & count_mask;
    }
    [[gnu::always_inline]] std::uint64_t hessian(std::uint64_t word) const {
        return (word >> hessian_shift) & hessian_mask;
    }
    [[gnu::always_inline]] std::uint64_t biased_gradient(std::uint64_t word) const {
        return (word >> gradient_shift) ^ bias;
    }
};

[[gnu::always_inline]] inline Lanes load(const double* from) {
    Lanes lanes;
    __builtin_memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

/// Soft threshold: towards zero by l1.
[[gnu::always_inline]] inline Lanes shrink(Lanes g, double l1) {
    const Lanes size = (g < 0.0 ? -g : g) - l1;
    const Lanes kept = size > 0.0 ? size : size * 0.0;
    return g < 0.0 ? -kept : kept;
}

/// Each lane looks at every kLanes-th cut; the lowest of the best is found at the end.
template <bool kHasL1>
[[gnu::always_inline]] inline Cut best_of(const RunningSums& sums, std::size_t first,
                                          std::size_t last, const CutTerms& given) {
    const CutTerms at = given;
    Lanes index = {};
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        reinterpret_cast<double*>(&index)[lane] = static_cast<double>(first + lane);
    }
    const auto end = static_cast<double>(last);
    Lanes best = index * 0.0 - 1.0;
    Lanes best_index = index;
    for (std::size_t i = first; i < last; i += kLanes) {
        const Lanes left_g = load(sums.gradient + i) + at.extra_gradient;
        const Lanes left_h = load(sums.hessian + i) + at.extra_hessian;
        const Lanes right_g = at.gradient - left_g;
        const Lanes a = kHasL1 ? shrink(left_g, at.l1) : left_g;
        const Lanes b = kHasL1 ? shrink(right_g, at.l1) : right_g;
        const Lanes c = left_h + at.l2;
        const Lanes d = (at.hessian - left_h) + at.l2;
        const Lanes cross = a * d - b * c;
        const Lanes curvature = c * d;
        Lanes quality = cross * cross / curvature;
        if constexpr (kHasL1) quality += (a + b) * (a + b);
        const auto is_better = (curvature > 0.0) & (index < end) & (quality > best);
        best = is_better ? quality : best;
        best_index = is_better ? index : best_index;
        index += static_cast<double>(kLanes);
    }
    Cut cut;
    double bin = 0.0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const double quality = reinterpret_cast<const double*>(&best)[lane];
        const double of_lane = reinterpret_cast<const double*>(&best_index)[lane];
        if (quality > cut.quality || (quality == cut.quality && of_lane < bin)) {
            cut.quality = quality;
            bin = of_lane;
        }
    }
    cut.bin = static_cast<std::size_t>(bin);
    return cut;
}

}  // namespace

void NAME(flush_cells)(std::uint64_t* cells, std::size_t n, const Packing& packing,
                       const WideCells& to) {
    const Fields fields(packing);
    std::int64_t* __restrict gradient = to.gradient;
    std::int64_t* __restrict weight = to.weight;
    const auto half = static_cast<std::int64_t>(fields.bias);
    std::uint64_t* __restrict from = cells;
    if (packing.hessian_bits == 0) {
        for (std::size_t i = 0; i < n; ++i) {
            gradient[i] += static_cast<std::int64_t>(fields.biased_gradient(from[i])) - half;
            weight[i] += static_cast<std::int64_t>(fields.count(from[i]));
            from[i] = 0;
        }
        return;
    }
    std::int64_t* __restrict hessian = to.hessian;
    for (std::size_t i = 0; i < n; ++i) {
        gradient[i] += static_cast<std::int64_t>(fields.biased_gradient(from[i])) - half;
        hessian[i] += static_cast<std::int64_t>(fields.hessian(from[i]));
        weight[i] += static_cast<std::int64_t>(fields.count(from[i]));
        from[i] = 0;
    }
}

void NAME(run_packed)(const std::uint64_t* cells, std::size_t n, const Packing& packing,
                      const ScanScales& scales, RunningSums& sums) {
    // The fields of a sum of cells hold at most what the node's rows add up to: no overflow.
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sums.packed[i] = sum += cells[i];
    const Fields fields(packing);
    const ScanScales scale = scales;
    const auto half = static_cast<double>(fields.bias);
    const bool counts = packing.hessian_bits == 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t word = sums.packed[i];
        const double count = as_double(fields.count(word));
        const double hessian = as_double(fields.hessian(word));
        sums.gradient[i] = (as_double(fields.biased_gradient(word)) - half) * scale.gradient;
        sums.hessian[i] = (counts ? count : hessian) * scale.hessian;
        sums.weight[i] = count * scale.weight;
    }
}

void NAME(run_wide)(const WideCells& cells, std::size_t n, const ScanScales& scales,
                    RunningSums& sums) {
    GradientSums sum;
    for (std::size_t i = 0; i < n; ++i) {
        sums.wide_gradient[i] = sum.gradient += cells.gradient[i];
        sums.wide_hessian[i] = sum.hessian += cells.hessian[i];
        sums.wide_weight[i] = sum.weight += cells.weight[i];
    }
    const ScanScales scale = scales;
    for (std::size_t i = 0; i < n; ++i) {
        sums.gradient[i] = as_double(sums.wide_gradient[i]) * scale.gradient;
        sums.hessian[i] = as_double(sums.wide_hessian[i]) * scale.hessian;
        sums.weight[i] = as_double(sums.wide_weight[i]) * scale.weight;
    }
}

Cut NAME(best_cut)(const RunningSums& sums, std::size_t first, std::size_t last,
                   const CutTerms& terms) {
    return terms.l1 > 0.0 ? best_of<true>(sums, first, last, terms)
                          : best_of<false>(sums, first, last, terms);
}

}  // namespace spinney
