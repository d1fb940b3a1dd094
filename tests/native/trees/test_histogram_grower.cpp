#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "native/base/random.hpp"
#include "native/trees/histogram.hpp"
#include "native/trees/histogram_grower.hpp"
#include "native/trees/node_rows.hpp"
#include "native/trees/split_finder.hpp"
#include "tests/native/check.hpp"

using spinney::BinnedRows;
using spinney::grow_histogram_tree;
using spinney::GrownTree;
using spinney::Histogram;
using spinney::random_below;
using spinney::Stream;
using spinney::TreeSettings;

namespace {

/// Binned rows, owned.
struct Table {
    std::size_t n_outputs = 1;
    std::vector<std::uint8_t> bins;
    std::vector<std::int32_t> n_value_bins;
    std::vector<std::uint8_t> categorical;
    std::vector<std::int64_t> targets;
    std::vector<std::int64_t> weights;
    double target_scale = 1.0;
    double weight_scale = 1.0;

    BinnedRows view() const {
        return {weights.size(), n_value_bins.size(), n_outputs, bins,
                n_value_bins,   categorical,         targets,   weights,
                target_scale,   weight_scale};
    }
};

/// One feature, weight 1 for every row.
Table one_feature(std::vector<std::uint8_t> bins, std::int32_t n_value_bins, bool categorical,
                  std::vector<std::int64_t> targets) {
    Table table;
    table.weights.assign(bins.size(), 1);
    table.bins = std::move(bins);
    table.n_value_bins = {n_value_bins};
    table.categorical = {static_cast<std::uint8_t>(categorical ? 1 : 0)};
    table.targets = std::move(targets);
    return table;
}

/// Numbers and categories by turns, missing values among them, targets that depend on the bins.
Table random_table(std::size_t n_rows, std::size_t n_features, std::size_t n_outputs) {
    Table table;
    table.n_outputs = n_outputs;
    for (std::size_t f = 0; f < n_features; ++f) {
        table.n_value_bins.push_back(static_cast<std::int32_t>(2 + f % 29));
        table.categorical.push_back(f % 3 == 2 ? 1 : 0);
    }
    std::uint64_t draw = 0;
    const auto below = [&draw](std::uint64_t n) {
        return random_below(1, Stream::kRows, draw++, n);
    };
    for (std::size_t row = 0; row < n_rows; ++row) {
        table.weights.push_back(static_cast<std::int64_t>(1 + below(3)));
        std::uint64_t signal = 0;
        for (std::size_t f = 0; f < n_features; ++f) {
            const std::uint64_t n_bins = static_cast<std::uint64_t>(table.n_value_bins[f]) + 1;
            table.bins.push_back(static_cast<std::uint8_t>(below(n_bins)));
            if (f < 5) signal += table.bins.back() * (f + 1);
        }
        for (std::size_t k = 0; k < n_outputs; ++k) {
            const auto target = static_cast<std::int64_t>(signal % (k + 7) * 50 + below(20));
            table.targets.push_back(table.weights.back() * target);
        }
    }
    return table;
}

std::vector<std::uint32_t> all_rows(std::size_t n) {
    std::vector<std::uint32_t> rows(n);
    std::iota(rows.begin(), rows.end(), 0U);
    return rows;
}

/// Calls visit(number of parent, of left, of right) for every number of every cell.
template <class Visit>
void for_each_number(const BinnedRows& data, const Histogram& a, const Histogram& b,
                     const Histogram& c, const Visit& visit) {
    for (std::size_t f = 0; f < data.n_features; ++f) {
        for (std::size_t bin = 0; bin <= static_cast<std::size_t>(data.n_value_bins[f]); ++bin) {
            for (std::size_t k = 0; k < a.width(); ++k) {
                visit(a.cell(f, bin)[k], b.cell(f, bin)[k], c.cell(f, bin)[k]);
            }
        }
    }
}

bool same_tree(const GrownTree& a, const GrownTree& b) {
    return a.feature == b.feature && a.bin == b.bin && a.right == b.right &&
           a.missing_left == b.missing_left && a.category_set == b.category_set &&
           a.category_sets == b.category_sets && a.values == b.values && a.count == b.count &&
           a.weight == b.weight && a.gain == b.gain;
}

/// Where a row ends up, and every node on its way.
template <class Visit>
void walk(const GrownTree& tree, const BinnedRows& data, std::size_t row, const Visit& visit) {
    std::size_t node = 0;
    visit(node);
    while (tree.feature[node] >= 0) {
        const auto feature = static_cast<std::size_t>(tree.feature[node]);
        const std::size_t bin = data.bins[row * data.n_features + feature];
        bool left = tree.missing_left[node] != 0;
        if (bin != static_cast<std::size_t>(data.n_value_bins[feature])) {
            const std::int32_t set = tree.category_set[node];
            const std::size_t byte = static_cast<std::size_t>(std::max(set, 0)) * 32 + bin / 8;
            left = set < 0 ? static_cast<std::int32_t>(bin) <= tree.bin[node]
                           : ((tree.category_sets[byte] >> (bin % 8)) & 1) != 0;
        }
        node = left ? node + 1 : static_cast<std::size_t>(tree.right[node]);
        visit(node);
    }
}

}  // namespace

