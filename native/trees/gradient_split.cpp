#include "native/trees/gradient_split.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

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
BestCutPacked* active_best_cut_packed() {
    return pick<BestCutPacked>(best_cut_packed_portable, best_cut_packed_avx2,
                               best_cut_packed_avx512);
}
BestCutWide* active_best_cut_wide() {
    return pick<BestCutWide>(best_cut_wide_portable, best_cut_wide_avx2, best_cut_wide_avx512);
}
#else
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
          best_(best),
          missing_(cell(n_values_)) {}

    void run() {
        if (task_.bins.is_categorical(feature_)) return search_categories();
        if (is_packed_) {
            packed_ = task_.histogram.packed(feature_);
        } else {
            wide_ = task_.histogram.wide(feature_);
        }
        take_best(n_values_, {});
        if (missing_.weight > 0) take_best(n_values_, missing_);
    }

  private:
    GradientSums cell(std::size_t bin) const {
        return task_.histogram.cell(task_.packing, feature_, bin);
    }

    /// Rows of the cells up to and including one, and `extra` ones.
    GradientSums left_of(std::size_t last, GradientSums extra) const {
        if (is_packed_) {
            return extra += task_.packing.unpack(
                       std::accumulate(packed_, packed_ + last + 1, std::uint64_t{0}));
        }
        for (std::size_t i = 0; i <= last; ++i) extra += wide_.at(i);
        return extra;
    }
    GradientSums scanned(std::size_t i) const {
        return is_packed_ ? task_.packing.unpack(packed_[i]) : wide_.at(i);
    }

    /// Scores the cuts behind the first n cells, with `extra` rows on the left, and keeps the best.
    void take_best(std::size_t n, const GradientSums& extra) {
        if (task_.settings.bounds_values()) return take_best_bounded(n, extra);
        CutTerms terms = limits_->terms;
        // Missing values alone on the left are the mirror image of all values on the left, which
        // was looked at before: only rounding could make it the better one.
        if (extra.weight > 0) terms.least_weight = std::max(terms.least_weight, extra.weight + 1);
        const Cut cut = is_packed_ ? active_best_cut_packed()(packed_, n, task_.packing.pack(extra),
                                                              terms, task_.packing)
                                   : active_best_cut_wide()(wide_, n, extra, terms);
        if (cut.quality < 0.0) return;
        const double gain = limits_->gain(cut.quality);
        if (is_better(gain)) keep(cut.bin, gain, left_of(cut.bin, extra), extra.weight > 0);
    }

    /// The same where values are bounded: the formula of the loss that given values remove.
    void take_best_bounded(std::size_t n, const GradientSums& extra) {
        const ValueBounds& bounds = task_.bounds;
        const double here = bounds.clip(objective_.value(task_.total));
        const double score = objective_.score_of(task_.total, here);
        const int direction = task_.settings.direction(feature_);
        GradientSums left = extra;
        for (std::size_t i = 0; i < n; ++i) {
            left += scanned(i);
            if (!limits_->allow(left)) continue;
            const GradientSums right = task_.total - left;
            const double a = bounds.clip(objective_.value(left));
            const double b = bounds.clip(objective_.value(right));
            if ((b - a) * direction < 0.0) continue;
            const double gain =
                0.5 * (objective_.score_of(left, a) + objective_.score_of(right, b) - score);
            if (is_better(gain)) keep(i, gain, left, extra.weight > 0);
        }
    }

    bool is_better(double gain) const { return gain > best_.gain && gain > limits_->least_gain; }

    void keep(std::size_t last, double gain, const GradientSums& left, bool missing_left) {
        best_.gain = gain;
        best_.feature = static_cast<std::int32_t>(feature_);
        best_.left = left;
        const bool left_is_larger = 2 * left.weight >= task_.total.weight;
        if (task_.bins.is_categorical(feature_)) return keep_categories(last, left_is_larger);
        best_.is_categorical = false;
        best_.bin = static_cast<std::int32_t>(last);
        best_.missing_left = missing_.weight > 0 ? missing_left : left_is_larger;
    }

    /// Categories in the order of gradient / hessian, missing values among them, cut once: the
    /// best of all subsets (Fisher 1958). Slopes that agree in 44 bits count as equal, and keep the
    /// order of their bins.
    ///
    /// Categories of few rows have extreme slopes by chance, and would find each other at the ends
    /// of the order. Where there are more than a few categories three things hold them back: slopes
    /// are drawn towards zero, children have a penalty of their own, and categories that weigh less
    /// than half the root of the node's weight do not take part and go right. Those that take part
    /// hold at least a quarter of the weight, though: where all categories are small none is held
    /// back.
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
        sort_categories(smoothing, careful ? support() : 1.0);
        copy_sorted();
        const SplitLimits careful_limits(
            task_.total, objective_, settings,
            careful ? settings.category_penalty * row_hessian * objective_.scales.hessian : 0.0);
        limits_ = &careful_limits;
        take_best(n_sorted_, {});
    }

    /// The least weight of a category that takes part, in integer units.
    double support() const {
        const double scale = objective_.scales.weight;
        const double least = task_.settings.category_support / scale;
        const double wanted = 0.5 * std::sqrt(objective_.weight(task_.total)) / scale;
        if (wanted <= least) return least;
        std::array<std::int64_t, kMostCells> weights;
        std::size_t n = 0;
        std::int64_t enough = 0;  // weight of the categories that reach what is wanted
        for (std::size_t bin = 0; bin <= n_values_; ++bin) {
            const std::int64_t weight = cell(bin).weight;
            if (static_cast<double>(weight) >= wanted) enough += weight;
            weights[n++] = weight;
        }
        if (4 * enough >= task_.total.weight) return wanted;
        std::sort(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(n),
                  std::greater<>());
        std::int64_t held = 0;
        std::size_t i = 0;
        while (4 * held < task_.total.weight) held += weights[i++];
        return std::max(static_cast<double>(weights[i - 1]), least);
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

    /// The cells in the order of their categories.
    void copy_sorted() {
        packed_ = packed_copy_.data();
        wide_ = {wide_copy_.data(), wide_copy_.data() + kMostCells,
                 wide_copy_.data() + 2 * kMostCells};
        for (std::size_t i = 0; i < n_sorted_; ++i) {
            if (is_packed_) {
                packed_copy_[i] = task_.histogram.packed(feature_)[sorted_[i]];
            } else {
                const GradientSums sums = cell(sorted_[i]);
                wide_.gradient[i] = sums.gradient;
                wide_.hessian[i] = sums.hessian;
                wide_.weight[i] = sums.weight;
            }
        }
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
    GradientSplit& best_;
    GradientSums missing_;
    const std::uint64_t* packed_ = nullptr;  ///< the cells in the order they are scanned
    WideCells wide_;
    std::size_t n_sorted_ = 0;
    std::array<std::uint8_t, kMostCells> sorted_;  ///< bins of categories
    std::array<bool, kMostCells> is_rare_;
    std::array<std::uint64_t, kMostCells> packed_copy_;
    std::array<std::int64_t, 3 * kMostCells> wide_copy_;
};

}  // namespace

