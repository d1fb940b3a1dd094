#include "native/trees/vector_split.hpp"

#include <algorithm>
#include <array>

#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/trees/category_order.hpp"

namespace spinney {
namespace {

/// A gain this small, relative to the node's own score, is rounding noise.
constexpr double kNoise = 0x1p-46;

#if defined(__x86_64__) && defined(__GNUC__)
AddGains* active_add_gains() {
    return pick<AddGains>(add_gains_portable, add_gains_avx2, add_gains_avx512);
}
#else
AddGains* active_add_gains() { return add_gains_portable; }
#endif

/// The search within one feature of one node.
class VectorSearch {
  public:
    VectorSearch(const VectorTask& task, std::size_t feature, Split& best)
        : task_(task),
          feature_(feature),
          n_values_(task.bins.n_value_bins(feature)),
          n_outputs_(task.outputs.size()),
          best_(best),
          cells_(cells_of_thread()) {
        cells_.resize(n_outputs_ * kMostCells);
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            read_bins(task.bins, feature, task.outputs.packed[k].packing(), task.totals[k],
                      task.histograms[k], cells_.data() + k * kMostCells);
        }
    }

    void run() {
        if (task_.bins.is_categorical(feature_)) return search_categories();
        for (std::size_t bin = 0; bin < n_values_; ++bin) {
            order_[bin] = static_cast<std::uint8_t>(bin);
        }
        if (task_.settings.random_cuts && !draw_cut()) return;
        take_best(n_values_, false);
        if (has_missing()) take_best(n_values_, true);
    }

  private:
    /// Kept between features: a node has thousands of cells.
    static std::vector<GradientSums>& cells_of_thread() {
        thread_local std::vector<GradientSums> cells;
        return cells;
    }

    const GradientSums& cell(std::size_t k, std::size_t bin) const {
        return cells_[k * kMostCells + bin];
    }
    bool has_missing() const { return cell(0, n_values_).weight > 0; }

    /// One cut, anywhere from the node's lowest bin up to its highest; behind that one too where
    /// values are missing, which are alone then. False: there is none.
    bool draw_cut() {
        std::size_t low = 0;
        while (low < n_values_ && cell(0, low).weight == 0) ++low;
        if (low == n_values_) return false;
        std::size_t high = n_values_ - 1;
        while (cell(0, high).weight == 0) --high;
        return draw_cut(low, high - low + (has_missing() ? 1 : 0));
    }
    bool draw_cut(std::size_t low, std::size_t n_cuts) {
        if (n_cuts == 0) return false;
        first_cut_ = low + random_below(task_.key, Stream::kThresholds, feature_, n_cuts);
        n_cuts_ = 1;
        return true;
    }