TEST(a_histogram_holds_plain_sums) {
    const Table table = random_table(500, 7, 2);
    const BinnedRows data = table.view();
    Histogram histogram(data);
    const std::vector<std::uint32_t> rows = {3, 4, 100, 101, 102, 250, 499};
    histogram.build(data, all_rows(500), 1);  // what was there before must go
    histogram.build(data, rows, 1);
    for (std::size_t f = 0; f < 7; ++f) {
        for (std::size_t bin = 0; bin <= static_cast<std::size_t>(data.n_value_bins[f]); ++bin) {
            std::array<std::int64_t, 4> sums{};
            for (const std::uint32_t row : rows) {
                if (data.bins[row * 7 + f] != bin) continue;
                sums[0] += data.targets[2 * row];
                sums[1] += data.targets[2 * row + 1];
                sums[2] += data.weights[row];
                sums[3] += 1;
            }
            CHECK(std::equal(sums.begin(), sums.end(), histogram.cell(f, bin)));
        }
    }
}

TEST(the_parents_histogram_is_the_sum_of_its_childrens) {
    const Table table = random_table(4000, 11, 3);
    const BinnedRows data = table.view();
    std::vector<std::uint32_t> left_rows, right_rows;
    for (const std::uint32_t row : all_rows(4000)) {
        (random_below(2, Stream::kRows, row, 3) == 0 ? left_rows : right_rows).push_back(row);
    }
    Histogram parent(data), left(data), right(data);
    parent.build(data, all_rows(4000), 4);
    left.build(data, left_rows, 4);
    right.build(data, right_rows, 1);
    for_each_number(data, parent, left, right,
                    [](std::int64_t p, std::int64_t l, std::int64_t r) { CHECK(p == l + r); });
    parent.subtract(left);
    for_each_number(data, parent, left, right,
                    [](std::int64_t p, std::int64_t, std::int64_t r) { CHECK(p == r); });
}

TEST(splitting_rows_is_stable_and_complete) {
    constexpr std::size_t kRows = 1000;
    spinney::NodeRows node_rows(kRows);
    const auto is_even = [](std::uint32_t row) { return row % 2 == 0; };
    const auto by_three = [](std::uint32_t row) { return row % 3 == 0; };
    CHECK(node_rows.split(0, kRows, is_even) == 500);
    const std::size_t middle = node_rows.split(500, kRows, by_three);  // rows 3, 9, 15, ...
    CHECK(middle == 500 + 167);
    CHECK(node_rows.split(100, 100, is_even) == 100);
    CHECK(node_rows.split(0, 500, is_even) == 500 && node_rows.split(500, kRows, is_even) == 500);
    const auto left = node_rows.rows(0, 500);
    const auto threes = node_rows.rows(500, middle);
    const auto others = node_rows.rows(middle, kRows);
    CHECK(std::all_of(left.begin(), left.end(), is_even));
    CHECK(std::all_of(threes.begin(), threes.end(), by_three));
    CHECK(std::none_of(others.begin(), others.end(), by_three));
    for (const auto rows : {left, threes, others}) CHECK(std::is_sorted(rows.begin(), rows.end()));
    const auto all = node_rows.rows(0, kRows);
    std::vector<std::uint32_t> sorted(all.begin(), all.end());
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == all_rows(kRows));
}

TEST(drawn_features_are_some_of_all_in_order) {
    TreeSettings settings;
    CHECK(spinney::draw_features(9, settings, 4) == all_rows(9));
    for (const std::int32_t wanted : {1, 4, 8, 9, 20}) {
        settings.max_features = wanted;
        for (std::int32_t node = 0; node < 50; ++node) {
            const auto drawn = spinney::draw_features(9, settings, node);
            CHECK(drawn.size() == static_cast<std::size_t>(std::min(wanted, 9)));
            const bool increasing = std::adjacent_find(drawn.begin(), drawn.end(),
                                                       std::greater_equal<>()) == drawn.end();
            CHECK(increasing && drawn.back() < 9);
            CHECK(spinney::draw_features(9, settings, node) == drawn);
        }
    }
}

