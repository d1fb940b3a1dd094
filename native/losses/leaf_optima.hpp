/// Exact optima of leaves: the constant that fits the rows of a node best.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "native/losses/derivatives.hpp"

namespace spinney {

/// Node i has rows[first[i]], ..., rows[last[i] - 1]; nodes in preorder, the rows of an inner node
/// are those of its left child and then those of its right one.
struct NodeSpans {
    std::span<const std::uint32_t> rows;
    std::span<const std::int64_t> first;
    std::span<const std::int64_t> last;
};

/// What one loss is to be minimised over. Weights are integers whose sum is below 2^62, on a grid
/// of the caller's, or empty: all 1. An integer weight is a repetition, to the last bit.
struct LeafTask {
    LossSpec loss;
    std::span<const double> y;
    std::span<const double> scores;
    std::span<const std::int64_t> weights;
};

/// Of each leaf the constant that, added to the scores of its rows, minimises the weighted loss; of
/// an inner node the weighted mean of the leaves below, what its rows are given on average. (The
/// optimum of inner nodes too would cost as much again for every level, and nobody predicts it.)
///
/// Quantile: the residual y - score at which the weights, in the order of the residuals, reach
/// level * total (rounded once to float64). If they meet it exactly every point up to the next
/// residual is a minimum, and the middle is taken ("averaged inverted CDF"). Absolute: level 1/2.
/// Huber: the root of the weighted sum of clipped differences, and the middle where it is zero on
/// an interval; differences from the median are put on a grid of 2^-60 of the largest that counts.
///
/// Order of rows and number of threads do not matter: sums are integers, places are counts.
/// Expected O(rows); leaves go to threads. A leaf without rows gets 0. Throws
/// Failure(kInvalidParameter) for other losses.
std::vector<double> leaf_optima(const LeafTask& task, const NodeSpans& nodes, int n_threads);

/// Poisson, Tweedie and gamma loss, which are Tweedie's of power p = 1, 1 < p < 2 and p = 2: the
/// optimum of a leaf is log(sum y e^((1-p)s) / sum e^((2-p)s)), and both sums follow from Newton's
/// step t = -G/H: with log(1 + (2-p) t) - log(1 - (p-1) t) no row is looked at again. Newton's own
/// step overshoots where targets are far above the mean, up to infinite predictions.
///
/// A leaf whose targets are all zero has its optimum at minus infinity: no step goes below -3.
double log_link_step(double newton, double power);

}  // namespace spinney
