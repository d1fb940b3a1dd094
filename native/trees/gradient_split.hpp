/// The best split of a node of gradients, as a pure function of its histogram.
#pragma once

#include <cstdint>
#include <span>

#include "native/trees/gradient_histogram.hpp"
#include "native/trees/gradient_scan.hpp"
#include "native/trees/split.hpp"

namespace spinney {

/// How one tree of a boosted sum may grow. Validated in Python; trusted here.
struct GradientTreeSettings {
    std::int32_t max_leaf_nodes = 31;  ///< 0: no limit
    std::int32_t max_depth = 0;        ///< 0: no limit
    bool leaf_wise = true;             ///< best leaf first; otherwise level by level
    double min_samples_leaf = 20.0;    ///< weight of rows each child must keep
    double min_child_weight = 0.0;     ///< sum of hessians each child must keep
    double l1 = 0.0;
    double l2 = 0.0;
    double min_split_gain = 0.0;
    std::int32_t max_features = 0;  ///< features each node chooses from; 0: all
    std::uint64_t seed = 0;         ///< decides which
};

/// The scales of the integers, and the formulas in real numbers.
struct GradientObjective {
    ScanScales scales;
    double l1 = 0.0;
    double l2 = 0.0;

    double gradient(const GradientSums& sums) const {
        return static_cast<double>(sums.gradient) * scales.gradient;
    }
    double hessian(const GradientSums& sums) const {
        return static_cast<double>(sums.hessian) * scales.hessian;
    }
    double weight(const GradientSums& sums) const {
        return static_cast<double>(sums.weight) * scales.weight;
    }
    double shrunk(double g) const { return g > l1 ? g - l1 : (g < -l1 ? g + l1 : 0.0); }
    /// Twice the loss that the best constant removes: G^2 / (H + l2), G shrunk by l1.
    double score(const GradientSums& sums) const {
        const double g = shrunk(gradient(sums));
        const double h = hessian(sums) + l2;
        return h > 0.0 ? g * g / h : 0.0;
    }
};

/// Largest gain; ties go to the lowest feature, then the lowest bin, then missing values to the
/// right. gain = (score(left) + score(right) - score(parent)) / 2, the loss removed.
Split find_gradient_split(const FeatureBlocks& data, const GradientHistogram& histogram,
                          const Packing& packing, const GradientSums& total,
                          const GradientObjective& objective, const GradientTreeSettings& settings,
                          std::span<const std::uint32_t> features, int n_threads);

}  // namespace spinney