TEST(every_subset_of_features_is_equally_likely) {
    TreeSettings settings;
    settings.max_features = 3;
    constexpr int kDraws = 20'000;
    // Along nodes, then along seeds: both must look random.
    for (const bool along_nodes : {true, false}) {
        std::map<std::vector<std::uint32_t>, int> counts;
        for (int i = 0; i < kDraws; ++i) {
            settings.seed = along_nodes ? 5 : static_cast<std::uint64_t>(i);
            ++counts[spinney::draw_features(6, settings, along_nodes ? i : 0)];
        }
        CHECK(counts.size() == 20);
        double chi_square = 0;
        for (const auto& [subset, count] : counts) {
            chi_square += std::pow(count - kDraws / 20.0, 2) / (kDraws / 20.0);
        }
        CHECK(chi_square < 50.8);  // 19 degrees of freedom: once in 10 000; the seeds are fixed
    }
}

TEST(a_numeric_tree_is_the_one_computed_by_hand) {
    // Total 20^2/4 = 100; behind bin 1: 0 + 20^2/2, gain 100. Then 8 and 12: 64 + 144 - 200.
    const Table table = one_feature({3, 0, 2, 1}, 4, false, {12, 0, 8, 0});
    const GrownTree tree = grow_histogram_tree(table.view(), {}, 1);
    CHECK(tree.feature == std::vector<std::int32_t>({0, -1, 0, -1, -1}));
    CHECK(tree.bin == std::vector<std::int32_t>({1, -1, 2, -1, -1}));
    CHECK(tree.right == std::vector<std::int32_t>({2, -1, 4, -1, -1}));
    CHECK(tree.values == std::vector<double>({5, 0, 10, 8, 12}));
    CHECK(tree.count == std::vector<std::int64_t>({4, 2, 2, 1, 1}));
    CHECK(tree.weight == std::vector<double>({4, 2, 2, 1, 1}));
    CHECK(tree.gain == std::vector<double>({100, 0, 8, 0, 0}));
    // Nothing is missing: such rows would follow the larger child, the left one in a tie.
    CHECK(tree.missing_left == std::vector<std::uint8_t>({1, 0, 1, 0, 0}));
    CHECK(tree.category_set == std::vector<std::int32_t>(5, -1) && tree.category_sets.empty());
}

TEST(limits_stop_the_hand_made_tree) {
    const Table table = one_feature({3, 0, 2, 1}, 4, false, {12, 0, 8, 0});
    const auto n_nodes = [&table](const TreeSettings& settings) {
        return grow_histogram_tree(table.view(), settings, 1).feature.size();
    };
    CHECK(n_nodes({.max_leaf_nodes = 1}) == 1);
    CHECK(n_nodes({.max_leaf_nodes = 2}) == 3);
    CHECK(n_nodes({.max_leaf_nodes = 3}) == 5);
    CHECK(n_nodes({.max_depth = 1}) == 3);
    CHECK(n_nodes({.min_samples_split = 3}) == 3);
    CHECK(n_nodes({.min_samples_split = 5}) == 1);
    CHECK(n_nodes({.min_samples_leaf = 2}) == 3);
    CHECK(n_nodes({.min_samples_leaf = 3}) == 1);
    CHECK(n_nodes({.min_gain = 50}) == 3);
    CHECK(n_nodes({.min_gain = 101}) == 1);
}

TEST(missing_values_go_where_they_fit) {
    // Bins 0 and 1, missing is 2. Like bin 1: right. Like bin 0: left. Like neither: alone.
    const auto grown = [](std::int64_t low, std::int64_t high, std::int64_t missing) {
        const Table table = one_feature({0, 0, 1, 1, 2}, 2, false, {low, low, high, high, missing});
        return grow_histogram_tree(table.view(), {.max_leaf_nodes = 2}, 1);
    };
    const GrownTree right = grown(0, 10, 10);
    CHECK(right.bin[0] == 0 && right.missing_left[0] == 0);
    CHECK(right.values == std::vector<double>({6, 0, 10}) && right.gain[0] == 120);
    const GrownTree left = grown(0, 10, 0);
    CHECK(left.bin[0] == 0 && left.missing_left[0] == 1);
    CHECK(left.values == std::vector<double>({4, 0, 10}) && left.gain[0] == 120);
    const GrownTree alone = grown(0, 0, 10);
    CHECK(alone.bin[0] == 1 && alone.missing_left[0] == 0);
    CHECK(alone.values == std::vector<double>({2, 0, 10}) && alone.gain[0] == 80);
}

