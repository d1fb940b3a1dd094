// The loop over the pairs of a query, included by one file per instruction set with NAME(x) =
// x_<isa>. Sums have eight lanes whatever the width of vectors is: every width gives the same bits.

namespace spinney {
namespace {

/// Pairs of a tile: its buffers stay in the first-level cache.
constexpr std::size_t kTile = 256;
constexpr std::size_t kLanes = 8;

/// Sum of n numbers, in lanes: number k belongs to lane k % 8.
[[gnu::always_inline]] inline double lane_sum(const double* __restrict numbers, std::size_t n) {
    double lanes[kLanes] = {};
    std::size_t k = 0;
    for (; k + kLanes <= n; k += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += numbers[k + lane];
    }
    for (std::size_t lane = 0; k + lane < n; ++lane) lanes[lane] += numbers[k + lane];
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

/// What a row gets from its pairs, and the sum of the magnitudes of their gradients.
struct PairSums {
    double gradient = 0.0;
    double hessian = 0.0;
    double magnitude = 0.0;
};

/// Pairs of row i with n <= kTile rows from `begin` on. The chance that the better row of a pair is
/// behind is p = 1 / (1 + e^(its lead)); the gradient of the pair is p * worth, downwards for the
/// better one.
template <bool kGains, bool kDistance>
[[gnu::always_inline]] inline void add_tile(const PairTask& task, std::size_t i, std::size_t begin,
                                            std::size_t n, PairSums& sums) {
    const double* __restrict scores = task.scores + begin;
    const double* __restrict labels = task.labels + begin;
    const double* __restrict gains = kGains ? task.gains + begin : nullptr;
    const double* __restrict inner = task.inner + begin;
    double* __restrict gradients = task.gradients + begin;
    double* __restrict hessians = task.hessians + begin;
    const double score = task.scores[i];
    const double label = task.labels[i];
    const double gain = kGains ? task.gains[i] : 0.0;
    const double outer = task.outer[i];
    const double scale = task.scale;
    double signs[kTile];
    double rests[kTile];
    double powers[kTile];
    for (std::size_t k = 0; k < n; ++k) {
        const double sign = (label > labels[k] ? 1.0 : 0.0) - (label < labels[k] ? 1.0 : 0.0);
        const ReducedExponent reduced = reduce_exponent(sign * (score - scores[k]));
        signs[k] = sign;
        rests[k] = reduced.rest;
        powers[k] = reduced.power;
    }
    double signed_slopes[kTile];
    double slopes[kTile];
    double curves[kTile];
    for (std::size_t k = 0; k < n; ++k) {
        const double p = 1.0 / (1.0 + exp_of({rests[k], powers[k]}));
        double worth = magnitude_of(outer - inner[k]) * scale * (signs[k] * signs[k]);
        if constexpr (kGains) worth *= magnitude_of(gain - gains[k]);
        if constexpr (kDistance) worth /= 0.01 + magnitude_of(score - scores[k]);
        slopes[k] = p * worth;
        signed_slopes[k] = slopes[k] * signs[k];
        curves[k] = slopes[k] * (1.0 - p);
        gradients[k] += signed_slopes[k];
        hessians[k] += curves[k];
    }
    sums.gradient -= lane_sum(signed_slopes, n);
    sums.hessian += lane_sum(curves, n);
    sums.magnitude += lane_sum(slopes, n);
}

template <bool kGains, bool kDistance>
double all_pairs(const PairTask& task) {
    double magnitude = 0.0;
    for (std::size_t i = 0; i < task.n_outer; ++i) {
        PairSums sums;
        std::size_t j = task.first != nullptr ? task.first[i] : i + 1;
        for (; j < task.n; j += kTile) {
            const std::size_t left = task.n - j;
            add_tile<kGains, kDistance>(task, i, j, left < kTile ? left : kTile, sums);
        }
        task.gradients[i] += sums.gradient;
        task.hessians[i] += sums.hessian;
        magnitude += sums.magnitude;
    }
    return magnitude;
}

}  // namespace

double NAME(rank_pairs)(const PairTask& task) {
    if (task.gains != nullptr) {
        return task.by_distance ? all_pairs<true, true>(task) : all_pairs<true, false>(task);
    }
    return task.by_distance ? all_pairs<false, true>(task) : all_pairs<false, false>(task);
}

}  // namespace spinney
