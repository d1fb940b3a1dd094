/// The split of one node that lowers absolute error most, feature by feature.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "native/base/random.hpp"
#include "native/trees/joint_medians.hpp"
#include "native/trees/key_sort.hpp"
#include "native/trees/node_search.hpp"
#include "native/trees/ranked_columns.hpp"

namespace spinney {

/// Looks for splits of one node after the other.
class AbsoluteSearch {
  public:
    /// scales: of products and of weights.
    AbsoluteSearch(const RankedColumns& columns, bool at_random, const SplitRules& rules,
                   std::pair<double, double> scales)
        : columns_(columns),
          at_random_(at_random),
          rules_(rules),
          product_scale_(scales.first),
          weight_scale_(scales.second) {}

    /// The node the next searches are about: its rows in the orders of their targets; whole: see
    /// MedianSums; bounds: what medians must stay within.
    void enter(std::span<const OutputOrder> orders, bool whole, const MeanBounds& bounds) {
        orders_ = orders;
        rows_ = orders[0].rows;
        own_ = orders[0].own;
        bounds_ = bounds;
        sums_.enter(orders, whole);
        for (std::size_t i = 0; i < rows_.size(); ++i) sums_.put(i);
        total_weight_ = sums_.weight();
        error_ = sums_.least_error();
    }

    /// Puts the best split on feature f into `best` if it is better than that. False if the feature
    /// is the same for all rows.
    bool search(std::size_t f, std::uint64_t node_key, RankSplit& best) {
        feature_ = f;
        best_ = &best;
        key_ = random_bits(node_key, Stream::kThresholds, f);
        const RankedFeature& feature = columns_.feature(f);
        return feature.is_categorical ? search_categories(feature) : search_numbers(feature);
    }

  private:
    static constexpr double kRounding = 0x1p-48;

    /// What the rows on one side of a cut are like.
    struct Side {
        double error = 0.0;
        double median = 0.0;  ///< where constraints ask for it
    };

    /// Of the rows that are in.
    Side side() const {
        const bool is_asked = !rules_.directions.empty() && sums_.weight() > 0;
        return {sums_.least_error(), is_asked ? sums_.median() : 0.0};
    }

    bool search_numbers(const RankedFeature& feature) {
        keys_.clear();
        missing_.clear();
        missing_weight_ = 0;
        feature.with_ranks([&](const auto* ranks) { gather(ranks, feature.missing_rank()); });
        if (keys_.empty()) return false;
        std::sort(keys_.begin(), keys_.end());
        const bool is_same = rank_of(keys_.front()) == rank_of(keys_.back());
        if (is_same && missing_.empty()) return false;
        if (at_random_ && !is_same) {
            cut_at_random(feature);
        } else {
            judge_cuts();
        }
        return true;
    }

    template <class Rank>
    void gather(const Rank* ranks, std::uint32_t missing_rank) {
        for (std::uint32_t i = 0; i < rows_.size(); ++i) {
            const std::uint32_t rank = ranks[rows_[i]];
            if (rank == missing_rank) {
                missing_.push_back(i);
                missing_weight_ += own_[i].weight;
            } else {
                keys_.push_back(rank_key(rank, i));
            }
        }
    }

    void start(bool with_missing) {
        sums_.clear();
        if (!with_missing) return;
        for (const std::uint32_t position : missing_) sums_.put(position);
    }

    bool ends_value(std::size_t i) const {
        return i + 1 == keys_.size() || rank_of(keys_[i]) != rank_of(keys_[i + 1]);
    }

    /// sides[i]: of the rows up to key i, told where a value ends.
    void sides_from_left(bool with_missing, std::vector<Side>& sides) {
        start(with_missing);
        sides.resize(keys_.size());
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            sums_.put(payload_of(keys_[i]));
            if (ends_value(i)) sides[i] = side();
        }
    }

    /// sides[i]: of the rows behind key i, told where a value ends.
    void sides_from_right(bool with_missing, std::vector<Side>& sides) {
        start(with_missing);
        sides.resize(keys_.size());
        for (std::size_t i = keys_.size(); i-- > 0;) {
            if (ends_value(i)) sides[i] = side();
            sums_.put(payload_of(keys_[i]));
        }
    }