SplitLimits::SplitLimits(const GradientSums& total, const GradientObjective& objective,
                         const GradientTreeSettings& settings, double penalty) {
    // Scales are powers of two: all of this is as exact in integer units as in real numbers.
    const ScanScales& scales = objective.scales;
    const double l2 = objective.l2 + penalty;
    const double h = objective.hessian(total);
    const double g = objective.gradient(total);
    const double span = h + 2.0 * l2;
    // G^2 / (H + 2 l2) - G^2 / (H + l2), without cancellation; with l1 the first part varies.
    offset = objective.l1 > 0.0       ? -objective.score(total)
             : h + objective.l2 > 0.0 ? -g * g * (l2 + penalty) / ((h + objective.l2) * span)
                                      : 0.0;
    per_quality = scales.gradient * scales.gradient / span;
    const std::int64_t weight =
        std::max(whole(settings.min_samples_leaf * kGridSlack / scales.weight), std::int64_t{1});
    const std::int64_t hessian = std::max(
        whole(settings.min_child_weight * kGridSlack / scales.hessian), std::int64_t{l2 == 0.0});
    const double child_l2 = l2 / scales.hessian;
    terms = {.gradient = static_cast<double>(total.gradient),
             .span = static_cast<double>(total.hessian) + 2.0 * child_l2,
             .l1 = objective.l1 / scales.gradient,
             .l2 = child_l2,
             .least_weight = weight,
             .most_weight = total.weight - weight,
             .least_hessian = hessian,
             .most_hessian = total.hessian - hessian};
    least_gain = std::max(settings.min_split_gain, 0.5 * kNoise * objective.score(total));
}

void search_feature(const SplitTask& task, std::size_t feature, GradientSplit& best) {
    FeatureSearch(task, feature, best).run();
}

}  // namespace spinney
