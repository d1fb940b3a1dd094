/// The best split of a node that looks at all features.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "native/trees/feature_order.hpp"
#include "native/trees/sorted_block.hpp"
#include "native/trees/split_judge.hpp"

namespace spinney {

/// Where all features are looked at their order only settles ties: it is drawn where there are any,
/// and features come in whatever order is fastest. Finds what looking at them in drawn order finds,
/// each having to be better than those before by more than a tie.
template <class Target>
class AllFeatures {
  public:
    explicit AllFeatures(FeatureOrder& order) : order_(order) {}

    /// By anything that searches a feature.
    template <class Search>
    void search(std::uint64_t node_key, Search& search, RankSplit& best) {
        begin();
        for (const std::uint32_t f : order_.features()) look_at(f, node_key, search);
        settle(node_key, best);
    }

    /// In the order of what features can gain at most: few of them need be looked at.
    void search_by_ceilings(std::uint64_t node_key, SortedBlock<Target>& block, RankSplit& best) {
        begin();
        block.roughen();
        ceilings_.clear();
        for (const std::uint32_t f : order_.features()) ceilings_.push_back(block.ceiling(f));
        while (true) {
            const auto next = std::max_element(ceilings_.begin(), ceilings_.end());
            if (*next < 0.0 || *next <= below_ties(most_)) break;
            *next = -1.0;
            const auto at = static_cast<std::size_t>(next - ceilings_.begin());
            look_at(order_.features()[at], node_key, block);
        }
        settle(node_key, best);
    }

    /// All at a time, in a node of few rows. Most often several of them part the rows in the same
    /// way.
    template <class Few>
    void search_few(std::uint64_t node_key, Few& few, RankSplit& best) {
        const std::size_t n_tied = few.n_tied();
        if (n_tied == 1) {
            best = few.split(few.first_tied());
            return;
        }
        for (std::size_t seen = 0, n_met = 0; n_met < n_tied; ++seen) {
            const std::uint32_t f = order_.drawn(node_key, seen);
            if (!few.is_tied(f)) continue;
            ++n_met;
            take_if_better(few.split(f), best);
            if (n_met == 1 && few.is_as_good_as_any(best)) break;
        }
        order_.undo_draws();
    }

  private:
    void begin() {
        ties_.clear();
        most_ = -std::numeric_limits<double>::infinity();
    }

    /// Adds the best split by a feature to the ties if it may be the best of the node.
    template <class Search>
    void look_at(std::uint32_t f, std::uint64_t node_key, Search& search) {
        RankSplit found;
        found.gain = below_ties(most_);
        search.search(f, node_key, found);
        if (!found.exists()) return;
        if (below_ties(found.gain) > most_) ties_.clear();
        ties_.push_back(found);
        most_ = std::max(most_, found.gain);
    }

    /// A hair below whatever ties with a gain.
    static double below_ties(double gain) {
        return gain > 0.0 ? gain * (1.0 - 4 * kTie) : -std::numeric_limits<double>::infinity();
    }

    /// Takes the first in drawn order, and what is better by more than a tie.
    void settle(std::uint64_t node_key, RankSplit& best) {
        if (ties_.size() == 1) {
            best = ties_.front();
            return;
        }
        for (std::size_t seen = 0, n_met = 0; n_met < ties_.size(); ++seen) {
            const auto f = static_cast<std::int32_t>(order_.drawn(node_key, seen));
            const auto own = std::find_if(ties_.begin(), ties_.end(),
                                          [f](const RankSplit& tie) { return tie.feature == f; });
            if (own == ties_.end()) continue;
            ++n_met;
            take_if_better(*own, best);
        }
        order_.undo_draws();
    }

    static void take_if_better(const RankSplit& found, RankSplit& best) {
        if (found.gain > above_ties(best.gain)) best = found;
    }

    FeatureOrder& order_;
    std::vector<double> ceilings_;  ///< of the order's features
    std::vector<RankSplit> ties_;   ///< what may be the best split of the node
    double most_ = 0.0;             ///< what the best of them gains
};

}  // namespace spinney
