/// The best split of a node of few rows, by all features at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "native/trees/few_rows.hpp"
#include "native/trees/split_judge.hpp"

namespace spinney {

/// Targets that can judge every way to part few rows.
template <class Target>
concept JudgesSets = requires { requires Target::kSets; };

/// Half of the nodes of a deep tree have less than four rows, and three quarters not more than
/// kFewRows. There is no need to sort these by every feature: all ways to part them are judged
/// once, and each feature looks up the ways that are cuts of its order.
///
/// Finds the splits that NodeSearch finds where it looks at all features, none of them a category
/// and none monotone.
template <JudgesSets Target>
class FewSearch {
  public:
    /// Rows are known by their places in a block of at most `most_rows`.
    FewSearch(Target& target, double min_leaf, std::size_t n_features, std::size_t most_rows)
        : target_(target),
          min_leaf_(min_leaf),
          n_lanes_((n_features + kRankLanes - 1) / kRankLanes * kRankLanes),
          ranks_(most_rows * n_lanes_),
          left_(kFewRows * n_lanes_),
          missing_(n_lanes_),
          room_(n_lanes_),
          tied_(n_lanes_ / kRankLanes) {}

    /// Begins a block: no feature has told its ranks yet.
    void load(std::size_t n_rows) {
        std::fill_n(ranks_.begin(), n_rows * n_lanes_, std::uint16_t{0});
        any_missing_ = false;
    }
    void set_rank(std::size_t row, std::size_t f, std::uint16_t rank) {
        ranks_[row * n_lanes_ + f] = rank;
        any_missing_ |= rank == kNoRank;
    }

    /// Finds the features that may split the node best; false if none splits it.
    bool find(std::span<const std::uint16_t> rows, const std::int64_t* total) {
        rows_ = rows;
        target_.focus_on_sets(total);
        sets_.fill(target_, rows);
        if (min_leaf_ > 0.0) forbid_small_leaves(total);
        RowsByRank by_rank = {{}, rows.size(), n_lanes_, any_missing_};
        for (std::size_t r = 0; r < rows.size(); ++r) by_rank.ranks[r] = ranks_of(r);
        cuts_ = {left_.data(), missing_.data(), tied_.data(), room_.data(), 0, false};
        kernel_(by_rank, sets_.worths(), cuts_);
        total_ = total;
        return cuts_.most > 0;
    }
    /// Whether the best cut of a feature gains as much as any, as far as its worth tells.
    bool is_tied(std::size_t f) const {
        return ((tied_[f / kRankLanes] >> f % kRankLanes) & 1U) != 0;
    }
    std::size_t n_tied() const {
        std::size_t n = 0;
        for (const std::uint32_t word : tied_) n += static_cast<std::size_t>(std::popcount(word));
        return n;
    }
    std::size_t first_tied() const {
        std::size_t word = 0;
        while (tied_[word] == 0) ++word;
        return word * kRankLanes + static_cast<std::size_t>(std::countr_zero(tied_[word]));
    }
    /// Whether no tied feature has a better split than this one has: all part the rows in the same
    /// way, and which side is the left makes no difference but by rounding.
    bool is_as_good_as_any(const RankSplit& split) const {
        const auto all = static_cast<RowSet>((1U << rows_.size()) - 1U);
        const auto other_side = static_cast<RowSet>(all ^ split.left_rows);
        return cuts_.is_one_parting && sets_.gain(target_, other_side) <= split.gain * (1.0 + kTie);
    }

    /// The best split by a tied feature.
    RankSplit split(std::size_t f) const {
        std::array<RowSet, kFewRows + 1> by_size = {};  // in the feature's order
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            const RowSet left = left_[r * n_lanes_ + f];
            by_size[static_cast<std::size_t>(std::popcount(left))] = left;
        }
        const RowSet missing = any_missing_ ? missing_[f] : RowSet{0};
        RankSplit best;
        for (std::size_t size = 1; size < rows_.size(); ++size) {
            if (by_size[size] == 0) continue;
            offer(by_size[size], best);
            if (missing != 0) offer(by_size[size] | missing, best);
        }
        best.feature = static_cast<std::int32_t>(f);
        best.left_is_larger =
            2 * target_.weight(sets_.sums(best.left_rows).data()) > target_.weight(total_);
        best.missing_left = missing != 0 ? (best.left_rows & missing) != 0 : best.left_is_larger;
        return best;
    }

    /// The rows with a value between which a split cuts, by their places in the block: the last
    /// that goes left and the first that goes right, kNobody where all with a value go left.
    static constexpr std::uint16_t kNobody = 0xFFFF;
    struct Neighbours {
        std::uint16_t last_left = kNobody;
        std::uint16_t first_right = kNobody;
    };
    Neighbours neighbours(const RankSplit& split) const {
        const auto f = static_cast<std::size_t>(split.feature);
        Neighbours found;
        std::uint16_t low = 0;
        std::uint16_t high = kNoRank;
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            const std::uint16_t rank = ranks_of(r)[f];
            if (rank == kNoRank) continue;
            if (((split.left_rows >> r) & 1U) != 0) {
                if (rank >= low) found.last_left = rows_[r];
                low = std::max(low, rank);
            } else if (rank < high) {
                found.first_right = rows_[r];
                high = rank;
            }
        }
        return found;
    }

  private:
    const std::uint16_t* ranks_of(std::size_t r) const {
        return ranks_.data() + rows_[r] * n_lanes_;
    }

    void offer(RowSet left, RankSplit& best) const {
        if (sets_.worths()[left] == 0) return;
        const double gain = sets_.gain(target_, left);
        if (!(gain > above_ties(best.gain))) return;
        best.gain = gain;
        best.left_rows = left;
    }

    /// A leaf of one row is enough most often.
    void forbid_small_leaves(const std::int64_t* total) {
        bool any_light = false;
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            any_light |= weight_of(static_cast<RowSet>(1U << r)) < min_leaf_;
        }
        if (!any_light) return;
        const double most = target_.weight(total);
        for (std::size_t set = 1; set + 1 < std::size_t{1} << rows_.size(); ++set) {
            const double own = weight_of(static_cast<RowSet>(set));
            if (own < min_leaf_ || most - own < min_leaf_) sets_.worths()[set] = 0;
        }
    }
    double weight_of(RowSet set) const { return target_.weight(sets_.sums(set).data()); }

    FindFewCuts* kernel_ = SPINNEY_FEW_KERNEL(find_few_cuts);
    Target& target_;
    double min_leaf_;
    std::size_t n_lanes_;
    std::vector<std::uint16_t> ranks_;  ///< row after row of the block, n_lanes_ each
    bool any_missing_ = false;          ///< in the block
    std::vector<RowSet> left_;
    std::vector<RowSet> missing_;
    std::vector<std::uint16_t> room_;
    std::vector<std::uint32_t> tied_;
    typename Target::Sets sets_;
    FewCuts cuts_ = {};
    std::span<const std::uint16_t> rows_;  ///< of the node
    const std::int64_t* total_ = nullptr;
};

/// Stands for the search of targets that have none.
struct NoFewSearch {
    NoFewSearch(const auto&, double /*min_leaf*/, std::size_t /*n_features*/,
                std::size_t /*most_rows*/) {}
    void load(std::size_t /*n_rows*/) {}
};
template <class Target>
struct FewSearchOf {
    using Type = NoFewSearch;
};
template <JudgesSets Target>
struct FewSearchOf<Target> {
    using Type = FewSearch<Target>;
};

}  // namespace spinney
