#include "native/trees/level_split.hpp"

#include <algorithm>
#include <array>

#include "native/base/random.hpp"
#include "native/trees/category_order.hpp"

namespace spinney {
namespace {

using Cells = std::array<GradientSums, kMostCells>;

/// The sums of every bin of a feature. Of a feature that shares its bundle the usual bin has what
/// the others leave of the node's total.
void read_cells(const SplitTask& node, std::size_t feature, Cells& cells) {
    const std::size_t n = node.bins.n_value_bins(feature) + 1;
    const FeaturePlace& place = node.bins.place(feature);
    if (!place.is_shared && node.histogram.is_packed(place.bundle)) {
        const std::uint64_t* words = node.histogram.packed(place.bundle);
        for (std::size_t bin = 0; bin < n; ++bin) cells[bin] = node.packing.unpack(words[bin]);
        return;
    }
    if (!place.is_shared) {
        const WideCells wide = node.histogram.wide(place.bundle);
        for (std::size_t bin = 0; bin < n; ++bin) cells[bin] = wide.at(bin);
        return;
    }
    std::fill_n(cells.begin(), n, GradientSums{});
    GradientSums away;
    for (std::size_t bin = 0; bin < place.n_bins; ++bin) {
        if (bin == place.usual) continue;
        cells[bin] = node.histogram.cell(node.packing, place.bundle, place.code(bin));
        away += cells[bin];
    }
    cells[place.usual] = node.total - away;
}

/// The limits of a node where there are so many categories that some look good by chance.
SplitLimits careful_limits(const SplitTask& node) {
    return {node.total, node.objective, node.settings,
            category_penalty(node.total, node.objective, node.settings)};
}

/// The search within one feature of a level.
class LevelSearch {
  public:
    LevelSearch(std::span<const SplitTask> level, std::uint64_t key, std::size_t feature,
                LevelSplit& best)
        : level_(level),
          settings_(level.front().settings),
          objective_(level.front().objective),
          key_(key),
          feature_(feature),
          is_categorical_(level.front().bins.is_categorical(feature)),
          n_values_(level.front().bins.n_value_bins(feature)),
          best_(best) {}

    void run() {
        add_up();
        if (is_categorical_) {
            sort_categories();
            if (order_.n_cuts() == 0) return;
            set_range(0, order_.n_cuts());
        } else if (!set_numeric_range()) {
            return;
        }
        take_best(false);
        if (!is_categorical_ && sums_[n_values_].weight > 0) take_best(true);
    }

  private:
    /// The sums of all nodes.
    void add_up() {
        std::fill(sums_.begin(), sums_.begin() + static_cast<std::ptrdiff_t>(n_values_) + 1,
                  GradientSums{});
        double noise = 0.0;
        for (const SplitTask& node : level_) {
            read_cells(node, feature_, cells_);
            for (std::size_t bin = 0; bin <= n_values_; ++bin) sums_[bin] += cells_[bin];
            total_ += node.total;
            noise += node.limits.noise;
        }
        least_gain_ = std::max(settings_.min_split_gain, noise);
    }

    /// Of the cuts that are there, all are judged, or one.
    void set_range(std::size_t first, std::size_t n_cuts) {
        first_ = first;
        end_ = first + n_cuts;
        if (!settings_.random_cuts) return;
        first_ +=
            static_cast<std::size_t>(random_below(key_, Stream::kThresholds, feature_, n_cuts));
        end_ = first_ + 1;
    }

    /// From the lowest bin that is not empty up to the highest; behind that one too where values
    /// are missing, which are alone then.
    bool set_numeric_range() {
        std::size_t low = 0;
        while (low < n_values_ && sums_[low].weight == 0) ++low;
        if (low == n_values_) return false;
        std::size_t high = n_values_ - 1;
        while (sums_[high].weight == 0) --high;
        const std::size_t n_cuts = high - low + (sums_[n_values_].weight > 0 ? 1 : 0);
        if (n_cuts > 0) set_range(low, n_cuts);
        return n_cuts > 0;
    }

    /// By the gradient that a category has beyond the means of its nodes, over its hessian: nodes
    /// say already what their means say.
    void sort_categories() {
        CategoryWeights present;
        present.n_values = n_values_;
        present.total = total_;
        for (std::size_t bin = 0; bin <= n_values_; ++bin) present.weights[bin] = sums_[bin].weight;
        is_careful_ = present.needs_care();
        std::array<double, kMostCells> beyond{};
        for (const SplitTask& node : level_) {
            read_cells(node, feature_, cells_);
            const auto hessian = static_cast<double>(node.total.hessian);
            const double mean =
                hessian > 0.0 ? static_cast<double>(node.total.gradient) / hessian : 0.0;
            for (std::size_t bin = 0; bin <= n_values_; ++bin) {
                beyond[bin] += static_cast<double>(cells_[bin].gradient) -
                               static_cast<double>(cells_[bin].hessian) * mean;
            }
        }
        const double smoothing =
            is_careful_ ? settings_.category_smoothing * row_hessian(total_, objective_) : 1.0;
        const double support = is_careful_ ? present.support(objective_, settings_) : 1.0;
        order_.sort(present, support, [&](std::size_t bin) {
            return beyond[bin] / (static_cast<double>(sums_[bin].hessian) + smoothing);
        });
    }

