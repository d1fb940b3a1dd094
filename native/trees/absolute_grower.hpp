/// Growing trees that lower absolute error: leaves are medians.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "native/trees/absolute_rows.hpp"
#include "native/trees/absolute_search.hpp"
#include "native/trees/growth_order.hpp"
#include "native/trees/tree_grower.hpp"

namespace spinney {

/// Grows one tree after the other, as TreeGrower does for criteria that are functions of sums.
/// Every cut of every feature is tried, or one random cut per feature: O(rows log rows) per node
/// and feature. Categories are put in the order of their medians and cut there.
class AbsoluteGrower {
  public:
    AbsoluteGrower(const RankedColumns& columns, const ForestRows& rows,
                   const ForestSettings& settings)
        : columns_(columns),
          rows_(rows),
          settings_(settings),
          search_(columns, settings.search == SplitSearch::kRandom,
                  {settings.tree.min_samples_leaf * kGridSlack, settings.directions},
                  {rows.number_scale, rows.weight_scale}),
          features_(columns.n_features()),
          ordered_(rows) {
        std::iota(features_.begin(), features_.end(), 0U);
    }

    /// With a limit of leaves the node whose split gains most comes next; else the newest. allowed:
    /// 1 for each feature the tree may split on; empty: it may split on all.
    ForestTree grow(std::span<const std::uint32_t> repetitions,
                    std::span<const std::uint8_t> allowed, std::uint64_t seed) {
        start(repetitions, allowed);
        const std::int32_t limit = settings_.tree.max_leaf_nodes;
        GrowthOrder order(limit > 0);
        open({0, ordered_.size(), 0, random_bits(seed, Stream::kNodes, 0), {}}, order);
        for (std::int32_t n_leaves = 1; !order.empty() && (limit == 0 || n_leaves < limit);
             ++n_leaves) {
            split(static_cast<std::size_t>(order.pop().node), order);
        }
        return in_preorder(tree_, left_, rows_.n_outputs);
    }

  private:
    struct Open {
        std::size_t first = 0;
        std::size_t last = 0;
        std::int32_t depth = 0;
        std::uint64_t key = 0;   ///< of its draws: a function of the path from the root
        MeanBounds bounds = {};  ///< of medians
    };

    void start(std::span<const std::uint32_t> repetitions, std::span<const std::uint8_t> allowed) {
        ordered_.start(repetitions);
        if (!allowed.empty()) {
            features_.clear();
            for (std::uint32_t f = 0; f < allowed.size(); ++f) {
                if (allowed[f] != 0) features_.push_back(f);
            }
        }
        tree_ = {};
        opened_.clear();
        splits_.clear();
        left_.clear();
    }

    std::int32_t n_nodes() const { return static_cast<std::int32_t>(opened_.size()); }

    /// Adds a leaf, and finds how it would be split.
    void open(const Open& node, GrowthOrder& order) {
        ordered_.enter(node.first, node.last);
        RankSplit best;
        if (may_split(node)) draw_and_search(node, best);
        if (best.exists() && best.gain < settings_.tree.min_gain) best = {};
        append(node);
        if (best.exists()) order.push({n_nodes(), best.gain});
        opened_.push_back(node);
        splits_.push_back(best);
        left_.push_back(-1);
    }

    bool may_split(const Open& node) const {
        const TreeSettings& limits = settings_.tree;
        return node.last - node.first >= 2 && ordered_.varies() &&
               (limits.max_depth == 0 || node.depth < limits.max_depth) &&
               ordered_.weight() >= limits.min_samples_split * kGridSlack;
    }

    /// Looks at features in drawn order until max_features were seen and one was not constant.
    void draw_and_search(const Open& node, RankSplit& best) {
        search_.enter(ordered_.orders(), rows_.whole, node.bounds);
        const std::size_t n_features = features_.size();
        const auto limit = static_cast<std::size_t>(settings_.tree.max_features);
        const std::size_t n_wanted = limit == 0 ? n_features : std::min(limit, n_features);
        const bool draws = settings_.shuffle || n_wanted < n_features;
        std::vector<std::uint32_t> order = features_;
        bool any_varies = false;
        for (std::size_t seen = 0; seen < n_features && (seen < n_wanted || !any_varies); ++seen) {
            if (draws) {
                const std::size_t other =
                    seen + random_below(node.key, Stream::kFeatures, seen, n_features - seen);
                std::swap(order[seen], order[other]);
            }
            any_varies |= search_.search(order[seen], node.key, best);
        }
    }

