#include "native/trees/gradient_split.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "native/base/isa.hpp"

namespace spinney {
namespace {

/// Weights stand on a grid: ten rows of weight 0.1 may weigh a hair less than 1 there.
constexpr double kGridSlack = 1.0 - 0x1p-40;
/// A gain this small, relative to the node's own score, is rounding noise.
constexpr double kNoise = 0x1p-46;

#if defined(__x86_64__) && defined(__GNUC__)
RunPacked* active_run_packed() {
    return pick<RunPacked>(run_packed_portable, run_packed_avx2, run_packed_avx512);
}
RunWide* active_run_wide() {
    return pick<RunWide>(run_wide_portable, run_wide_avx2, run_wide_avx512);
}
BestCut* active_best_cut() {
    return pick<BestCut>(best_cut_portable, best_cut_avx2, best_cut_avx512);
}
#else
RunPacked* active_run_packed() { return run_packed_portable; }
RunWide* active_run_wide() { return run_wide_portable; }
BestCut* active_best_cut() { return best_cut_portable; }
#endif

/// A number whose unsigned order is that of the doubles.
std::uint64_t sortable(double number) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    return (bits >> 63) != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}

/// First index in [first, last) for which a predicate that never turns false again is true.
template <class Predicate>
std::size_t first_true(std::size_t first, std::size_t last, const Predicate& is_true) {
    while (first < last) {
        const std::size_t middle = first + (last - first) / 2;
        if (is_true(middle)) {
            last = middle;
        } else {
            first = middle + 1;
        }
    }
    return first;
}

/// The search within one feature of one node.
class FeatureSearch {
  public:
    FeatureSearch(const SplitTask& task, std::size_t feature, GradientSplit& best)
        : task_(task),
          objective_(task.objective),
          feature_(feature),
          n_values_(task.bins.n_value_bins(feature)),
          sums_(scratch()),
          best_(best),
          missing_(task.histogram.cell(task.packing, feature, n_values_)) {
        const double l2 = objective_.l2;
        terms_ = {objective_.gradient(task.total), objective_.hessian(task.total), objective_.l1,
                  l2};
        span_ = terms_.hessian + 2.0 * l2;
        // G^2 / (H + 2 l2) - G^2 / (H + l2), without cancellation; with l1 the first part varies.
        offset_ = objective_.l1 > 0.0 ? -objective_.score(task.total)
                  : span_ > 0.0 && l2 > 0.0
                      ? -terms_.gradient * terms_.gradient * l2 / ((terms_.hessian + l2) * span_)
                      : 0.0;
        least_hessian_ = task.settings.min_child_weight * kGridSlack;
        least_weight_ =
            std::max(task.settings.min_samples_leaf * kGridSlack, 0.5 * objective_.scales.weight);
        all_weight_ = objective_.weight(task.total);
        least_gain_ =
            std::max(task.settings.min_split_gain, 0.5 * kNoise * objective_.score(task.total));
        direction_ = task.settings.monotone.empty() ? 0 : task.settings.monotone[feature];
        bounded_ = !task.settings.monotone.empty();
    }

