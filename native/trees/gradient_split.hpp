/// The best split of a node of gradients, as a pure function of its histogram.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "native/trees/gradient_scan.hpp"
#include "native/trees/split.hpp"

namespace spinney {

/// How one tree of a boosted sum may grow. Validated in Python; trusted here.
struct GradientTreeSettings {
    std::int32_t max_leaf_nodes = 31;  ///< 0: no limit
    std::int32_t max_depth = 0;        ///< 0: no limit
    bool leaf_wise = true;             ///< best leaf first; otherwise level by level
    bool symmetric = false;            ///< one split for all nodes of a level; has a max_depth
    bool random_cuts = false;          ///< judge one cut per node and feature, drawn
    bool every_hessian_counts = true;  ///< as GradientInput has it
    double min_samples_leaf = 20.0;    ///< weight of rows each child must keep
    double min_child_weight = 0.0;     ///< sum of hessians each child must keep
    double l1 = 0.0;
    double l2 = 0.0;
    double max_step = 0.0;        ///< largest magnitude of a value; 0: no limit
    double longest_step = 0.0;    ///< the same, but gains are those of values without a limit
    double path_smoothing = 0.0;  ///< rows; see smoothed()
    double min_split_gain = 0.0;  ///< a split that removes no more loss is not made
    double prune_gain = 0.0;      ///< nor kept, if it removes less and has no split below it
    double max_features = 1.0;    ///< share of the features a node may use that are drawn for it
    double max_features_per_tree = 1.0;  ///< share of all features that are drawn for the tree
    std::uint64_t seed = 0;              ///< decides which
    double category_smoothing = 10.0;    ///< rows; see FeatureSearch::search_categories
    double category_penalty = 5.0;       ///< rows
    double category_support = 10.0;      ///< least weight of rows
    std::vector<std::int8_t> monotone;   ///< 1, -1 or 0 per feature; empty: all 0
    /// Groups of features that may occur together on a path; empty: no limit.
    std::vector<std::vector<std::uint32_t>> interactions;

    /// Whether a node may have another value than its sums say.
    bool moves_values() const {
        return max_step > 0.0 || path_smoothing > 0.0 || !monotone.empty();
    }
    /// The value of a node of this weight, drawn towards its parent's as if that were the mean of
    /// `path_smoothing` further rows.
    double smoothed(double own, double weight, double parent) const {
        if (path_smoothing <= 0.0) return own;
        return (own * weight + parent * path_smoothing) / (weight + path_smoothing);
    }
    int direction(std::size_t feature) const { return monotone.empty() ? 0 : monotone[feature]; }
};

/// Between which numbers the value of a node must stay for the tree to be monotone, and its steps
/// to be no longer than they may be.
struct ValueBounds {
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();

    static ValueBounds of_root(const GradientTreeSettings& settings) {
        if (settings.max_step <= 0.0) return {};
        return {-settings.max_step, settings.max_step};
    }

    double clip(double value) const {
        return value < lower ? lower : (value > upper ? upper : value);
    }
    /// What is left for the children of a split whose sides have these values.
    ValueBounds of_child(bool is_left, int direction, double left_value, double right_value) const {
        if (direction == 0) return *this;
        const double middle = clip(left_value / 2 + right_value / 2);
        const bool below = is_left == (direction > 0);
        return below ? ValueBounds{lower, middle} : ValueBounds{middle, upper};
    }
};

/// Soft threshold: towards zero by l1.
inline double shrunk_by(double l1, double g) { return g > l1 ? g - l1 : (g < -l1 ? g + l1 : 0.0); }

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
    double shrunk(double g) const { return shrunk_by(l1, g); }
    /// The best constant: -G / (H + l2), G shrunk by l1.
    double value(const GradientSums& sums) const {
        const double h = hessian(sums) + l2;
        return h > 0.0 ? -shrunk(gradient(sums)) / h : 0.0;
    }
    /// Twice the loss that the best constant removes: G^2 / (H + l2), G shrunk by l1.
    double score(const GradientSums& sums) const {
        const double g = shrunk(gradient(sums));
        const double h = hessian(sums) + l2;
        return h > 0.0 ? g * g / h : 0.0;
    }
    /// Twice the loss that a given constant removes.
    double score_of(const GradientSums& sums, double value) const {
        const double size = value < 0.0 ? -value : value;
        return -(2.0 * (gradient(sums) * value + l1 * size) + (hessian(sums) + l2) * value * value);
    }
};

