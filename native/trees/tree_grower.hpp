/// Growing one tree on ranks.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "native/trees/all_features.hpp"
#include "native/trees/feature_order.hpp"
#include "native/trees/forest_grower.hpp"
#include "native/trees/found_cuts.hpp"
#include "native/trees/growth_order.hpp"
#include "native/trees/random_cuts.hpp"
#include "native/trees/sorted_block.hpp"
#include "native/trees/tree_items.hpp"
#include "native/trees/tree_store.hpp"

namespace spinney {

/// The same tree with nodes, and the category sets they use, in preorder. left: left child of each
/// node; -1: leaf.
ForestTree in_preorder(const ForestTree& tree, std::span<const std::int32_t> left,
                       std::size_t n_outputs);

/// Whether nodes look at less than half of the features.
inline bool looks_at_few(const ForestSettings& settings, std::size_t n_features) {
    const auto limit = static_cast<std::size_t>(settings.tree.max_features);
    return limit > 0 && limit * 2 < n_features;
}
/// Whether small nodes look at every cut.
inline bool looks_at_cuts(const ForestSettings& settings) {
    return settings.search == SplitSearch::kAdaptive || settings.search == SplitSearch::kExact;
}

/// Grows one tree after the other in the same room.
template <class Target>
class TreeGrower {
  public:
    /// values: for random cuts, null otherwise; row_ranks: null, or where they help.
    TreeGrower(const RankedColumns& columns, const RowValues* values, const RowRanks* row_ranks,
               const ForestRows& rows, const ForestSettings& settings)
        : columns_(columns),
          values_(values),
          row_ranks_(row_ranks),
          rows_(rows),
          settings_(settings),
          target_(rows),
          search_(columns, row_ranks, target_, settings.search, rules_of(rows, settings),
                  rows.n_rows),
          block_rows_(room_of_blocks()),
          block_(columns, target_, rules_of(rows, settings), block_rows_),
          cuts_(columns, values, target_, rules_of(rows, settings), rows.n_rows),
          order_(columns.n_features(), static_cast<std::size_t>(settings.tree.max_features),
                 settings.shuffle),
          all_(order_),
          items_(rows.n_rows) {}

    /// allowed: 1 for each feature the tree may split on; empty: it may split on all.
    /// Stays until the next.
    const ForestTree& grow(std::span<const std::uint32_t> repetitions,
                           std::span<const std::uint8_t> allowed, std::uint64_t seed) {
        if (!allowed.empty()) order_.allow(allowed);
        items_.clear();
        for (std::uint32_t row = 0; row < rows_.n_rows; ++row) {
            if (repetitions[row] > 0) items_.add(row, target_.mark(row, repetitions[row]));
        }
        forget(tree_);
        block_.forget();
        Open root = {0, items_.size(), 0, random_bits(seed, Stream::kNodes, 0), -1};
        if (settings_.tree.max_leaf_nodes > 0) {
            grow_best_first(root);
        } else {
            grow_depth_first(root);
            found_.settle(columns_, tree_.threshold);
        }
        return tree_;
    }

  private:
    /// Its room stays.
    static void forget(ForestTree& tree) {
        GrownTree& nodes = tree.nodes;
        for (auto* array : {&nodes.feature, &nodes.right, &nodes.category_set}) array->clear();
        for (auto* array : {&nodes.values, &nodes.weight, &nodes.gain, &tree.threshold}) {
            array->clear();
        }
        nodes.count.clear();
        nodes.missing_left.clear();
        nodes.category_sets.clear();
    }

    /// A node that may still be split.
    struct Open {
        std::size_t first = 0;
        std::size_t last = 0;
        std::int32_t depth = 0;
        std::uint64_t key = 0;     ///< of its draws: a function of the path from the root
        std::int32_t parent = -1;  ///< whose right child this is; -1: none, or a left child

        MeanBounds bounds = {};

        std::size_t n_rows() const { return last - first; }
    };

    void grow_depth_first(const Open& root) {
        std::vector<Open> stack = {root};
        while (!stack.empty()) {
            const Open node = stack.back();
            stack.pop_back();
            const std::int32_t place = n_nodes();
            if (node.parent >= 0) tree_.nodes.right[static_cast<std::size_t>(node.parent)] = place;
            const RankSplit split = judged(node);
            append(node);
            if (!split.exists()) continue;
            record(split, place);
            const std::size_t middle = apply(node, split, place);
            stack.push_back(child(node, split, middle, place));
            stack.push_back(child(node, split, middle, -1));
        }
    }