    /// Judges the cuts of the range, and keeps the best.
    void take_best(bool missing_left) {
        std::fill(gains_.begin() + static_cast<std::ptrdiff_t>(first_),
                  gains_.begin() + static_cast<std::ptrdiff_t>(end_), 0.0);
        for (const SplitTask& node : level_) {
            read_cells(node, feature_, cells_);
            if (is_careful_) {
                add_gains(node, careful_limits(node), missing_left);
            } else {
                add_gains(node, node.limits, missing_left);
            }
        }
        std::size_t place = end_;
        double most = std::max(best_.gain, least_gain_);
        for (std::size_t i = first_; i < end_; ++i) {
            if (gains_[i] <= most) continue;
            most = gains_[i];
            place = i;
        }
        if (place < end_) keep(place, missing_left);
    }

    /// Adds what one node gains by every cut. The sums on the left first: the gains do not wait
    /// for each other then.
    void add_gains(const SplitTask& node, const SplitLimits& limits, bool missing_left) {
        GradientSums left = missing_left ? cells_[n_values_] : GradientSums{};
        for (std::size_t i = 0; i < end_; ++i) {
            left += cells_[is_categorical_ ? order_[i] : i];
            left_[i] = left;
        }
        if (settings_.moves_values()) {
            const MovedGains moved(node, limits, feature_);
            for (std::size_t i = first_; i < end_; ++i) {
                gains_[i] += moved.of(left_[i]).value_or(0.0);
            }
            return;
        }
        for (std::size_t i = first_; i < end_; ++i) {
            const double gain = limits.gain(quality_of(left_[i], limits.terms));
            gains_[i] += limits.allow(left_[i]) ? gain : 0.0;
        }
    }

    void keep(std::size_t last, bool missing_left) {
        best_.gain = gains_[last];
        best_.feature = static_cast<std::int32_t>(feature_);
        best_.is_careful = is_careful_;
        std::int64_t weight = missing_left ? sums_[n_values_].weight : 0;
        for (std::size_t i = 0; i <= last; ++i) {
            weight += sums_[is_categorical_ ? order_[i] : i].weight;
        }
        const bool left_is_larger = 2 * weight >= total_.weight;
        if (is_categorical_) return order_.cut_behind(last, left_is_larger, best_);
        best_.is_categorical = false;
        best_.bin = static_cast<std::int32_t>(last);
        best_.missing_left = sums_[n_values_].weight > 0 ? missing_left : left_is_larger;
    }

    std::span<const SplitTask> level_;
    const GradientTreeSettings& settings_;
    const GradientObjective& objective_;
    std::uint64_t key_;
    std::size_t feature_;
    bool is_categorical_;
    bool is_careful_ = false;
    std::size_t n_values_;
    LevelSplit& best_;
    GradientSums total_;
    double least_gain_ = 0.0;
    std::size_t first_ = 0;  ///< cuts that are judged: [first, end)
    std::size_t end_ = 0;
    Cells sums_;   ///< of all nodes
    Cells cells_;  ///< of one node
    Cells left_;   ///< of one node, left of each cut
    CategoryOrder order_;
    std::array<double, kMostCells> gains_;  ///< of all nodes, per cut
};

}  // namespace

void search_level(std::span<const SplitTask> level, std::uint64_t key, std::size_t feature,
                  LevelSplit& best) {
    LevelSearch(level, key, feature, best).run();
}

GradientSplit split_of_node(const SplitTask& node, const LevelSplit& of_level) {
    const auto feature = static_cast<std::size_t>(of_level.feature);
    const auto missing_bin = static_cast<std::uint8_t>(node.bins.n_value_bins(feature));
    Cells cells;
    read_cells(node, feature, cells);
    GradientSums left;
    for (std::size_t bin = 0; bin <= missing_bin; ++bin) {
        if (of_level.sends_left(static_cast<std::uint8_t>(bin), missing_bin)) left += cells[bin];
    }
    const SplitLimits limits = of_level.is_careful ? careful_limits(node) : node.limits;
    const std::optional<double> gain = gain_of(node, limits, feature, left);
    GradientSplit split;
    if (!gain) return split;
    static_cast<Split&>(split) = of_level;
    split.gain = *gain;
    split.left = left;
    return split;
}

}  // namespace spinney
