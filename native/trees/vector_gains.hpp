/// The kernel of split search for vector leaves: what one output gains by many cuts.
#pragma once

#include <cstddef>

namespace spinney {

/// What the gain of one output depends on besides the sums on the left of a cut. Sums, l1, l2 and
/// the limits are in integer units; gains are in units of the loss.
///
/// An output takes part on a side only where its hessians there add up to the least: elsewhere its
/// value is 0, because nothing bounds Newton's step among rows that are already certain.
struct OutputTerms {
    double gradient;  ///< total of the node
    double hessian;   ///< the same
    double l1;
    double l2;
    double least_hessian;  ///< above 0 where l2 is 0: no side divides by 0
    double per_quality;    ///< twice the gain is quality * per_quality + offset
    double offset;
    double per_score;   ///< of a^2 / c in integer units
    double node_score;  ///< of the node itself, in units of the loss
};

/// Adds twice the gain of each of n cuts to `gains`, and 1 to `whole` where the output takes part
/// on both sides. For quality see gradient_scan.hpp. Every cut has the same operations in the same
/// order, so every instruction set gives the same bits.
using AddGains = void(const double* gradients, const double* hessians, std::size_t n,
                      const OutputTerms& terms, double* gains, double* whole);
AddGains add_gains_portable, add_gains_avx2, add_gains_avx512;

}  // namespace spinney
