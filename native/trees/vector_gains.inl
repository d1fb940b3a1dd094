// The loops of vector_gains.hpp, included by one file per instruction set with NAME(x) = x_<isa>.
// The compiler makes vectors of them; without contraction every width gives the same bits.

namespace spinney {
namespace {

/// Soft threshold: towards zero by l1.
inline double shrunk(double g, double l1) {
    const double size = (g < 0.0 ? -g : g) - l1;
    const double kept = size > 0.0 ? size : 0.0;
    return g < 0.0 ? -kept : kept;
}

/// kAreWhole: the output takes part on both sides of every cut; two divisions are saved.
template <bool kHasL1, bool kAreWhole>
void add_gains(const double* __restrict gradients, const double* __restrict hessians, std::size_t n,
               const OutputTerms& given, double* __restrict gains, double* __restrict whole) {
    const OutputTerms at = given;
    const double span = at.hessian + 2.0 * at.l2;
    for (std::size_t i = 0; i < n; ++i) {
        const double left = gradients[i];
        const double right = at.gradient - left;
        const double a = kHasL1 ? shrunk(left, at.l1) : left;
        const double b = kHasL1 ? shrunk(right, at.l1) : right;
        const double c = hessians[i] + at.l2;
        const double d = span - c;
        const double cross = kHasL1 ? a * d - b * c : left * span - at.gradient * c;
        const double apart = cross * cross / (c * d);
        const double quality = kHasL1 ? apart + (a + b) * (a + b) : apart;
        const double both = quality * at.per_quality + at.offset;
        if constexpr (kAreWhole) {
            gains[i] += both;
            whole[i] += 1.0;
        } else {
            const bool has_left = hessians[i] >= at.least_hessian;
            const bool has_right = at.hessian - hessians[i] >= at.least_hessian;
            const double left_score = has_left ? a * a / c * at.per_score : 0.0;
            const double right_score = has_right ? b * b / d * at.per_score : 0.0;
            const double one = left_score + right_score - at.node_score;
            const bool is_whole = has_left & has_right;
            gains[i] += is_whole ? both : one;
            whole[i] += is_whole ? 1.0 : 0.0;
        }
    }
}

template <bool kHasL1>
void add_gains(const double* gradients, const double* hessians, std::size_t n,
               const OutputTerms& at, double* gains, double* whole) {
    // Sums of hessians only grow from cut to cut.
    const bool are_whole = n > 0 && hessians[0] >= at.least_hessian &&
                           at.hessian - hessians[n - 1] >= at.least_hessian;
    return are_whole ? add_gains<kHasL1, true>(gradients, hessians, n, at, gains, whole)
                     : add_gains<kHasL1, false>(gradients, hessians, n, at, gains, whole);
}

}  // namespace

void NAME(add_gains)(const double* gradients, const double* hessians, std::size_t n,
                     const OutputTerms& terms, double* gains, double* whole) {
    return terms.l1 > 0.0 ? add_gains<true>(gradients, hessians, n, terms, gains, whole)
                          : add_gains<false>(gradients, hessians, n, terms, gains, whole);
}

}  // namespace spinney
