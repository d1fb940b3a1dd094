#include "native/trees/gradient_split.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "native/base/isa.hpp"

namespace spinney {
namespace {

/// Weights stand on a grid: ten rows of weight 0.1 may weigh a hair less than 1 there.
constexpr double kGridSlack = 1.0 - 0x1p-40;
/// A gain this small, relative to the node's own score, is rounding noise.
constexpr double kNoise = 0x1p-46;
/// Up to this many categories nothing is held back.
constexpr std::size_t kFewCategories = 4;

#if defined(__x86_64__) && defined(__GNUC__)
RunPacked* active_run_packed() {
    return pick<RunPacked>(run_packed_portable, run_packed_avx2, run_packed_avx512);
}
BestCutPacked* active_best_cut_packed() {
    return pick<BestCutPacked>(best_cut_packed_portable, best_cut_packed_avx2,
                               best_cut_packed_avx512);
}
BestCutWide* active_best_cut_wide() {
    return pick<BestCutWide>(best_cut_wide_portable, best_cut_wide_avx2, best_cut_wide_avx512);
}
#else
RunPacked* active_run_packed() { return run_packed_portable; }
BestCutPacked* active_best_cut_packed() { return best_cut_packed_portable; }
BestCutWide* active_best_cut_wide() { return best_cut_wide_portable; }
#endif

/// A number whose unsigned order is that of the doubles.
std::uint64_t sortable(double number) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    return (bits >> 63) != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}

/// The least integer that is not below a limit; one no sum reaches for limits beyond all sums.
std::int64_t whole(double limit) {
    return static_cast<std::int64_t>(std::ceil(std::min(limit, 0x1p62)));
}

/// First index in [0, n) for which a predicate that never turns false again is true; n if none.
/// Steps do not depend on what is found, so that none is mispredicted.
template <class Predicate>
std::size_t first_true(std::size_t n, const Predicate& is_true) {
    std::size_t first = 0;
    while (n > 0) {
        const std::size_t half = (n + 1) / 2;
        first = is_true(first + half - 1) ? first : first + half;
        n -= half;
    }
    return first;
}

/// The search within one feature of one node.
class FeatureSearch {
  public:
    FeatureSearch(const SplitTask& task, std::size_t feature, GradientSplit& best)
        : task_(task),
          objective_(task.objective),
          limits_(&task.limits),
          is_packed_(task.histogram.is_packed()),
          feature_(feature),
          n_values_(task.bins.n_value_bins(feature)),
          sums_(scratch()),
          best_(best),
          missing_(cell(n_values_)) {}

    void run() {
        if (task_.bins.is_categorical(feature_)) return search_categories();
        if (is_packed_) {
            run_packed(task_.histogram.packed(feature_), n_values_);
        } else {
            run_wide(task_.histogram.wide(feature_), n_values_);
        }
        take_best(n_values_, {});
        if (missing_.weight > 0) take_best(n_values_, missing_);
    }

  private:
    static RunningSums& scratch() {
        thread_local RunningSums sums;
        return sums;
    }

    void run_packed(const std::uint64_t* cells, std::size_t n) {
        active_run_packed()(cells, n, sums_.packed);
    }
    void run_wide(const WideCells& cells, std::size_t n) {
        GradientSums sum;
        for (std::size_t i = 0; i < n; ++i) {
            sums_.gradient[i] = sum.gradient += cells.gradient[i];
            sums_.hessian[i] = sum.hessian += cells.hessian[i];
            sums_.weight[i] = sum.weight += cells.weight[i];
        }
    }

    /// Integers of the rows up to and including a bin.
    GradientSums left_of(std::size_t bin, const GradientSums& extra) const {
        GradientSums sums =
            is_packed_ ? task_.packing.unpack(sums_.packed[bin])
                       : GradientSums{sums_.gradient[bin], sums_.hessian[bin], sums_.weight[bin]};
        return sums += extra;
    }

    bool is_enough(const GradientSums& sums) const {
        return (sums.weight >= limits_->weight) & (sums.hessian >= limits_->hessian);
    }