    /// Every cut, with missing values on either side.
    void judge_cuts() {
        const bool any_missing = !missing_.empty();
        sides_from_left(false, left_);
        sides_from_right(any_missing, right_);
        if (any_missing) {
            sides_from_left(true, left_with_);
            sides_from_right(false, right_without_);
        }
        std::int64_t weight = 0;
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            weight += own_[payload_of(keys_[i])].weight;
            if (!ends_value(i)) continue;
            const bool is_last = i + 1 == keys_.size();
            const std::uint32_t rank = rank_of(keys_[i]);
            if ((!is_last || any_missing) && is_best(left_[i], right_[i], weight)) {
                keep(rank, weight, false);
            }
            if (!any_missing || is_last) continue;
            const std::int64_t both = weight + missing_weight_;
            if (is_best(left_with_[i], right_without_[i], both)) keep(rank, both, true);
        }
    }

    bool fits(std::int64_t left_weight) const {
        const double own = static_cast<double>(left_weight) * weight_scale_;
        const double rest = static_cast<double>(total_weight_ - left_weight) * weight_scale_;
        return own >= rules_.min_leaf && rest >= rules_.min_leaf;
    }

    bool is_allowed(const Side& left, const Side& right) const {
        const double direction = rules_.directions[feature_];
        return bounds_.hold(left.median) && bounds_.hold(right.median) &&
               direction * (right.median - left.median) >= 0.0;
    }

    bool is_best(const Side& left, const Side& right, std::int64_t left_weight) {
        if (!fits(left_weight) || (!rules_.directions.empty() && !is_allowed(left, right))) {
            return false;
        }
        const double error = left.error + right.error;
        // Errors that differ by rounding alone are equal: the first cut of them wins.
        const double lowered = error_ - error <= kRounding * error_ ? 0.0 : error_ - error;
        const double gain = lowered * product_scale_;
        if (!(gain > best_->gain + kRounding * error_ * product_scale_)) return false;
        best_->feature = static_cast<std::int32_t>(feature_);
        best_->gain = gain;
        best_->is_categorical = false;
        best_->middle = left.median / 2 + right.median / 2;
        return true;
    }

    void keep(std::uint32_t last_rank, std::int64_t left_weight, bool missing_left) {
        best_->last_rank = last_rank;
        best_->left_is_larger = 2 * left_weight > total_weight_;
        best_->missing_left = missing_.empty() ? best_->left_is_larger : missing_left;
    }

    /// One cut, anywhere between the least and the largest value with the same chance.
    void cut_at_random(const RankedFeature& feature) {
        const std::uint32_t lowest = rank_of(keys_.front());
        const std::uint32_t highest = rank_of(keys_.back());
        const double low = feature.values[lowest];
        const double high = feature.values[highest];
        const double share = random_unit(key_, Stream::kThresholds, 0);
        double threshold = low * (1.0 - share) + high * share;
        if (!(threshold >= low && threshold < high)) threshold = low;
        const auto above = std::upper_bound(feature.values.begin() + lowest,
                                            feature.values.begin() + highest, threshold);
        const auto last_rank = static_cast<std::uint32_t>(above - feature.values.begin() - 1);
        const bool missing_left = (random_bits(key_, Stream::kThresholds, 1) & 1) != 0;
        const auto n_left = static_cast<std::size_t>(
            std::lower_bound(keys_.begin(), keys_.end(), rank_key(last_rank + 1, 0)) -
            keys_.begin());
        const Side right = side_of(n_left, keys_.size(), !missing_left);
        const Side left = side_of(0, n_left, missing_left);
        const std::int64_t weight = sums_.weight();
        if (is_best(left, right, weight)) {
            keep(last_rank, weight, missing_left);
            best_->threshold = threshold;
        }
    }

    /// Of some keys, and of missing values if they are with them; leaves these rows in sums_.
    Side side_of(std::size_t first, std::size_t last, bool with_missing) {
        start(with_missing);
        for (std::size_t i = first; i < last; ++i) sums_.put(payload_of(keys_[i]));
        return side();
    }

    /// Categories with rows, missing values as one more, in the order of their medians, of each
    /// output; or those that draws send left, and then the others.
    bool search_categories(const RankedFeature& feature) {
        weigh_bins(feature);
        for (std::size_t k = 0; k < orders_.size(); ++k) {
            order_bins(feature, orders_[k]);
            if (bins_.size() < 2) return false;
            cut_bins(feature, at_random_ ? draw_bins() : 0);
            if (at_random_) break;
        }
        return true;
    }

    /// Cuts between bins; n_drawn: 0, or how many go left.
    void cut_bins(const RankedFeature& feature, std::size_t n_drawn) {
        place_of_bin_.assign(feature.n_bins + 1, 0);
        for (std::uint32_t i = 0; i < bins_.size(); ++i) place_of_bin_[bins_[i]] = i;
        keys_.clear();
        missing_.clear();
        for (std::uint32_t i = 0; i < rows_.size(); ++i) {
            keys_.push_back(rank_key(place_of_bin_[feature.bins[rows_[i]]], i));
        }
        std::sort(keys_.begin(), keys_.end());
        sides_from_left(false, left_);
        sides_from_right(false, right_);
        std::int64_t weight = 0;
        for (std::size_t i = 0; i + 1 < keys_.size(); ++i) {
            weight += own_[payload_of(keys_[i])].weight;
            const std::size_t n_left = rank_of(keys_[i]) + std::size_t{1};
            if (!ends_value(i) || (at_random_ && n_left != n_drawn)) continue;
            if (is_best(left_[i], right_[i], weight)) keep_categories(feature, n_left, weight);
        }
    }

    void weigh_bins(const RankedFeature& feature) {
        weight_of_bin_.assign(feature.n_bins + 1, 0);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            weight_of_bin_[feature.bins[rows_[i]]] += own_[i].weight;
        }
    }

    /// By medians, of which there is one between two targets that share the middle; equal ones by
    /// number: what stood in front of what in the table must not matter.
    void order_bins(const RankedFeature& feature, const OutputOrder& order) {
        bins_.clear();
        median_of_bin_.assign(feature.n_bins + 1, 0.0);
        std::vector<std::int64_t> so_far(feature.n_bins + 1, 0);
        for (std::size_t i = 0; i < rows_.size(); ++i) {  // in the order of targets
            const std::size_t bin = feature.bins[order.rows[i]];
            const std::int64_t half = weight_of_bin_[bin];
            const std::int64_t before = 2 * so_far[bin];
            so_far[bin] += order.own[i].weight;
            if (before < half && 2 * so_far[bin] >= half) {
                bins_.push_back(bin);
                median_of_bin_[bin] = order.values[i];
            } else if (before == half) {
                median_of_bin_[bin] = median_of_bin_[bin] / 2 + order.values[i] / 2;
            }
        }
        std::sort(bins_.begin(), bins_.end(), [this](std::size_t a, std::size_t b) {
            return std::pair(median_of_bin_[a], a) < std::pair(median_of_bin_[b], b);
        });
    }

    /// Half of the categories, by a draw for each, come first; at least one, and not all.
    std::size_t draw_bins() {
        std::sort(bins_.begin(), bins_.end());
        const auto first_right =
            std::stable_partition(bins_.begin(), bins_.end(), [this](std::size_t bin) {
                return (random_bits(key_, Stream::kThresholds, bin) & 1) != 0;
            });
        const auto n_left = static_cast<std::size_t>(first_right - bins_.begin());
        return std::clamp(n_left, std::size_t{1}, bins_.size() - 1);
    }

    void keep_categories(const RankedFeature& feature, std::size_t n_left, std::int64_t weight) {
        keep(0, weight, false);
        best_->is_categorical = true;
        best_->missing_left = best_->left_is_larger && weight_of_bin_[feature.n_bins] == 0;
        Split set;
        for (std::size_t bin = 0; bin < feature.n_bins; ++bin) {
            if (best_->left_is_larger && weight_of_bin_[bin] == 0) set.set_left(bin);
        }
        for (std::size_t i = 0; i < n_left; ++i) {
            if (bins_[i] == feature.n_bins) {
                best_->missing_left = true;
            } else {
                set.set_left(bins_[i]);
            }
        }
        best_->left_bins = set.left_bins;
    }

    const RankedColumns& columns_;
    bool at_random_;
    SplitRules rules_;
    double product_scale_;
    double weight_scale_;
    std::span<const OutputOrder> orders_;
    std::span<const std::uint32_t> rows_;  ///< in the order of the first output
    std::span<const WeightedSum> own_;
    MeanBounds bounds_;
    JointMedians sums_;
    std::int64_t total_weight_ = 0;
    double error_ = 0.0;
    std::size_t feature_ = 0;
    std::uint64_t key_ = 0;
    RankSplit* best_ = nullptr;
    std::vector<RankKey> keys_;
    std::vector<std::uint32_t> missing_;  ///< positions of rows without a value
    std::int64_t missing_weight_ = 0;
    std::vector<Side> left_, right_, left_with_, right_without_;
    std::vector<std::size_t> bins_;  ///< with rows, in the order in which they are cut
    std::vector<std::uint32_t> place_of_bin_;
    std::vector<std::int64_t> weight_of_bin_;
    std::vector<double> median_of_bin_;
};

}  // namespace spinney
