/// What every search for the best split of a node shares: judging a cut, keeping the best, sets of
/// categories.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "native/base/random.hpp"
#include "native/trees/cut_gains.hpp"
#include "native/trees/forest_rows.hpp"
#include "native/trees/ranked_columns.hpp"
#include "native/trees/split.hpp"

namespace spinney {

/// A split by rank. Which threshold lies behind it is found when rows are moved.
struct RankSplit {
    std::int32_t feature = -1;           ///< -1: none
    std::uint32_t last_rank = 0;         ///< numeric: ranks up to this one go left
    std::uint32_t next_rank = kUnknown;  ///< the least rank among those that go right
    double threshold = 0.0;              ///< numeric: the cut, if it was drawn and not found
    bool is_categorical = false;
    bool missing_left = false;
    bool left_is_larger = false;
    bool is_perfect = false;      ///< no other split of the node can gain more
    std::uint16_t left_rows = 0;  ///< of a node of few rows: those that go left, a bit each
    double middle = 0.0;  ///< between the means of the children, where constraints ask for it
    double gain = -std::numeric_limits<double>::infinity();
    std::array<std::uint8_t, kCategorySetBytes> left_bins{};

    static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;

    bool exists() const { return feature >= 0; }
    bool has_left(std::size_t bin) const { return ((left_bins[bin / 8] >> (bin % 8)) & 1) != 0; }
};

/// What a gain must exceed to be larger.
inline double above_ties(double gain) { return gain > 0.0 ? gain * (1.0 + kTie) : gain; }

/// What the mean of a node and of all below it must stay within, in the target's own units.
struct MeanBounds {
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();

    bool hold(double mean) const { return mean >= lower && mean <= upper; }
    /// Bounds of a child, when no mean on the side of `direction` may be below `middle`.
    MeanBounds of_child(double middle, std::int8_t direction, bool is_left) const {
        if (direction == 0) return *this;
        return (direction > 0) == is_left ? MeanBounds{lower, middle} : MeanBounds{middle, upper};
    }
};

/// How judges decide which splits are allowed at all.
struct SplitRules {
    double min_leaf = 0.0;                    ///< weight each child must keep; 0: any
    std::span<const std::int8_t> directions;  ///< by feature: 1 or -1 monotone; empty: none is
};

/// Stands for the sums of sorted rows where a target has none.
struct NoPrefix {
    explicit NoPrefix(std::size_t /*most_rows*/) {}
};
template <class Target>
struct PrefixOf {
    using Type = NoPrefix;
};
template <class Target>
    requires Target::kVectors
struct PrefixOf<Target> {
    using Type = typename Target::Prefix;
};

/// Judges splits of one node after the other. Not for two threads at once: it owns the room.
template <class Target>
class SplitJudge {
  protected:
    using Sums = typename Target::Sums;

    SplitJudge(const RankedColumns& columns, Target& target, const SplitRules& rules)
        : columns_(columns),
          target_(target),
          left_(target.no_sums()),
          missing_(target.no_sums()),
          rules_(rules),
          right_(target.no_sums()),
          cells_(256 * target.width()) {}

    /// total: sums of the node's rows; best: what splits must be better than.
    void judge_node(const std::int64_t* total, const MeanBounds& bounds, std::size_t n_rows) {
        total_ = total;
        n_rows_ = n_rows;
        bounds_ = bounds;
        target_.focus(total);
    }
    void judge_feature(std::size_t f, RankSplit& best) {
        feature_ = f;
        best_ = &best;
        // The same rows may come as the left by one feature and as the right by another: what
        // differs by rounding alone is a tie, and the feature looked at first wins.
        bar_ = above_ties(best.gain);
        std::fill(left_.begin(), left_.end(), 0);
        std::fill(missing_.begin(), missing_.end(), 0);
    }

    /// Whether the split with these sums on the left is the best so far.
    [[gnu::always_inline]] bool is_best(const std::int64_t* left) {
        if (!fits(left) || (!rules_.directions.empty() && !is_allowed(left))) return false;
        const double gain = target_.gain(left);
        if (!(gain > bar_)) return false;
        best_->gain = gain;
        bar_ = above_ties(gain);
        return true;
    }