    void run() {
        if (task_.bins.is_categorical(feature_)) return search_categories();
        if (task_.histogram.is_packed()) {
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
        active_run_packed()(cells, n, task_.packing, objective_.scales, sums_);
    }
    void run_wide(const WideCells& cells, std::size_t n) {
        active_run_wide()(cells, n, objective_.scales, sums_);
    }

    /// Integers of the rows up to and including a bin.
    GradientSums left_of(std::size_t bin, const GradientSums& extra) const {
        GradientSums sums = task_.histogram.is_packed()
                                ? task_.packing.unpack(sums_.packed[bin])
                                : GradientSums{sums_.wide_gradient[bin], sums_.wide_hessian[bin],
                                               sums_.wide_weight[bin]};
        return sums += extra;
    }

    /// Scores the cuts behind the first n bins, with `extra` rows on the left, and keeps the best.
    /// Sums of weights and hessians only grow, so the cuts that leave both children enough are
    /// neighbours.
    void take_best(std::size_t n, const GradientSums& extra) {
        const double weight = objective_.weight(extra);
        const double hessian = objective_.hessian(extra);
        const std::size_t first = first_true(0, n, [&](std::size_t i) {
            return sums_.weight[i] + weight >= least_weight_ &&
                   sums_.hessian[i] + hessian >= least_hessian_;
        });
        const std::size_t last = first_true(first, n, [&](std::size_t i) {
            return all_weight_ - (sums_.weight[i] + weight) < least_weight_ ||
                   terms_.hessian - (sums_.hessian[i] + hessian) < least_hessian_;
        });
        if (first == last) return;
        if (bounded_) return take_best_bounded(first, last, extra);
        terms_.extra_gradient = objective_.gradient(extra);
        terms_.extra_hessian = hessian;
        const Cut cut = active_best_cut()(sums_, first, last, terms_);
        if (cut.quality < 0.0) return;
        keep(cut.bin, 0.5 * (cut.quality / span_ + offset_), extra);
    }

    /// The same where values are bounded: the formula of the loss that given values remove.
    void take_best_bounded(std::size_t first, std::size_t last, const GradientSums& extra) {
        const ValueBounds& bounds = task_.bounds;
        const double here = bounds.clip(objective_.value(task_.total));
        const double score = objective_.score_of(task_.total, here);
        for (std::size_t bin = first; bin < last; ++bin) {
            const GradientSums left = left_of(bin, extra);
            const GradientSums right = task_.total - left;
            const double a = bounds.clip(objective_.value(left));
            const double b = bounds.clip(objective_.value(right));
            if ((b - a) * direction_ < 0.0) continue;
            const double removed =
                objective_.score_of(left, a) + objective_.score_of(right, b) - score;
            keep(bin, 0.5 * removed, extra);
        }
    }

    void keep(std::size_t bin, double gain, const GradientSums& extra) {
        if (!(gain > best_.gain && gain > least_gain_)) return;
        best_.gain = gain;
        best_.feature = static_cast<std::int32_t>(feature_);
        best_.left = left_of(bin, extra);
        const bool left_is_larger = 2.0 * objective_.weight(best_.left) >= all_weight_;
        if (task_.bins.is_categorical(feature_)) return keep_categories(bin, left_is_larger);
        best_.is_categorical = false;
        best_.bin = static_cast<std::int32_t>(bin);
        best_.missing_left = missing_.weight > 0 ? extra.weight > 0 : left_is_larger;
    }

    /// Categories in the order of gradient / hessian, missing values among them, cut once: the
    /// best of all subsets (Fisher 1958). Slopes that agree in 44 bits count as equal, and keep the
    /// order of their bins.
    void search_categories() {
        std::array<std::uint64_t, kMostCells> keys;
        n_sorted_ = 0;
        for (std::size_t bin = 0; bin <= n_values_; ++bin) {
            const GradientSums sums = task_.histogram.cell(task_.packing, feature_, bin);
            if (sums.weight == 0) continue;
            // One unit more keeps a category whose hessians round to nothing in order.
            const double slope =
                static_cast<double>(sums.gradient) / static_cast<double>(sums.hessian + 1);
            keys[n_sorted_++] = (sortable(slope) & ~std::uint64_t{0xFF}) | bin;
        }
        std::sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(n_sorted_));
        for (std::size_t i = 0; i < n_sorted_; ++i) {
            sorted_[i] = static_cast<std::uint8_t>(keys[i] & 0xFF);
        }
        run_sorted();
        take_best(n_sorted_, {});
    }

    void run_sorted() {
        std::array<std::uint64_t, kMostCells> packed;
        std::array<std::int64_t, 3 * kMostCells> wide;
        const WideCells to = {wide.data(), wide.data() + kMostCells, wide.data() + 2 * kMostCells};
        for (std::size_t i = 0; i < n_sorted_; ++i) {
            if (task_.histogram.is_packed()) {
                packed[i] = task_.histogram.packed(feature_)[sorted_[i]];
            } else {
                const GradientSums sums = task_.histogram.wide(feature_).at(sorted_[i]);
                to.gradient[i] = sums.gradient;
                to.hessian[i] = sums.hessian;
                to.weight[i] = sums.weight;
            }
        }
        task_.histogram.is_packed() ? run_packed(packed.data(), n_sorted_)
                                    : run_wide(to, n_sorted_);
    }

    /// The categories up to place `last` of their order go left, and those the node has none of
    /// go with the larger child.
    void keep_categories(std::size_t last, bool left_is_larger) {
        best_.is_categorical = true;
        best_.bin = -1;
        best_.missing_left = left_is_larger;
        best_.left_bins.fill(left_is_larger ? 0xFF : 0);
        for (std::size_t i = 0; i < n_sorted_; ++i) {
            const bool goes_left = i <= last;
            if (sorted_[i] == n_values_) {
                best_.missing_left = goes_left;
            } else {
                best_.put(sorted_[i], goes_left);
            }
        }
        for (std::size_t bin = n_values_; bin < kMostCells; ++bin) best_.put(bin, false);
    }

    const SplitTask& task_;
    const GradientObjective& objective_;
    std::size_t feature_;
    std::size_t n_values_;
    RunningSums& sums_;
    GradientSplit& best_;
    GradientSums missing_;
    CutTerms terms_{};
    double span_;    ///< c + d of every cut
    double offset_;  ///< part of the gain that is the same for every cut
    double least_hessian_;
    double least_weight_;
    double all_weight_;
    double least_gain_;
    int direction_;
    bool bounded_;
    std::size_t n_sorted_ = 0;
    std::array<std::uint8_t, kMostCells> sorted_;
};

}  // namespace

void search_feature(const SplitTask& task, std::size_t feature, GradientSplit& best) {
    FeatureSearch(task, feature, best).run();
}

}  // namespace spinney
