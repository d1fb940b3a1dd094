#include "native/trees/gradient_split.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/trees/category_order.hpp"

namespace spinney {
namespace {

/// Weights stand on a grid: ten rows of weight 0.1 may weigh a hair less than 1 there.
constexpr double kGridSlack = 1.0 - 0x1p-40;
/// A gain this small, relative to the node's own score, is rounding noise.
constexpr double kNoise = 0x1p-46;

#if defined(__x86_64__) && defined(__GNUC__)
BestCutPacked* active_best_cut_packed() {
    return pick<BestCutPacked>(best_cut_packed_portable, best_cut_packed_avx2,
                               best_cut_packed_avx512);
}
BestCutNarrow* active_best_cut_narrow() {
    return pick<BestCutNarrow>(best_cut_narrow_portable, best_cut_narrow_avx2,
                               best_cut_narrow_avx512);
}
BestCutWide* active_best_cut_wide() {
    return pick<BestCutWide>(best_cut_wide_portable, best_cut_wide_avx2, best_cut_wide_avx512);
}
#else
BestCutPacked* active_best_cut_packed() { return best_cut_packed_portable; }
BestCutNarrow* active_best_cut_narrow() { return best_cut_narrow_portable; }
BestCutWide* active_best_cut_wide() { return best_cut_wide_portable; }
#endif

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
          place_(task.bins.place(feature)),
          is_packed_(task.histogram.is_packed(place_.bundle)),
          sums_fit_(task.histogram.is_packed()),
          feature_(feature),
          n_values_(task.bins.n_value_bins(feature)),
          best_(best) {}

    void run() {
        if (!find_cells()) return;
        missing_ = cell(n_values_);
        if (task_.bins.is_categorical(feature_)) return search_categories();
        packed_ = packed_cells_;
        wide_ = wide_cells_;
        if (task_.settings.random_cuts) return take_random_cut();
        take_best(n_values_, {});
        if (missing_.weight > 0) take_best(n_values_, missing_);
    }

  private:
    GradientSums cell(std::size_t bin) const {
        return is_packed_ ? task_.packing.unpack(packed_cells_[bin]) : wide_cells_.at(bin);
    }

    /// False where the bundle tells that no split leaves both sides enough: one of them has no row
    /// of the usual bin.
    bool find_cells() {
        if (is_packed_) packed_cells_ = task_.histogram.packed(place_.bundle);
        if (!is_packed_) wide_cells_ = task_.histogram.wide(place_.bundle);
        if (!place_.is_shared) return true;
        return sums_fit_ ? gather_words() : gather_sums();
    }

    /// Cells of a feature that shares its bundle, side by side. What is in the usual bin is the
    /// node's total without the others.
    bool gather_words() {
        const std::uint64_t* codes = packed_cells_ + place_.first_code;
        const std::size_t n_away = place_.n_bins - 1;
        const std::uint64_t away = std::accumulate(codes, codes + n_away, std::uint64_t{0});
        if (task_.packing.unpack(away).weight < limits_->terms.least_weight) return false;
        for (std::size_t i = 0; i < n_away; ++i) own_words_[i + (i >= place_.usual)] = codes[i];
        own_words_[place_.usual] = task_.packing.pack(task_.total) - away;
        for (std::size_t bin = place_.n_bins; bin <= n_values_; ++bin) own_words_[bin] = 0;
        packed_cells_ = own_words_.data();
        return true;
    }

    bool gather_sums() {
        GradientSums away;
        for (std::size_t i = 0; i + 1 < place_.n_bins; ++i) {
            const GradientSums sums = cell(place_.first_code + i);
            put_own(i + (i >= place_.usual), sums);
            away += sums;
        }
        if (away.weight < limits_->terms.least_weight) return false;
        put_own(place_.usual, task_.total - away);
        for (std::size_t bin = place_.n_bins; bin <= n_values_; ++bin) put_own(bin, {});
        wide_cells_ = {own_sums_.data(), own_sums_.data() + kMostCells,
                       own_sums_.data() + 2 * kMostCells};
        is_packed_ = false;
        return true;
    }
    void put_own(std::size_t bin, const GradientSums& sums) {
        own_sums_[bin] = sums.gradient;
        own_sums_[kMostCells + bin] = sums.hessian;
        own_sums_[2 * kMostCells + bin] = sums.weight;
    }