    /// Scores the cuts behind the first n cells of the order, missing values on the left or not,
    /// and keeps the best.
    void take_best(std::size_t n, bool missing_left) {
        const SplitLimits limits = limits_of(0);
        std::int64_t least = limits.terms.least_weight;
        std::int64_t weight = 0;
        if (missing_left) {
            weight = cell(0, n_values_).weight;
            // Missing values alone on the left are the mirror image of all values on the left.
            if (!task_.settings.random_cuts) least = std::max(least, weight + 1);
        }
        std::size_t first = n;
        std::size_t last = 0;  // behind the last cut that both sides of weigh enough
        for (std::size_t i = 0; i < n; ++i) {
            weight += cell(0, order_[i]).weight;
            left_weights_[i] = weight;
            if (weight < least || weight > limits.terms.most_weight) continue;
            if (i < first_cut_ || i - first_cut_ >= n_cuts_) continue;
            first = std::min(first, i);
            last = i + 1;
        }
        if (first >= last) return;
        std::fill(gains_.begin() + static_cast<std::ptrdiff_t>(first),
                  gains_.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
        std::fill(whole_.begin() + static_cast<std::ptrdiff_t>(first),
                  whole_.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
        for (std::size_t k = 0; k < n_outputs_; ++k) add_output(k, first, last, missing_left);
        for (std::size_t i = first; i < last; ++i) {
            const double gain = 0.5 * gains_[i];
            if (whole_[i] > 0.0 && gain > best_.gain && gain > task_.least_gain) {
                keep(i, gain, missing_left);
            }
        }
    }

    SplitLimits limits_of(std::size_t k) const {
        return {task_.totals[k], task_.outputs.objectives[k], task_.settings, penalty_of(k)};
    }
    double penalty_of(std::size_t k) const {
        return is_careful_ ? task_.settings.category_penalty * row_hessian(k) *
                                 task_.outputs.objectives[k].scales.hessian
                           : 0.0;
    }
    /// Of a row of weight 1, in integer units.
    double row_hessian(std::size_t k) const {
        const GradientSums& total = task_.totals[k];
        return static_cast<double>(total.hessian) /
               (static_cast<double>(total.weight) * task_.outputs.objectives[k].scales.weight);
    }

    /// Adds twice the gain of one output by the cuts [first, last).
    void add_output(std::size_t k, std::size_t first, std::size_t last, bool missing_left) {
        GradientSums left = missing_left ? cell(k, n_values_) : GradientSums{};
        for (std::size_t i = 0; i < last; ++i) {
            left += cell(k, order_[i]);
            gradients_[i] = static_cast<double>(left.gradient);
            hessians_[i] = static_cast<double>(left.hessian);
        }
        if (task_.settings.moves_values()) return add_moved(k, first, last);
        const SplitLimits limits = limits_of(k);
        const GradientObjective& objective = task_.outputs.objectives[k];
        const ScanScales& scales = objective.scales;
        const GradientSums& total = task_.totals[k];
        const bool is_there = total.hessian >= limits.terms.least_hessian;
        const OutputTerms terms = {.gradient = limits.terms.gradient,
                                   .hessian = static_cast<double>(total.hessian),
                                   .l1 = limits.terms.l1,
                                   .l2 = limits.terms.l2,
                                   .least_hessian = static_cast<double>(limits.terms.least_hessian),
                                   .per_quality = limits.per_quality,
                                   .offset = limits.offset,
                                   .per_score = scales.gradient * scales.gradient / scales.hessian,
                                   .node_score = is_there ? objective.score(total) : 0.0};
        active_add_gains()(gradients_.data() + first, hessians_.data() + first, last - first, terms,
                           gains_.data() + first, whole_.data() + first);
    }

    /// The same where values are moved: the formula of the loss that given values remove.
    void add_moved(std::size_t k, std::size_t first, std::size_t last) {
        const GradientObjective& objective = task_.outputs.objectives[k];
        const GradientSums& total = task_.totals[k];
        const std::int64_t least = limits_of(k).terms.least_hessian;
        const double here = objective.score_of(total, task_.values[k]);
        const ValueBounds bounds = ValueBounds::of_root(task_.settings);
        const auto score = [&](const GradientSums& sums) {
            const double own = sums.hessian < least ? 0.0 : bounds.clip(objective.value(sums));
            const double weight = objective.weight(sums);
            return objective.score_of(
                sums, bounds.clip(task_.settings.smoothed(own, weight, task_.values[k])));
        };
        for (std::size_t i = first; i < last; ++i) {
            const GradientSums left = {static_cast<std::int64_t>(gradients_[i]),
                                       static_cast<std::int64_t>(hessians_[i]), left_weights_[i]};
            const GradientSums right = total - left;
            gains_[i] += score(left) + score(right) - here;
            whole_[i] += left.hessian >= least && right.hessian >= least ? 1.0 : 0.0;
        }
    }

    void keep(std::size_t last, double gain, bool missing_left) {
        best_.gain = gain;
        best_.feature = static_cast<std::int32_t>(feature_);
        const bool left_is_larger = 2 * left_weights_[last] >= task_.totals[0].weight;
        if (task_.bins.is_categorical(feature_)) {
            return categories_.cut_behind(last, left_is_larger, best_);
        }
        best_.is_categorical = false;
        best_.bin = static_cast<std::int32_t>(last);
        best_.missing_left = has_missing() ? missing_left : left_is_larger;
    }

    void search_categories() {
        CategoryWeights present;
        present.n_values = n_values_;
        present.total = task_.totals[0];
        for (std::size_t bin = 0; bin <= n_values_; ++bin) {
            present.weights[bin] = cell(0, bin).weight;
        }
        is_careful_ = present.needs_care();
        const double support =
            is_careful_ ? present.support(task_.outputs.objectives[0], task_.settings) : 1.0;
        const std::size_t k = leading_output(support);
        categories_.sort(present, support, [&](std::size_t bin) { return slope(k, cell(k, bin)); });
        if (task_.settings.random_cuts && !draw_cut(0, categories_.n_cuts())) return;
        for (std::size_t i = 0; i < categories_.size(); ++i) {
            order_[i] = static_cast<std::uint8_t>(categories_[i]);
        }
        take_best(categories_.size(), false);
    }

    /// Never without smoothing: a category whose hessians round to nothing stays in order.
    double slope(std::size_t k, const GradientSums& sums) const {
        return static_cast<double>(sums.gradient) /
               (static_cast<double>(sums.hessian) + smoothing(k));
    }
    double smoothing(std::size_t k) const {
        return is_careful_ ? task_.settings.category_smoothing * row_hessian(k) : 1.0;
    }

    /// The output that could gain most if every category had a value of its own.
    std::size_t leading_output(double support) const {
        std::size_t leading = 0;
        double most = -1.0;
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            double gain = 0.0;
            double gradient = 0.0;
            double hessian = 0.0;
            for (std::size_t bin = 0; bin <= n_values_; ++bin) {
                const GradientSums& sums = cell(k, bin);
                if (static_cast<double>(sums.weight) < support) continue;
                gain += slope(k, sums) * static_cast<double>(sums.gradient);
                gradient += static_cast<double>(sums.gradient);
                hessian += static_cast<double>(sums.hessian) + smoothing(k);
            }
            if (hessian > 0.0) gain -= gradient * gradient / hessian;
            const ScanScales& scales = task_.outputs.objectives[k].scales;
            gain *= scales.gradient * scales.gradient / scales.hessian;
            if (gain > most) {
                most = gain;
                leading = k;
            }
        }
        return leading;
    }

    const VectorTask& task_;
    std::size_t feature_;
    std::size_t n_values_;
    std::size_t n_outputs_;
    Split& best_;
    std::vector<GradientSums>& cells_;  ///< output by output, kMostCells apart
    bool is_careful_ = false;           ///< many categories: see category_order.hpp
    CategoryOrder categories_;
    std::size_t first_cut_ = 0;  ///< the cuts that are judged: all, or a drawn one
    std::size_t n_cuts_ = kMostCells;
    std::array<std::uint8_t, kMostCells> order_;  ///< bins, as they are scanned
    std::array<std::int64_t, kMostCells> left_weights_;
    std::array<double, kMostCells> gradients_;  ///< on the left of each cut, of one output
    std::array<double, kMostCells> hessians_;
    std::array<double, kMostCells> gains_;  ///< twice, of all outputs so far
    std::array<double, kMostCells> whole_;  ///< outputs that take part on both sides
};

}  // namespace

void read_bins(const TrainingBins& bins, std::size_t feature, const Packing& packing,
               const GradientSums& total, GradientHistogram& histogram, GradientSums* to) {
    const FeaturePlace& place = bins.place(feature);
    const std::size_t n_read = place.is_shared ? place.n_bins : bins.n_value_bins(feature) + 1;
    const bool is_packed = histogram.is_packed(place.bundle);
    const std::uint64_t* words = is_packed ? histogram.packed(place.bundle) : nullptr;
    const WideCells wide = is_packed ? WideCells{} : histogram.wide(place.bundle);
    const auto cell = [&](std::size_t code) {
        return is_packed ? packing.unpack(words[code]) : wide.at(code);
    };
    if (!place.is_shared) {
        for (std::size_t bin = 0; bin < n_read; ++bin) to[bin] = cell(bin);
        return;
    }
    GradientSums away;  // from the usual bin
    for (std::size_t bin = 0; bin < n_read; ++bin) {
        if (bin == place.usual) continue;
        to[bin] = cell(place.code(bin));
        away += to[bin];
    }
    to[place.usual] = total - away;
    std::fill(to + n_read, to + bins.n_value_bins(feature) + 1, GradientSums{});
}

double OutputSet::least_gain(std::span<const GradientSums> totals,
                             const GradientTreeSettings& settings) const {
    double score = 0.0;
    for (std::size_t k = 0; k < size(); ++k) score += objectives[k].score(totals[k]);
    return std::max(settings.min_split_gain, 0.5 * kNoise * score);
}

double OutputSet::root_value(std::size_t output, const GradientSums& sums,
                             const GradientTreeSettings& settings) const {
    const GradientObjective& objective = objectives[output];
    const SplitLimits limits(sums, objective, settings);
    const bool takes_part = sums.hessian >= limits.terms.least_hessian;
    return takes_part ? ValueBounds::of_root(settings).clip(objective.value(sums)) : 0.0;
}

double OutputSet::child_value(std::size_t output, const GradientSums& sums,
                              const GradientTreeSettings& settings, double parent) const {
    const double own = root_value(output, sums, settings);
    const double weight = objectives[output].weight(sums);
    return ValueBounds::of_root(settings).clip(settings.smoothed(own, weight, parent));
}

void search_vector_feature(const VectorTask& task, std::size_t feature, Split& best) {
    VectorSearch(task, feature, best).run();
}

}  // namespace spinney
