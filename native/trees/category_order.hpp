/// Categories of a feature, in the order in which they are cut.
#pragma once

#include <array>
#include <cstdint>

#include "native/trees/gradient_split.hpp"

namespace spinney {

/// The categories of some rows, missing values being one of them, before they are in order.
///
/// Categories of few rows have extreme slopes by chance, and would find each other at the ends of
/// the order. Where there are more than a few categories three things hold them back: slopes are
/// drawn towards zero, children have a penalty of their own, and categories that weigh less than
/// half the root of the rows' weight do not take part and go right. Those that take part hold at
/// least a quarter of the weight, though: where all categories are small none is held back.
struct CategoryWeights {
    std::array<std::int64_t, kMostCells> weights;  ///< per bin
    std::size_t n_values;                          ///< bins; the one behind them is missing
    GradientSums total;

    /// Whether there are so many categories that some look good by chance.
    bool needs_care() const;
    /// The least weight of a category that takes part, in integer units.
    double support(const GradientObjective& objective, const GradientTreeSettings& settings) const;
};

/// The mean hessian of a row of weight 1, in integer units.
inline double row_hessian(const GradientSums& total, const GradientObjective& objective) {
    return static_cast<double>(total.hessian) /
           (static_cast<double>(total.weight) * objective.scales.weight);
}
/// What is added to l2 of the children of a split by many categories.
inline double category_penalty(const GradientSums& total, const GradientObjective& objective,
                               const GradientTreeSettings& settings) {
    return settings.category_penalty * row_hessian(total, objective) * objective.scales.hessian;
}

/// The categories that take part, by slope. Slopes that agree in 44 bits count as equal, and keep
/// the order of their bins.
class CategoryOrder {
  public:
    /// slope_of(bin): of a category that takes part.
    template <class SlopeOf>
    void sort(const CategoryWeights& of, double support, const SlopeOf& slope_of) {
        n_values_ = of.n_values;
        size_ = n_rare_ = 0;
        for (std::size_t bin = 0; bin <= n_values_; ++bin) {
            const std::int64_t weight = of.weights[bin];
            is_rare_[bin] = weight > 0 && static_cast<double>(weight) < support;
            n_rare_ += is_rare_[bin] ? 1 : 0;
            if (weight > 0 && !is_rare_[bin]) add(bin, slope_of(bin));
        }
        finish();
    }

    std::size_t size() const { return size_; }
    /// How many ways there are to cut the order; behind the last one rare categories are right.
    std::size_t n_cuts() const { return size_ == 0 ? 0 : size_ - (n_rare_ > 0 ? 0 : 1); }
    std::size_t operator[](std::size_t place) const { return keys_[place] & 0xFF; }

    /// The categories up to place `last` go left, the others and the rare ones right, and those
    /// that no row has with the larger child.
    void cut_behind(std::size_t last, bool left_is_larger, Split& split) const;

  private:
    void add(std::size_t bin, double slope);
    void finish();

    std::size_t n_values_ = 0;
    std::size_t size_ = 0;
    std::size_t n_rare_ = 0;
    std::array<std::uint64_t, kMostCells> keys_;  ///< the last byte is the bin
    std::array<bool, kMostCells> is_rare_;
};

}  // namespace spinney