    void keep(const std::int64_t* left, std::uint32_t last_rank, bool missing_left) {
        best_->feature = static_cast<std::int32_t>(feature_);
        best_->last_rank = last_rank;
        best_->next_rank = RankSplit::kUnknown;
        best_->is_categorical = false;
        best_->is_perfect = target_.is_perfect(best_->gain, n_rows_);
        if (!rules_.directions.empty()) {
            best_->middle = target_.mean(left, 0) / 2 + right_mean(left) / 2;
        }
        best_->left_is_larger = 2 * target_.weight(left) > target_.weight(total_);
        best_->missing_left =
            target_.has_rows(missing_.data()) ? missing_left : best_->left_is_larger;
    }

    /// Judges the cut behind `last_rank`, with missing values on either side. is_last: whether only
    /// missing values are left for the right.
    void judge(std::uint32_t last_rank, bool is_last) {
        const bool any_missing = target_.has_rows(missing_.data());
        if ((!is_last || any_missing) && is_best(left_.data())) {
            keep(left_.data(), last_rank, false);
        }
        if (!any_missing || is_last) return;
        shift(missing_.data(), 1);
        if (is_best(left_.data())) keep(left_.data(), last_rank, true);
        shift(missing_.data(), -1);
    }

    /// Whether many cuts may be judged at a time: constraints look at each.
    bool by_vectors(std::size_t n) const {
        constexpr std::size_t kFew = 5;  // vectors would cost more than they save
        return Target::kVectors && n > kFew && rules_.directions.empty();
    }

    /// Judges the cuts behind n sorted rows, none of them without a value; `prefix` holds their
    /// sums, and rows with equal keys >> key_shift stay together. ranks_at: the ranks on both sides
    /// of the cut behind a row, the second kUnknown if it is not known.
    template <class Prefix, class RanksAt>
    void judge_rows(Prefix& prefix, const std::uint32_t* keys, int key_shift, std::size_t n,
                    RanksAt ranks_at) {
        std::size_t first = 0;
        std::size_t last = n - 1;
        if (rules_.min_leaf > 0.0) {
            const double most = target_.weight(total_) - rules_.min_leaf;
            while (first < last && prefix.weight(target_, first) < rules_.min_leaf) ++first;
            while (last > first && prefix.weight(target_, last - 1) > most) --last;
        }
        if (first >= last) return;
        const BestRow found = prefix.best(target_, keys, key_shift, first, last, bar_);
        if (found.gain < 0.0) return;
        const auto [last_rank, next_rank] = ranks_at(found.row);
        offer(found.gain, prefix.sums(found.row), last_rank, next_rank);
    }

    using RankPair = std::pair<std::uint32_t, std::uint32_t>;

    /// Keeps the cut between two ranks if it is the best so far; gain: not negative.
    void offer(double gain, const Sums& left, std::uint32_t last_rank, std::uint32_t next_rank) {
        if (!(gain > bar_)) return;
        best_->gain = gain;
        bar_ = above_ties(gain);
        left_ = left;
        keep(left_.data(), last_rank, false);
        best_->next_rank = next_rank;
    }

    /// What a gain must exceed to be the best.
    double bar() const { return bar_; }
    const SplitRules& rules() const { return rules_; }

    /// Moves the rows of a cell to the left, or back.
    void shift(const std::int64_t* cell, std::int64_t sign) {
        for (std::size_t k = 0; k < target_.width(); ++k) left_[k] += sign * cell[k];
    }

    std::int64_t* cell(std::size_t bin) { return cells_.data() + bin * target_.width(); }
    const std::int64_t* cell(std::size_t bin) const {
        return cells_.data() + bin * target_.width();
    }
    void clear_cells(std::size_t n_bins) {
        std::fill_n(cells_.begin(), n_bins * target_.width(), 0);
    }