    /// Scores the cuts behind the first n bins, with `extra` rows on the left, and keeps the best.
    /// Sums of weights and hessians only grow, so the cuts that leave both children enough are
    /// neighbours.
    void take_best(std::size_t n, const GradientSums& extra) {
        const std::size_t first =
            first_true(n, [&](std::size_t i) { return is_enough(left_of(i, extra)); });
        const std::size_t last = first_true(
            n, [&](std::size_t i) { return !is_enough(task_.total - left_of(i, extra)); });
        if (first >= last) return;
        if (!task_.settings.monotone.empty()) return take_best_bounded(first, last, extra);
        CutTerms terms = limits_->terms;
        terms.extra_gradient = static_cast<double>(extra.gradient);
        terms.extra_hessian = static_cast<double>(extra.hessian);
        const Cut cut = is_packed_
                            ? active_best_cut_packed()(sums_, first, last, terms, task_.packing)
                            : active_best_cut_wide()(sums_, first, last, terms);
        if (cut.quality >= 0.0) keep(cut.bin, limits_->gain(cut.quality), extra);
    }

    /// The same where values are bounded: the formula of the loss that given values remove.
    void take_best_bounded(std::size_t first, std::size_t last, const GradientSums& extra) {
        const ValueBounds& bounds = task_.bounds;
        const double here = bounds.clip(objective_.value(task_.total));
        const double score = objective_.score_of(task_.total, here);
        const int direction = task_.settings.monotone[feature_];
        for (std::size_t bin = first; bin < last; ++bin) {
            const GradientSums left = left_of(bin, extra);
            const GradientSums right = task_.total - left;
            const double a = bounds.clip(objective_.value(left));
            const double b = bounds.clip(objective_.value(right));
            if ((b - a) * direction < 0.0) continue;
            const double removed =
                objective_.score_of(left, a) + objective_.score_of(right, b) - score;
            keep(bin, 0.5 * removed, extra);
        }
    }

    void keep(std::size_t bin, double gain, const GradientSums& extra) {
        if (!(gain > best_.gain && gain > limits_->least_gain)) return;
        best_.gain = gain;
        best_.feature = static_cast<std::int32_t>(feature_);
        best_.left = left_of(bin, extra);
        const bool left_is_larger = 2 * best_.left.weight >= task_.total.weight;
        if (task_.bins.is_categorical(feature_)) return keep_categories(bin, left_is_larger);
        best_.is_categorical = false;
        best_.bin = static_cast<std::int32_t>(bin);
        best_.missing_left = missing_.weight > 0 ? extra.weight > 0 : left_is_larger;
    }

    /// Categories in the order of gradient / hessian, missing values among them, cut once: the
    /// best of all subsets (Fisher 1958). Slopes that agree in 44 bits count as equal, and keep the
    /// order of their bins.
    ///
    /// Categories of few rows have extreme slopes by chance, and would find each other at the ends
    /// of the order. Where there are more than a few categories three things hold them back: slopes
    /// are drawn towards zero, children have a penalty of their own, and categories that weigh less
    /// than half the root of the node's weight do not take part and go right.
    void search_categories() {
        std::size_t n_present = 0;
        for (std::size_t bin = 0; bin <= n_values_; ++bin) {
            n_present += cell(bin).weight > 0 ? 1 : 0;
        }
        const bool careful = n_present > kFewCategories;
        const GradientTreeSettings& settings = task_.settings;
        const double row_hessian =  // of a row of weight 1, in integer units
            static_cast<double>(task_.total.hessian) /
            (static_cast<double>(task_.total.weight) * objective_.scales.weight);
        const double smoothing = careful ? settings.category_smoothing * row_hessian : 1.0;
        const double support = careful ? std::max(settings.category_support,
                                                  0.5 * std::sqrt(objective_.weight(task_.total))) /
                                             objective_.scales.weight
                                       : 1.0;
        sort_categories(smoothing, support);
        run_sorted();
        const SplitLimits careful_limits(
            task_.total, objective_, settings,
            careful ? settings.category_penalty * row_hessian * objective_.scales.hessian : 0.0);
        limits_ = &careful_limits;
        take_best(n_sorted_, {});
    }

