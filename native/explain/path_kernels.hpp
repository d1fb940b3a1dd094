/// The loops over rows behind Shapley values, one version per instruction set.
///
/// A leaf is reached by conditions on d different features. For feature k and a row, `meets` says
/// whether the row satisfies all conditions on k (a word of ones, or 0), and `share` is the share
/// of the training weight that goes this way at the nodes that split on k.
#pragma once

#include <cstddef>
#include <cstdint>

namespace spinney {

/// meets[i] = before[i] and whether x[i] goes to this side of a numeric node.
struct SplitTask {
    const double* x;
    double threshold;
    bool missing_left;
    bool is_left;
    const std::int64_t* before;
    std::int64_t* meets;
    std::size_t n_rows;  ///< a multiple of kRowGroup, as everywhere here
};

/// Numbers and weights of a rule that integrates over [0, 1].
struct Points {
    const double* at;
    const double* weight;
    std::size_t n;
};

/// One leaf for all rows of a block.
struct LeafTask {
    const std::int64_t* const* meets;  ///< d pointers to n_rows words
    const double* share;               ///< d numbers
    std::size_t d;
    Points points;  ///< exact for polynomials of degree d - 1
    std::size_t n_rows;
    double* scratch;  ///< leaf_scratch() numbers
};

/// Points that are worked on at the same time: as many chains of products as fill the pipeline.
inline constexpr std::size_t kPointsAtOnce = 4;

/// Numbers that a LeafTask needs to work with.
constexpr std::size_t leaf_scratch(std::size_t d, std::size_t n_points) {
    return d * (n_points + (kPointsAtOnce + 1) * 8);
}

using SplitKernel = void(const SplitTask& task);
SplitKernel path_split_portable, path_split_avx2, path_split_avx512;

/// effects[k * n_rows + i] = (meets_k - share_k) * integral over t in [0, 1] of the product over
/// the other features j of (share_j (1 - t) + meets_j t): what feature k adds, for a leaf of 1.
using EffectKernel = void(const LeafTask& task, double* effects);
EffectKernel path_effects_portable, path_effects_avx2, path_effects_avx512;

/// The same for pairs j < k, without both of them in the product, and halved: Phi_jk = Phi_kj.
/// Pairs (0, 1), (0, 2), ... (1, 2), ... one after the other, n_rows numbers each.
EffectKernel path_pair_effects_portable, path_pair_effects_avx2, path_pair_effects_avx512;

/// to[i] += factor * from[i].
using AddKernel = void(double factor, const double* from, double* to, std::size_t n_rows);
AddKernel path_add_portable, path_add_avx2, path_add_avx512;

}  // namespace spinney
