/// Growing the trees of a forest: each by itself, on ranks, depth first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "native/trees/forest_rows.hpp"
#include "native/trees/node_search.hpp"
#include "native/trees/ranked_columns.hpp"
#include "native/trees/settings.hpp"
#include "native/trees/tree_store.hpp"

namespace spinney {

/// How often each tree counts each row.
struct Repetitions {
    /// Given: n_trees rows of n_rows numbers. Empty: drawn with replacement, or all rows once.
    std::span<const std::uint32_t> given;
    std::size_t n_draws = 0;  ///< 0: every row once
    /// Where the draws of each row end, of `n_tickets` in all; empty: a ticket per row.
    std::span<const std::int64_t> last_ticket;
};

/// What trees have of their own; empty: nothing.
struct OwnChoices {
    /// n_trees rows of n_features bytes: 1 where the tree may split on the feature.
    std::span<const std::uint8_t> allowed;
    /// By tree: the seed of its features and thresholds, as if it were the only tree.
    std::span<const std::uint64_t> seeds;
};

/// The seed of one tree of a forest: its draws of rows, features and thresholds.
std::uint64_t tree_seed(std::uint64_t forest_seed, std::size_t tree);

/// Draws rows of one tree with replacement; adds to counts how often each was drawn.
void draw_repetitions(const Repetitions& from, std::uint64_t seed, std::span<std::uint32_t> counts);

struct ForestSettings {
    TreeSettings tree;
    SplitSearch search = SplitSearch::kAdaptive;
    std::vector<std::int8_t> directions;  ///< by feature: 1 or -1 monotone; empty: none is
    bool shuffle = false;  ///< features are looked at in a random order, which settles ties
};

/// Grows trees number first_tree, first_tree + 1, ... of a forest. A tree depends on its number and
/// the seed, not on the others: neither threads nor the order of work can change it.
GrownForest grow_forest(const RankedColumns& columns, const ForestRows& rows,
                        const Repetitions& repetitions, const OwnChoices& own,
                        const ForestSettings& settings, std::size_t first_tree, std::size_t n_trees,
                        int n_threads);

}  // namespace spinney