struct GradientSplit : Split {
    GradientSums left;  ///< of the rows that go left
};

/// What the search in every feature of a node depends on.
struct SplitLimits {
    CutTerms terms{};
    double noise = 0.0;  ///< a smaller gain is rounding
    double least_gain = 0.0;
    double per_quality = 1.0;
    double offset = 0.0;  ///< part of the gain that is the same for every cut

    /// penalty: added to l2 of the children, not of the node.
    SplitLimits(const GradientSums& total, const GradientObjective& objective,
                const GradientTreeSettings& settings, double penalty = 0.0);
    bool allow(const GradientSums& left) const {
        return left.weight >= terms.least_weight && left.weight <= terms.most_weight &&
               left.hessian >= terms.least_hessian && left.hessian <= terms.most_hessian;
    }
    double gain(double quality) const { return 0.5 * (quality * per_quality + offset); }
    /// A quality whose gain is below this one, in spite of rounding, and so are those of all lower
    /// ones. The offset is never above 0, so nothing cancels here; where numbers are so small that
    /// they have lost digits, 0.
    double quality_below(double gain) const {
        const double score = 2.0 * gain - offset;
        if (score < 0x1p-900 || per_quality < 0x1p-900) return 0.0;
        return score / per_quality * (1.0 - 0x1p-40);
    }
};

/// The node whose split is searched.
struct SplitTask {
    const TrainingBins& bins;
    GradientHistogram& histogram;
    const Packing& packing;
    const GradientObjective& objective;
    const GradientTreeSettings& settings;
    GradientSums total;
    ValueBounds bounds;
    double value;  ///< of the node; read where values are moved
    SplitLimits limits;
    std::uint64_t key;  ///< decides the cuts that are drawn
};

/// The value of a child of a node that has this one, where values are moved.
inline double child_value(const GradientObjective& objective, const GradientTreeSettings& settings,
                          const GradientSums& sums, const ValueBounds& bounds, double value) {
    const double own = bounds.clip(objective.value(sums));
    if (settings.path_smoothing <= 0.0) return own;
    return bounds.clip(settings.smoothed(own, objective.weight(sums), value));
}

/// Gains of splits of one node on one feature, where values are bounded or smoothed: the loss that
/// given values remove.
class MovedGains {
  public:
    MovedGains(const SplitTask& task, const SplitLimits& limits, std::size_t feature)
        : task_(task),
          limits_(limits),
          direction_(task.settings.direction(feature)),
          score_(task.objective.score_of(task.total, task.value)) {}

    /// None if the split is not allowed.
    std::optional<double> of(const GradientSums& left) const {
        if (!limits_.allow(left)) return std::nullopt;
        const GradientSums right = task_.total - left;
        const double a = value_of(left);
        const double b = value_of(right);
        if ((b - a) * direction_ < 0.0) return std::nullopt;
        const GradientObjective& objective = task_.objective;
        return 0.5 * (objective.score_of(left, a) + objective.score_of(right, b) - score_);
    }

  private:
    double value_of(const GradientSums& child) const {
        return child_value(task_.objective, task_.settings, child, task_.bounds, task_.value);
    }

    const SplitTask& task_;
    const SplitLimits& limits_;
    int direction_;
    double score_;
};

/// The quality of a cut, as the kernels of gradient_scan.hpp define it.
double quality_of(const GradientSums& left, const CutTerms& at);
/// The loss that a split of a node removes; none if it is not allowed.
std::optional<double> gain_of(const SplitTask& task, const SplitLimits& limits, std::size_t feature,
                              const GradientSums& left);

/// Puts the best split of one feature in place of `best` if its gain is larger.
///
/// Ties go to the lowest bin, then missing values to the right. gain = (score(left) + score(right)
/// - score(node)) / 2, the loss removed. Where a node has no missing value, and for categories it
/// has none of, the larger child is chosen. With random_cuts one cut is judged, which is drawn;
/// of categories a place in their order.
void search_feature(const SplitTask& task, std::size_t feature, GradientSplit& best);

}  // namespace spinney