    /// Rows of the cells up to and including one, and `extra` ones.
    GradientSums left_of(std::size_t last, GradientSums extra) const {
        if (sums_fit_) {
            return extra += task_.packing.unpack(
                       std::accumulate(packed_, packed_ + last + 1, std::uint64_t{0}));
        }
        for (std::size_t i = 0; i <= last; ++i) extra += scanned(i);
        return extra;
    }
    GradientSums scanned(std::size_t i) const {
        return is_packed_ ? task_.packing.unpack(packed_[i]) : wide_.at(i);
    }

    /// Scores the cuts behind the first n cells, with `extra` rows on the left, and keeps the best.
    void take_best(std::size_t n, const GradientSums& extra) {
        if (task_.settings.moves_values()) return take_best_moved(n, extra);
        CutTerms terms = limits_->terms;
        // Missing values alone on the left are the mirror image of all values on the left, which
        // was looked at before: only rounding could make it the better one.
        if (extra.weight > 0) terms.least_weight = std::max(terms.least_weight, extra.weight + 1);
        terms.to_beat = limits_->quality_below(std::max(best_.gain, limits_->least_gain));
        const Packing& packing = task_.packing;
        const Cut cut =
            sums_fit_    ? active_best_cut_packed()(packed_, n, packing.pack(extra), terms, packing)
            : is_packed_ ? active_best_cut_narrow()(packed_, n, extra, terms, packing)
                         : active_best_cut_wide()(wide_, n, extra, terms);
        if (cut.quality < 0.0) return;
        const double gain = limits_->gain(cut.quality);
        if (!is_better(gain)) return;
        const GradientSums left = sums_fit_ ? packing.unpack(cut.left) : left_of(cut.bin, extra);
        keep(cut.bin, gain, left, extra.weight > 0);
    }

    /// The same where values are bounded or smoothed.
    void take_best_moved(std::size_t n, const GradientSums& extra) {
        const MovedGains gains(task_, *limits_, feature_);
        GradientSums left = extra;
        for (std::size_t i = 0; i < n; ++i) {
            left += scanned(i);
            const std::optional<double> gain = gains.of(left);
            if (gain && is_better(*gain)) keep(i, *gain, left, extra.weight > 0);
        }
    }

    /// One cut, anywhere from the node's lowest bin up to its highest; behind that one too where
    /// values are missing, which are alone then.
    void take_random_cut() {
        std::size_t low = 0;
        while (low < n_values_ && scanned(low).weight == 0) ++low;
        if (low == n_values_) return;
        std::size_t high = n_values_ - 1;
        while (scanned(high).weight == 0) --high;
        const std::size_t n_cuts = high - low + (missing_.weight > 0 ? 1 : 0);
        if (n_cuts == 0) return;
        const std::size_t last = low + drawn_below(n_cuts);
        take_cut(last, {});
        if (missing_.weight > 0) take_cut(last, missing_);
    }
    std::size_t drawn_below(std::size_t n) const {
        return static_cast<std::size_t>(random_below(task_.key, Stream::kThresholds, feature_, n));
    }

    /// Scores the cut behind one cell, with `extra` rows on the left.
    void take_cut(std::size_t last, const GradientSums& extra) {
        const GradientSums left = left_of(last, extra);
        const std::optional<double> gain = gain_of(task_, *limits_, feature_, left);
        if (gain && is_better(*gain)) keep(last, *gain, left, extra.weight > 0);
    }

    bool is_better(double gain) const { return gain > best_.gain && gain > limits_->least_gain; }

    void keep(std::size_t last, double gain, const GradientSums& left, bool missing_left) {
        best_.gain = gain;
        best_.feature = static_cast<std::int32_t>(feature_);
        best_.left = left;
        const bool left_is_larger = 2 * left.weight >= task_.total.weight;
        if (task_.bins.is_categorical(feature_)) {
            return order_.cut_behind(last, left_is_larger, best_);
        }
        best_.is_categorical = false;
        best_.bin = static_cast<std::int32_t>(last);
        best_.missing_left = missing_.weight > 0 ? missing_left : left_is_larger;
    }