    /// The node whose split gains most comes next, until there are as many leaves as allowed.
    void grow_best_first(const Open& root) {
        GrowthOrder order(true);
        std::vector<Open> opened;
        std::vector<RankSplit> splits;
        std::vector<std::int32_t> left;
        const auto open = [&](const Open& node) {
            splits.push_back(judged(node));
            opened.push_back(node);
            left.push_back(-1);
            append(node);
            if (splits.back().exists()) order.push({n_nodes() - 1, splits.back().gain});
        };
        open(root);
        for (std::int32_t n_leaves = 1; !order.empty() && n_leaves < settings_.tree.max_leaf_nodes;
             ++n_leaves) {
            const std::int32_t place = order.pop().node;
            const auto at = static_cast<std::size_t>(place);
            const Open node = opened[at];
            record(splits[at], place);
            const std::size_t middle = apply(node, splits[at], place);
            left[at] = n_nodes();
            const Open right = child(node, splits[at], middle, place);
            open(child(node, splits[at], middle, -1));
            tree_.nodes.right[at] = n_nodes();
            open(right);
        }
        found_.settle(columns_, tree_.threshold);
        tree_ = in_preorder(tree_, left, rows_.n_outputs);
    }

    /// The right child of the node at place `parent`, or the left one if that is -1.
    Open child(const Open& node, const RankSplit& split, std::size_t middle,
               std::int32_t parent) const {
        const bool is_left = parent < 0;
        Open born = {is_left ? node.first : middle,
                     is_left ? middle : node.last,
                     node.depth + 1,
                     random_bits(node.key, Stream::kNodes, is_left ? 0 : 1),
                     parent,
                     node.bounds};
        if (!settings_.directions.empty()) {
            const auto f = static_cast<std::size_t>(split.feature);
            born.bounds = node.bounds.of_child(split.middle, settings_.directions[f], is_left);
        }
        return born;
    }

    static SplitRules rules_of(const ForestRows& rows, const ForestSettings& settings) {
        return {settings.tree.min_samples_leaf * slack(rows), settings.directions};
    }

    std::int32_t n_nodes() const { return static_cast<std::int32_t>(tree_.nodes.feature.size()); }

    /// The best split of a node; leaves its sums in total_.
    RankSplit judged(const Open& node) {
        const auto items = items_.of_node(node.first, node.last);
        sum(node, items);
        RankSplit best;
        if (!may_split(node)) return best;
        const bool is_many = searches_by_bins(node);
        if (node.n_rows() <= block_rows_ && !is_many && !block_.covers(node.first, node.last)) {
            block_.load(items, node.first, order_.features(), looks_at_all());
        }
        if (settings_.search == SplitSearch::kRandom) {
            cuts_.enter(items, total_.data(), node.bounds);
            search_.enter(items, total_.data(), node.bounds, is_many);
            draw_and_cut(node, best);
        } else if (block_.covers(node.first, node.last)) {
            search_block(node, best);
        } else {
            search_.enter(items, total_.data(), node.bounds, is_many);
            draw_and_search(node, search_, best);
        }
        if (best.exists() && best.gain < settings_.tree.min_gain) best = {};
        return best;
    }

    /// Rows a block may have; 0: a feature is looked at too rarely for blocks to pay.
    std::size_t room_of_blocks() const {
        const std::size_t n_features = columns_.n_features();
        if (looks_at_few(settings_, n_features) || !looks_at_cuts(settings_) ||
            settings_.tree.max_leaf_nodes > 0) {
            return 0;
        }
        const std::size_t room = SortedBlock<Target>::room(n_features);
        return settings_.search == SplitSearch::kAdaptive ? std::min(room, kMostWords) : room;
    }

    /// Whether an adaptive search goes by bins in a node, whose sums are in total_. Counts what
    /// bins count, so that a weight of 2 is the row twice.
    bool searches_by_bins(const Open& node) const {
        return settings_.search == SplitSearch::kAdaptive &&
               rows_.repetitions(node.n_rows(), target_.weight(total_.data())) >= kManyRepetitions;
    }

    /// Puts the sums of a node into total_.
    void sum(const Open& node, std::span<const TreeRow> items) {
        total_.assign(target_.width(), 0);
        if (block_.covers(node.first, node.last)) {
            block_.sum(node.first, node.last, total_.data());
            return;
        }
        target_.load(items);
        target_.begin();
        for (std::size_t i = 0; i < items.size(); ++i) {
            target_.visit(target_.payload(items[i], i), total_.data());
        }
    }

    bool may_split(const Open& node) const {
        const TreeSettings& limits = settings_.tree;
        return node.n_rows() >= 2 && !target_.is_pure(total_.data()) &&
               (limits.max_depth == 0 || node.depth < limits.max_depth) &&
               target_.weight(total_.data()) >= limits.min_samples_split * slack(rows_);
    }

    /// Looks at features in drawn order until max_features were seen and one was not constant, or
    /// no feature can do better.
    template <class Search>
    void draw_and_search(const Open& node, Search& search, RankSplit& best) {
        if (looks_at_all() && node.n_rows() > kFewRows) {
            return all_.search(node.key, search, best);
        }
        bool any_varies = false;
        for (std::size_t seen = 0; goes_on(seen, any_varies) && !best.is_perfect; ++seen) {
            any_varies |= search.search(order_.drawn(node.key, seen), node.key, best);
        }
        order_.undo_draws();
    }