TEST(categories_are_split_in_the_order_of_their_means) {
    // Means 5, 0, 7, 1: best are {1, 3} against {0, 2}, 2^2/4 + 24^2/4 - 26^2/8 = 60.5. Category 4
    // has no rows and goes with the larger child: the left one in a tie.
    const Table table = one_feature({0, 0, 1, 1, 2, 2, 3, 3}, 5, true, {5, 5, 0, 0, 7, 7, 1, 1});
    const GrownTree tree = grow_histogram_tree(table.view(), {.max_leaf_nodes = 2}, 1);
    CHECK(tree.category_set == std::vector<std::int32_t>({0, -1, -1}) && tree.bin[0] == -1);
    CHECK(tree.category_sets.size() == spinney::kCategorySetBytes);
    CHECK(tree.category_sets[0] == (1U << 1 | 1U << 3 | 1U << 4) && tree.category_sets[1] == 0);
    CHECK(tree.missing_left[0] == 1);
    CHECK(tree.values == std::vector<double>({3.25, 0.5, 6}) && tree.gain[0] == 60.5);
    CHECK(tree.count == std::vector<std::int64_t>({8, 4, 4}));
}

TEST(ties_go_to_the_lowest_feature_and_bin) {
    Table table = one_feature({0, 0, 2}, 3, false, {0, 0, 6});  // bin 1 is empty
    table.bins = {0, 0, 0, 0, 2, 2};                            // the same feature twice
    table.n_value_bins = {3, 3};
    table.categorical = {0, 0};
    const GrownTree tree = grow_histogram_tree(table.view(), {}, 1);
    CHECK(tree.feature[0] == 0 && tree.bin[0] == 0);
}

TEST(scales_turn_integers_into_weights_values_and_gains) {
    Table table = one_feature({0, 1}, 2, false, {2 * 3, 6 * 5});  // weight * target
    table.weights = {2, 6};
    table.target_scale = 0.25;
    table.weight_scale = 0.5;  // weights 1 and 3, means 1.5 and 2.5
    const GrownTree tree = grow_histogram_tree(table.view(), {}, 1);
    CHECK(tree.weight == std::vector<double>({4, 1, 3}));
    CHECK(tree.values == std::vector<double>({2.25, 1.5, 2.5}));
    CHECK(std::abs(tree.gain[0] - 0.75) < 1e-12);  // 1 * 0.75^2 + 3 * 0.25^2
    CHECK(grow_histogram_tree(table.view(), {.min_samples_leaf = 1.5}, 1).feature.size() == 1);
}

TEST(nodes_of_a_large_tree_describe_the_rows_that_reach_them) {
    const Table table = random_table(3000, 8, 2);
    const BinnedRows data = table.view();
    const GrownTree tree = grow_histogram_tree(data, {.min_samples_leaf = 5}, 4);
    const std::size_t n_nodes = tree.feature.size();
    CHECK(n_nodes > 100);
    std::vector<std::int64_t> count(n_nodes), weight(n_nodes), targets(2 * n_nodes);
    for (std::size_t row = 0; row < data.n_rows; ++row) {
        walk(tree, data, row, [&](std::size_t node) {
            ++count[node];
            weight[node] += data.weights[row];
            targets[2 * node] += data.targets[2 * row];
            targets[2 * node + 1] += data.targets[2 * row + 1];
        });
    }
    CHECK(count == tree.count);
    for (std::size_t node = 0; node < n_nodes; ++node) {
        CHECK(tree.weight[node] == static_cast<double>(weight[node]));
        CHECK(weight[node] >= 5);
        for (std::size_t k = 0; k < 2; ++k) {
            CHECK(tree.values[2 * node + k] ==
                  static_cast<double>(targets[2 * node + k]) / static_cast<double>(weight[node]));
        }
    }
}

TEST(threads_do_not_change_the_tree) {
    const Table table = random_table(6000, 70, 1);  // enough features to share the search
    for (const TreeSettings& settings :
         {TreeSettings{}, TreeSettings{.max_leaf_nodes = 40},
          TreeSettings{.max_depth = 6, .max_features = 66, .seed = 3}}) {
        const GrownTree alone = grow_histogram_tree(table.view(), settings, 1);
        CHECK(alone.feature.size() > 50);
        CHECK(same_tree(alone, grow_histogram_tree(table.view(), settings, 4)));
    }
}

CHECK_MAIN
