/// Trees whose nodes are split by planes: extended isolation forests, rotation forests.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "native/base/random.hpp"

namespace spinney {

/// Borrowed arrays. Nodes of a tree stand in preorder; a node sends x left when the sum of
/// normal * (x[feature] - point) over the `width` terms of its plane is at most its threshold; of a
/// category, x is a number that the term draws for each level. A term that is no number, as with a
/// missing value, adds nothing. Planes are numbered in the order
/// of inner nodes.
struct PlaneArrays {
    std::size_t n_features = 0;
    std::size_t width = 1;                      ///< terms of a plane
    std::size_t n_outputs = 1;                  ///< numbers per node in `value`
    std::span<const std::int64_t> tree_start;   ///< n_trees + 1; nodes of tree t: [t, t + 1)
    std::span<const std::int32_t> right;        ///< n_nodes; from the tree's first node; -1: leaf
    std::span<const double> value;              ///< n_nodes * n_outputs
    std::span<const double> threshold;          ///< n_planes
    std::span<const std::int32_t> feature;      ///< n_planes * width
    std::span<const double> normal;             ///< n_planes * width
    std::span<const double> point;              ///< n_planes * width
    std::span<const std::uint8_t> categorical;  ///< n_features; 0 or 1; empty: none is
};

/// What a level of a category is on a plane: a number from [0, 1) that follows from the bits of the
/// term's normal, so that nothing but the term needs storing. NaN for a code that is none.
inline double number_of_level(double normal, double code) {
    if (!(code >= 0.0 && code < 0x1p53)) return std::numeric_limits<double>::quiet_NaN();
    return random_unit(std::bit_cast<std::uint64_t>(normal), Stream::kCategories,
                       static_cast<std::uint64_t>(code));
}

/// How far a row is from a plane through the origin of its terms, on which side. categorical: by
/// feature, or null.
inline double plane_sum(const std::int32_t* feature, const double* normal, const double* point,
                        std::size_t width, const double* row, const std::uint8_t* categorical) {
    double sum = 0.0;
    for (std::size_t k = 0; k < width; ++k) {
        const bool has_levels = categorical != nullptr && categorical[feature[k]] != 0;
        const double x = row[feature[k]];
        const double term =
            normal[k] * ((has_levels ? number_of_level(normal[k], x) : x) - point[k]);
        sum += term == term ? term : 0.0;
    }
    return sum == sum ? sum : 0.0;  // opposite infinities
}

/// Sums of every row for every plane, plane by plane: what trees of planes are grown on.
/// matrix: n_features numbers per row; feature, normal, point: `width` terms per plane.
void project(std::span<const double> matrix, const PlaneArrays& planes, std::span<double> sums,
             int n_threads);

/// Checked once, trusted afterwards.
class SplitPlanes {
  public:
    /// Throws Failure(kInvalidModel) unless every index is in range, every tree is a tree and every
    /// number is one.
    explicit SplitPlanes(const PlaneArrays& arrays);

    std::size_t n_outputs() const { return arrays_.n_outputs; }

    /// Means over the trees of the values of leaves; n_outputs per row. rows: n_features numbers
    /// each, of categories their codes, NaN for missing.
    void mean_values(std::span<const double> rows, std::span<double> means, int n_threads) const;

  private:
    std::size_t leaf_of(std::size_t tree, const double* row) const;

    PlaneArrays arrays_;
    std::vector<std::int32_t> plane_;  ///< by node; -1: leaf
};

}  // namespace spinney