    void append(const Open& node) {
        GrownTree& nodes = tree_.nodes;
        nodes.feature.push_back(-1);
        nodes.right.push_back(-1);
        nodes.missing_left.push_back(0);
        nodes.category_set.push_back(-1);
        for (std::size_t k = 0; k < rows_.n_outputs; ++k) {
            nodes.values.push_back(ordered_.median(k));
        }
        nodes.count.push_back(static_cast<std::int64_t>(node.last - node.first));
        nodes.weight.push_back(ordered_.weight());
        nodes.gain.push_back(0.0);
        tree_.threshold.push_back(0.0);
    }

    /// Makes an inner node of a leaf, and opens its children.
    void split(std::size_t at, GrowthOrder& order) {
        const Open node = opened_[at];
        const RankSplit split = splits_[at];
        GrownTree& nodes = tree_.nodes;
        nodes.feature[at] = split.feature;
        nodes.missing_left[at] = split.missing_left ? 1 : 0;
        nodes.gain[at] = split.gain;
        const std::size_t middle =
            split.is_categorical ? apply_set(node, split, at) : apply_cut(node, split, at);
        left_[at] = n_nodes();
        open(child(node, split, node.first, middle), order);
        nodes.right[at] = n_nodes();
        open(child(node, split, middle, node.last), order);
    }

    Open child(const Open& node, const RankSplit& split, std::size_t first,
               std::size_t last) const {
        const bool is_left = first == node.first;
        Open born = {first, last, node.depth + 1,
                     random_bits(node.key, Stream::kNodes, is_left ? 0 : 1), node.bounds};
        if (!settings_.directions.empty()) {
            const auto f = static_cast<std::size_t>(split.feature);
            born.bounds = node.bounds.of_child(split.middle, settings_.directions[f], is_left);
        }
        return born;
    }

    std::size_t apply_cut(const Open& node, const RankSplit& split, std::size_t at) {
        const RankedFeature& feature = columns_.feature(static_cast<std::size_t>(split.feature));
        const std::uint32_t missing = feature.missing_rank();
        std::uint32_t last_left = 0;
        std::uint32_t first_right = missing;
        const std::size_t middle = feature.with_ranks([&](const auto* ranks) {
            return ordered_.partition(node.first, node.last, [&](std::uint32_t row) {
                const std::uint32_t rank = ranks[row];
                if (rank == missing) return split.missing_left;
                const bool is_low = rank <= split.last_rank;
                if (is_low) last_left = std::max(last_left, rank);
                if (!is_low) first_right = std::min(first_right, rank);
                return is_low;
            });
        });
        tree_.threshold[at] = first_right == missing
                                  ? std::numeric_limits<double>::infinity()
                                  : RankedColumns::threshold_between(feature.values[last_left],
                                                                     feature.values[first_right]);
        return middle;
    }

    std::size_t apply_set(const Open& node, const RankSplit& split, std::size_t at) {
        GrownTree& nodes = tree_.nodes;
        nodes.category_set[at] =
            static_cast<std::int32_t>(nodes.category_sets.size() / kCategorySetBytes);
        nodes.category_sets.insert(nodes.category_sets.end(), split.left_bins.begin(),
                                   split.left_bins.end());
        const RankedFeature& feature = columns_.feature(static_cast<std::size_t>(split.feature));
        return ordered_.partition(node.first, node.last, [&](std::uint32_t row) {
            const std::size_t bin = feature.bins[row];
            if (bin == feature.n_bins) return split.missing_left;
            return ((split.left_bins[bin / 8] >> (bin % 8)) & 1) != 0;
        });
    }

    /// Weights stand on a grid: ten rows of weight 0.1 may weigh a hair less than 1 there.
    static constexpr double kGridSlack = 1.0 - 0x1p-40;

    const RankedColumns& columns_;
    const ForestRows& rows_;
    const ForestSettings& settings_;
    AbsoluteSearch search_;
    std::vector<std::uint32_t> features_;
    AbsoluteRows ordered_;
    ForestTree tree_;
    std::vector<Open> opened_;
    std::vector<RankSplit> splits_;
    std::vector<std::int32_t> left_;
};

}  // namespace spinney