    /// Judges sets of categories, from the sums in cells, that of missing values behind the others.
    /// By mean target and cut there: the best of all subsets for one output (Fisher 1958); with
    /// several outputs the order of each is tried. False if all rows are in one bin.
    bool judge_categories(const RankedFeature& feature) {
        find_filled(feature);
        if (filled_.size() < 2) return false;
        for (std::size_t k = 0; k < target_.n_orders(); ++k) {
            std::sort(filled_.begin(), filled_.end());
            std::stable_sort(filled_.begin(), filled_.end(), [&](std::size_t a, std::size_t b) {
                return target_.mean(cell(a), k) < target_.mean(cell(b), k);
            });
            std::fill(left_.begin(), left_.end(), 0);
            for (std::size_t n_left = 1; n_left < filled_.size(); ++n_left) {
                shift(cell(filled_[n_left - 1]), 1);
                if (is_best(left_.data())) keep_categories(feature, n_left);
            }
        }
        return true;
    }

    /// Half of the categories go left, by a draw for each; at least one stays on either side.
    bool judge_drawn_categories(const RankedFeature& feature, std::uint64_t key) {
        find_filled(feature);
        if (filled_.size() < 2) return false;
        const auto first_right =
            std::stable_partition(filled_.begin(), filled_.end(), [key](std::size_t bin) {
                return (random_bits(key, Stream::kThresholds, bin) & 1) != 0;
            });
        auto n_left = static_cast<std::size_t>(first_right - filled_.begin());
        n_left = std::clamp(n_left, std::size_t{1}, filled_.size() - 1);
        for (std::size_t i = 0; i < n_left; ++i) shift(cell(filled_[i]), 1);
        if (is_best(left_.data())) keep_categories(feature, n_left);
        return true;
    }

    const RankedColumns& columns_;
    Target& target_;
    Sums left_;
    Sums missing_;
    const std::int64_t* total_ = nullptr;  ///< of the node

  private:
    bool fits(const std::int64_t* left) const {
        if (rules_.min_leaf <= 0.0) return true;
        const double own = target_.weight(left);
        return own >= rules_.min_leaf && target_.weight(total_) - own >= rules_.min_leaf;
    }

    double right_mean(const std::int64_t* left) {
        for (std::size_t k = 0; k < target_.width(); ++k) right_[k] = total_[k] - left[k];
        return target_.mean(right_.data(), 0);
    }

    bool is_allowed(const std::int64_t* left) {
        const double below = target_.mean(left, 0);
        const double above = right_mean(left);
        const double direction = rules_.directions[feature_];
        return bounds_.hold(below) && bounds_.hold(above) && direction * (above - below) >= 0.0;
    }

    void find_filled(const RankedFeature& feature) {
        filled_.clear();
        for (std::size_t bin = 0; bin <= feature.n_bins; ++bin) {
            if (target_.has_rows(cell(bin))) filled_.push_back(bin);
        }
    }

    void keep_categories(const RankedFeature& feature, std::size_t n_left) {
        keep(left_.data(), 0, false);
        best_->is_categorical = true;
        best_->missing_left = best_->left_is_larger && !target_.has_rows(cell(feature.n_bins));
        Split set;
        for (std::size_t bin = 0; bin < feature.n_bins; ++bin) {
            if (best_->left_is_larger && !target_.has_rows(cell(bin))) set.set_left(bin);
        }
        for (std::size_t i = 0; i < n_left; ++i) {
            if (filled_[i] == feature.n_bins) {
                best_->missing_left = true;
            } else {
                set.set_left(filled_[i]);
            }
        }
        best_->left_bins = set.left_bins;
    }

    std::size_t n_rows_ = 0;
    MeanBounds bounds_;
    SplitRules rules_;
    Sums right_;
    std::size_t feature_ = 0;
    RankSplit* best_ = nullptr;
    double bar_ = 0.0;  ///< what a gain must exceed
    std::vector<std::int64_t> cells_;
    std::vector<std::size_t> filled_;  ///< bins with rows
};

}  // namespace spinney