    void sort_categories(double smoothing, double support) {
        std::array<std::uint64_t, kMostCells> keys;
        n_sorted_ = 0;
        for (std::size_t bin = 0; bin <= n_values_; ++bin) {
            const GradientSums sums = cell(bin);
            is_rare_[bin] = sums.weight > 0 && static_cast<double>(sums.weight) < support;
            if (sums.weight == 0 || is_rare_[bin]) continue;
            // Never without smoothing: a category whose hessians round to nothing stays in order.
            const double slope = static_cast<double>(sums.gradient) /
                                 (static_cast<double>(sums.hessian) + smoothing);
            keys[n_sorted_++] = (sortable(slope) & ~std::uint64_t{0xFF}) | bin;
        }
        std::sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(n_sorted_));
        for (std::size_t i = 0; i < n_sorted_; ++i) {
            sorted_[i] = static_cast<std::uint8_t>(keys[i] & 0xFF);
        }
    }

    GradientSums cell(std::size_t bin) const {
        return task_.histogram.cell(task_.packing, feature_, bin);
    }

    void run_sorted() {
        std::array<std::uint64_t, kMostCells> packed;
        std::array<std::int64_t, 3 * kMostCells> wide;
        const WideCells to = {wide.data(), wide.data() + kMostCells, wide.data() + 2 * kMostCells};
        for (std::size_t i = 0; i < n_sorted_; ++i) {
            if (is_packed_) {
                packed[i] = task_.histogram.packed(feature_)[sorted_[i]];
            } else {
                const GradientSums sums = task_.histogram.wide(feature_).at(sorted_[i]);
                to.gradient[i] = sums.gradient;
                to.hessian[i] = sums.hessian;
                to.weight[i] = sums.weight;
            }
        }
        is_packed_ ? run_packed(packed.data(), n_sorted_) : run_wide(to, n_sorted_);
    }

    /// The categories up to place `last` of their order go left, the others and the rare ones
    /// right, and those the node has none of with the larger child.
    void keep_categories(std::size_t last, bool left_is_larger) {
        best_.is_categorical = true;
        best_.bin = -1;
        best_.missing_left = left_is_larger && !is_rare_[n_values_];
        for (std::size_t bin = 0; bin < kMostCells; ++bin) {
            best_.put(bin, left_is_larger && bin < n_values_ && !is_rare_[bin]);
        }
        for (std::size_t i = 0; i < n_sorted_; ++i) {
            const bool goes_left = i <= last;
            if (sorted_[i] == n_values_) {
                best_.missing_left = goes_left;
            } else {
                best_.put(sorted_[i], goes_left);
            }
        }
    }

    const SplitTask& task_;
    const GradientObjective& objective_;
    const SplitLimits* limits_;
    bool is_packed_;
    std::size_t feature_;
    std::size_t n_values_;
    RunningSums& sums_;
    GradientSplit& best_;
    GradientSums missing_;
    std::size_t n_sorted_ = 0;
    std::array<std::uint8_t, kMostCells> sorted_;  ///< bins of categories
    std::array<bool, kMostCells> is_rare_;
};

}  // namespace

SplitLimits::SplitLimits(const GradientSums& total, const GradientObjective& objective,
                         const GradientTreeSettings& settings, double penalty) {
    // Scales are powers of two: all of this is as exact in integer units as in real numbers.
    const ScanScales& scales = objective.scales;
    const double l2 = objective.l2 + penalty;
    terms = {static_cast<double>(total.gradient), static_cast<double>(total.hessian),
             objective.l1 / scales.gradient, l2 / scales.hessian};
    const double h = objective.hessian(total);
    const double g = objective.gradient(total);
    const double span = h + 2.0 * l2;
    // G^2 / (H + 2 l2) - G^2 / (H + l2), without cancellation; with l1 the first part varies.
    offset = objective.l1 > 0.0       ? -objective.score(total)
             : h + objective.l2 > 0.0 ? -g * g * (l2 + penalty) / ((h + objective.l2) * span)
                                      : 0.0;
    per_quality = scales.gradient * scales.gradient / span;
    hessian = whole(settings.min_child_weight * kGridSlack / scales.hessian);
    weight =
        std::max(whole(settings.min_samples_leaf * kGridSlack / scales.weight), std::int64_t{1});
    least_gain = std::max(settings.min_split_gain, 0.5 * kNoise * objective.score(total));
}

void search_feature(const SplitTask& task, std::size_t feature, GradientSplit& best) {
    FeatureSearch(task, feature, best).run();
}

}  // namespace spinney
