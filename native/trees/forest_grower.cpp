#include "native/trees/forest_grower.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <type_traits>

#include "native/base/parallel.hpp"
#include "native/trees/absolute_grower.hpp"
#include "native/trees/binary_counts.hpp"
#include "native/trees/class_weights.hpp"
#include "native/trees/label_weights.hpp"
#include "native/trees/scalar_sum.hpp"
#include "native/trees/tree_grower.hpp"
#include "native/trees/vector_sum.hpp"

namespace spinney {
namespace {

/// Adds a copy of one node; `right` is filled in when the right child comes.
void copy_node(const ForestTree& from, std::size_t at, std::size_t n_outputs, ForestTree& into) {
    const GrownTree& old = from.nodes;
    GrownTree& nodes = into.nodes;
    nodes.feature.push_back(old.feature[at]);
    nodes.right.push_back(-1);
    nodes.missing_left.push_back(old.missing_left[at]);
    const bool by_set = old.category_set[at] >= 0;
    const auto n_sets = static_cast<std::int32_t>(nodes.category_sets.size() / kCategorySetBytes);
    nodes.category_set.push_back(by_set ? n_sets : -1);
    if (by_set) {
        const auto set = old.category_sets.begin() +
                         static_cast<std::ptrdiff_t>(old.category_set[at]) * kCategorySetBytes;
        nodes.category_sets.insert(nodes.category_sets.end(), set, set + kCategorySetBytes);
    }
    const auto value = old.values.begin() + static_cast<std::ptrdiff_t>(at * n_outputs);
    nodes.values.insert(nodes.values.end(), value, value + static_cast<std::ptrdiff_t>(n_outputs));
    nodes.count.push_back(old.count[at]);
    nodes.weight.push_back(old.weight[at]);
    nodes.gain.push_back(old.gain[at]);
    into.threshold.push_back(from.threshold[at]);
}

/// How often a tree may count a row at most. Of draws with equal chances that are not many more
/// than rows none gets thousands: the chance is below 10^-1000.
std::size_t most_repetitions(const ForestRows& rows, const Repetitions& repetitions) {
    const auto& given = repetitions.given;
    if (!given.empty()) return *std::max_element(given.begin(), given.end());
    const bool is_even = repetitions.last_ticket.empty() && repetitions.n_draws / 16 <= rows.n_rows;
    return is_even ? BinaryCounts::kMostRepetitions : repetitions.n_draws;
}

/// Whether sums of two classes fit in one word.
bool fits_binary(const ForestRows& rows, const Repetitions& repetitions) {
    const std::size_t most = most_repetitions(rows, repetitions);
    const std::size_t total = repetitions.given.empty() ? repetitions.n_draws : most * rows.n_rows;
    return rows.n_outputs == 2 && rows.weights.empty() && rows.criterion == NodeCriterion::kGini &&
           most <= BinaryCounts::kMostRepetitions && total < (std::size_t{1} << 31);
}

std::span<const std::uint8_t> allowed_features(const OwnChoices& own, std::size_t n_features,
                                               std::size_t tree) {
    return own.allowed.empty() ? own.allowed : own.allowed.subspan(tree * n_features, n_features);
}

/// Trees of a forest, by number.
struct TreeRange {
    std::size_t first;
    std::size_t n_trees;
    int n_threads;
};

/// Grows all trees; make_grower: gives what grows one after the other.
template <class MakeGrower>
GrownForest grow_each(const ForestRows& rows, const Repetitions& repetitions, const OwnChoices& own,
                      std::uint64_t forest_seed, const TreeRange& range, std::size_t n_features,
                      MakeGrower make_grower) {
    // A worker takes tree after tree, so that room is made once per thread.
    std::atomic<std::size_t> next = 0;
    TreeStore store(range.n_trees);
    const auto n_workers = std::min(static_cast<std::size_t>(range.n_threads), range.n_trees);
    parallel_for(range.n_threads, n_workers, [&](std::size_t) {
        auto grower = make_grower();
        std::vector<std::uint32_t> counts(rows.n_rows);
        for (std::size_t t = next++; t < range.n_trees; t = next++) {
            const std::uint64_t seed = tree_seed(forest_seed, range.first + t);
            std::span<const std::uint32_t> drawn = counts;
            if (!repetitions.given.empty()) {
                drawn = repetitions.given.subspan(t * rows.n_rows, rows.n_rows);
            } else if (repetitions.n_draws == 0) {
                std::fill(counts.begin(), counts.end(), 1U);
            } else {
                std::fill(counts.begin(), counts.end(), 0U);
                draw_repetitions(repetitions, seed, counts);
            }
            const ForestTree& tree =
                grower.grow(drawn, allowed_features(own, n_features, t),
                            own.seeds.empty() ? seed : tree_seed(own.seeds[t], 0));
            store.add(tree, t);
        }
    });
    return store.take();
}

/// Calls `grow` with a function that makes growers for this target.
template <class Target, class Grow>
void with_growers(const RankedColumns& columns, const ForestRows& rows,
                  const ForestSettings& settings, int n_threads, Grow grow) {
    std::optional<RowValues> values;
    if (settings.search == SplitSearch::kRandom) values.emplace(columns);
    const RowValues* by_row = values ? &*values : nullptr;
    std::optional<RowRanks> ranks;
    if (NodeSearch<Target>::kBinary && looks_at_cuts(settings) &&
        looks_at_few(settings, columns.n_features())) {
        ranks.emplace(columns, n_threads);
    }
    const RowRanks* row_ranks = ranks ? &*ranks : nullptr;
    grow([&] { return TreeGrower<Target>(columns, by_row, row_ranks, rows, settings); });
}

/// Calls with the target, as a type, whose sums judge nodes of classes.
template <class Grow>
void with_classes(const ForestRows& rows, const Repetitions& repetitions, Grow grow) {
    if (rows.n_labels() > 1) {
        grow(std::type_identity<LabelWeights>{});
    } else if (fits_binary(rows, repetitions)) {
        grow(std::type_identity<BinaryCounts>{});
    } else {
        grow(std::type_identity<ClassWeights>{});
    }
}

/// The same for numbers.
template <class Grow>
void with_numbers(const ForestRows& rows, Grow grow) {
    const bool is_poisson = rows.criterion == NodeCriterion::kPoisson;
    if (rows.n_outputs > 1 && is_poisson) {
        grow(std::type_identity<VectorSum<true>>{});
    } else if (rows.n_outputs > 1) {
        grow(std::type_identity<VectorSum<false>>{});
    } else if (is_poisson) {
        grow(std::type_identity<ScalarSum<true>>{});
    } else {
        grow(std::type_identity<ScalarSum<false>>{});
    }
}

}  // namespace

ForestTree in_preorder(const ForestTree& tree, std::span<const std::int32_t> left,
                       std::size_t n_outputs) {
    struct Visit {
        std::int32_t node;
        std::int32_t parent;  ///< place whose `right` this node is; -1: none
    };
    ForestTree sorted;
    std::vector<Visit> stack = {{0, -1}};
    while (!stack.empty()) {
        const Visit visit = stack.back();
        stack.pop_back();
        const auto place = static_cast<std::int32_t>(sorted.threshold.size());
        if (visit.parent >= 0) sorted.nodes.right[static_cast<std::size_t>(visit.parent)] = place;
        const auto at = static_cast<std::size_t>(visit.node);
        copy_node(tree, at, n_outputs, sorted);
        if (left[at] < 0) continue;
        stack.push_back({tree.nodes.right[at], place});
        stack.push_back({left[at], -1});
    }
    return sorted;
}

std::uint64_t tree_seed(std::uint64_t forest_seed, std::size_t tree) {
    return random_bits(forest_seed, Stream::kNodes, tree);
}

void draw_repetitions(const Repetitions& from, std::uint64_t seed,
                      std::span<std::uint32_t> counts) {
    if (from.last_ticket.empty()) {
        for (std::size_t draw = 0; draw < from.n_draws; ++draw) {
            ++counts[random_below(seed, Stream::kRows, draw, counts.size())];
        }
        return;
    }
    const auto n_tickets = static_cast<std::uint64_t>(from.last_ticket.back());
    for (std::size_t draw = 0; draw < from.n_draws; ++draw) {
        const auto ticket =
            static_cast<std::int64_t>(random_below(seed, Stream::kRows, draw, n_tickets));
        const auto row = std::upper_bound(from.last_ticket.begin(), from.last_ticket.end(), ticket);
        ++counts[static_cast<std::size_t>(row - from.last_ticket.begin())];
    }
}

GrownForest grow_forest(const RankedColumns& columns, const ForestRows& rows,
                        const Repetitions& repetitions, const OwnChoices& own,
                        const ForestSettings& settings, std::size_t first_tree, std::size_t n_trees,
                        int n_threads) {
    GrownForest forest;
    const auto grow_with = [&](auto make_grower) {
        forest = grow_each(rows, repetitions, own, settings.tree.seed,
                           {first_tree, n_trees, n_threads}, columns.n_features(), make_grower);
    };
    const auto grow = [&]<class Target>(std::type_identity<Target>) {
        with_growers<Target>(columns, rows, settings, n_threads, grow_with);
    };
    if (rows.criterion == NodeCriterion::kAbsolute) {
        grow_with([&] { return AbsoluteGrower(columns, rows, settings); });
    } else if (rows.classes.empty()) {
        with_numbers(rows, grow);
    } else {
        with_classes(rows, repetitions, grow);
    }
    return forest;
}

}  // namespace spinney
