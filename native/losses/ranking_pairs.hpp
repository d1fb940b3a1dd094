/// The pairs of one query: what every row is pushed up and down by the others.
#pragma once

#include <cstddef>
#include <cstdint>

namespace spinney {

/// Rows of a query in their order. Row i < n_outer makes pairs with the rows from first[i] on, or
/// with all behind it. A pair of different labels is worth
///   |outer[i] - inner[j]| * scale, times the distance of the gains if there are gains,
/// divided by 0.01 + the distance of the scores if by_distance.
struct PairTask {
    const double* scores;
    const double* labels;
    const double* gains;  ///< null: their distance is 1
    const double* outer;
    const double* inner;
    const std::uint32_t* first;  ///< null: i + 1
    std::size_t n;
    std::size_t n_outer;
    double scale;
    bool by_distance;
    double* gradients;  ///< added to
    double* hessians;   ///< added to
};

/// Sum over pairs of the magnitude of their gradient.
using PairKernel = double(const PairTask& task);
PairKernel rank_pairs_portable, rank_pairs_avx2, rank_pairs_avx512;

}  // namespace spinney