    /// Categories in the order of gradient / hessian, missing values among them, cut once: the
    /// best of all subsets (Fisher 1958). See CategoryWeights for what holds small ones back.
    void search_categories() {
        CategoryWeights present;
        present.n_values = n_values_;
        present.total = task_.total;
        for (std::size_t bin = 0; bin <= n_values_; ++bin) present.weights[bin] = cell(bin).weight;
        const bool careful = present.needs_care();
        const GradientTreeSettings& settings = task_.settings;
        // Never without smoothing: a category whose hessians round to nothing stays in order.
        const double smoothing =
            careful ? settings.category_smoothing * row_hessian(task_.total, objective_) : 1.0;
        const double support = careful ? present.support(objective_, settings) : 1.0;
        order_.sort(present, support, [&](std::size_t bin) {
            const GradientSums sums = cell(bin);
            return static_cast<double>(sums.gradient) /
                   (static_cast<double>(sums.hessian) + smoothing);
        });
        copy_sorted();
        const SplitLimits careful_limits(
            task_.total, objective_, settings,
            careful ? category_penalty(task_.total, objective_, settings) : 0.0);
        limits_ = &careful_limits;
        if (!settings.random_cuts) return take_best(order_.size(), {});
        const std::size_t n_cuts = order_.n_cuts();
        if (n_cuts > 0) take_cut(drawn_below(n_cuts), {});
    }

    /// The cells in the order of their categories.
    void copy_sorted() {
        packed_ = packed_copy_.data();
        wide_ = {wide_copy_.data(), wide_copy_.data() + kMostCells,
                 wide_copy_.data() + 2 * kMostCells};
        for (std::size_t i = 0; i < order_.size(); ++i) {
            if (is_packed_) {
                packed_copy_[i] = packed_cells_[order_[i]];
            } else {
                const GradientSums sums = cell(order_[i]);
                wide_.gradient[i] = sums.gradient;
                wide_.hessian[i] = sums.hessian;
                wide_.weight[i] = sums.weight;
            }
        }
    }

    const SplitTask& task_;
    const GradientObjective& objective_;
    const SplitLimits* limits_;
    const FeaturePlace& place_;
    bool is_packed_;  ///< the cells
    bool sums_fit_;   ///< and so are the sums of some
    std::size_t feature_;
    std::size_t n_values_;
    GradientSplit& best_;
    GradientSums missing_;
    const std::uint64_t* packed_cells_ = nullptr;  ///< of all bins
    WideCells wide_cells_;
    const std::uint64_t* packed_ = nullptr;  ///< the cells in the order they are scanned
    WideCells wide_;
    CategoryOrder order_;
    std::array<std::uint64_t, kMostCells> packed_copy_;
    std::array<std::int64_t, 3 * kMostCells> wide_copy_;
    std::array<std::uint64_t, kMostCells> own_words_;  ///< the cells of a feature that shares
    std::array<std::int64_t, 3 * kMostCells> own_sums_;
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
    noise = 0.5 * kNoise * objective.score(total);
    least_gain = std::max(settings.min_split_gain, noise);
}

double quality_of(const GradientSums& left, const CutTerms& at) {
    const double c = static_cast<double>(left.hessian) + at.l2;
    const double d = at.span - c;
    const auto g = static_cast<double>(left.gradient);
    if (at.l1 > 0.0) {
        const double a = shrunk_by(at.l1, g);
        const double b = shrunk_by(at.l1, at.gradient - g);
        const double cross = a * d - b * c;
        return cross * cross / (c * d) + (a + b) * (a + b);
    }
    const double cross = g * at.span - at.gradient * c;
    return cross * cross / (c * d);
}

std::optional<double> gain_of(const SplitTask& task, const SplitLimits& limits, std::size_t feature,
                              const GradientSums& left) {
    if (task.settings.moves_values()) return MovedGains(task, limits, feature).of(left);
    if (!limits.allow(left)) return std::nullopt;
    return limits.gain(quality_of(left, limits.terms));
}

void search_feature(const SplitTask& task, std::size_t feature, GradientSplit& best) {
    FeatureSearch(task, feature, best).run();
}

}  // namespace spinney