    /// Whether nodes look at all features, and no feature is often known to be the best before the
    /// others are looked at.
    bool looks_at_all() const { return !NodeSearch<Target>::kBinary && order_.wants_all(); }

    void search_block(const Open& node, RankSplit& best) {
        block_.enter(node.first, node.last, total_.data(), node.bounds);
        if constexpr (JudgesSets<Target>) {
            if (block_.is_few()) {
                auto& few = block_.few();
                if (few.find(block_.rows(), total_.data())) all_.search_few(node.key, few, best);
                return;
            }
            if (looks_at_all()) return all_.search_by_ceilings(node.key, block_, best);
        }
        draw_and_search(node, block_, best);
    }

    /// The same with a random cut of each feature, so many numeric ones at a time.
    void draw_and_cut(const Open& node, RankSplit& best) {
        bool any_varies = false;
        std::array<std::uint32_t, RandomCuts<Target>::kBatch> batch;
        std::size_t n = 0;
        const auto flush = [&] {
            const std::span<const std::uint32_t> features(batch.data(), std::exchange(n, 0));
            if (!features.empty()) any_varies |= cuts_.search(features, node.key, best);
        };
        for (std::size_t seen = 0; goes_on(seen, any_varies) && !best.is_perfect; ++seen) {
            const std::uint32_t f = order_.drawn(node.key, seen);
            if (columns_.feature(f).is_categorical) {
                any_varies |= search_.search(f, node.key, best);
            } else {
                batch[n++] = f;
            }
            if (n == batch.size() || seen + 1 >= order_.n_wanted()) flush();
        }
        order_.undo_draws();
    }

    bool goes_on(std::size_t seen, bool any_varies) const {
        return seen < order_.size() && (seen < order_.n_wanted() || !any_varies);
    }

    /// Adds a leaf with the sums in total_.
    void append(const Open& node) {
        GrownTree& nodes = tree_.nodes;
        nodes.feature.push_back(-1);
        nodes.right.push_back(-1);
        nodes.missing_left.push_back(0);
        nodes.category_set.push_back(-1);
        const std::size_t n_values = nodes.values.size();
        nodes.values.resize(n_values + rows_.n_outputs);
        target_.values(total_.data(), nodes.values.data() + n_values);
        nodes.count.push_back(static_cast<std::int64_t>(node.last - node.first));
        nodes.weight.push_back(target_.weight(total_.data()));
        nodes.gain.push_back(0.0);
        tree_.threshold.push_back(0.0);
    }

    /// Makes a leaf an inner node.
    void record(const RankSplit& split, std::int32_t place) {
        GrownTree& nodes = tree_.nodes;
        const auto at = static_cast<std::size_t>(place);
        nodes.feature[at] = split.feature;
        nodes.missing_left[at] = split.missing_left ? 1 : 0;
        nodes.gain[at] = split.gain;
        if (!split.is_categorical) return;
        nodes.category_set[at] =
            static_cast<std::int32_t>(nodes.category_sets.size() / kCategorySetBytes);
        nodes.category_sets.insert(nodes.category_sets.end(), split.left_bins.begin(),
                                   split.left_bins.end());
    }

    /// Moves the rows that go left in front of the others and notes the threshold of the node at
    /// `place`; returns where the right child begins.
    std::size_t apply(const Open& node, const RankSplit& split, std::int32_t place) {
        const auto at = static_cast<std::size_t>(place);
        const auto f = static_cast<std::size_t>(split.feature);
        if (block_.covers(node.first, node.last)) {
            const auto [middle, cut] = block_.apply(split);
            if (!split.is_categorical) found_.add(at, f, cut);
            return middle;
        }
        if (settings_.search == SplitSearch::kRandom && !split.is_categorical) {
            tree_.threshold[at] = split.threshold;
            return items_.apply(node.first, node.last, split, *values_);
        }
        const TreeItems::Applied applied =
            items_.apply(node.first, node.last, split, columns_.feature(f), row_ranks_);
        if (!split.is_categorical) {
            found_.add(at, f, applied.last_left, applied.first_right);
        }
        return applied.middle;
    }

    /// Weights stand on a grid: ten rows of weight 0.1 may weigh a hair less than 1 there.
    static double slack(const ForestRows& rows) {
        return rows.weights.empty() ? 1.0 : 1.0 - 0x1p-40;
    }

    const RankedColumns& columns_;
    const RowValues* values_;
    const RowRanks* row_ranks_;
    const ForestRows& rows_;
    const ForestSettings& settings_;
    Target target_;
    NodeSearch<Target> search_;
    std::size_t block_rows_;
    SortedBlock<Target> block_;
    RandomCuts<Target> cuts_;
    FeatureOrder order_;
    AllFeatures<Target> all_;
    TreeItems items_;
    std::vector<std::int64_t> total_;
    FoundCuts found_;
    ForestTree tree_;
};

}  // namespace spinney
