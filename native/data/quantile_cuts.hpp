/// Cut points of a numeric feature: where one bin ends and the next begins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "native/data/columns.hpp"

namespace spinney {

struct CutSettings {
    /// Value bins per feature; the bin for missing values comes on top.
    int max_bins = 255;
    /// Tables with more rows are cut from about this many rows, chosen by a hash of the row number.
    std::size_t sample_rows = 200'000;
};

/// A value v and the next larger value seen, w: a number c with v <= c < w, so that "x <= c" sends
/// v left and w right. The middle if a float32 stands near it; any separating float32 otherwise; a
/// float64 only when no float32 separates them.
double cut_between(double v, double w);

/// Cut points of every feature, increasing, at most max_bins - 1 each; none for category codes.
///
/// All distinct values, of all rows, get bins of their own if they fit. Otherwise bins are filled
/// from below, each closing at whichever end lies nearer to an equal share of the weight still to
/// be placed; a value that weighs more than a share so gets a bin of its own and the others share
/// what is left.
///
/// weights: empty (each row counts once) or one integer >= 1 per row, sum < 2^52. A weight of k
/// gives exactly the cuts of the row repeated k times, as long as no sample is drawn.
std::vector<std::vector<double>> find_cuts(const Columns& columns,
                                           std::span<const std::int64_t> weights,
                                           const CutSettings& settings, int n_threads);

}  // namespace spinney
