#include <cmath>
#include <string>

#include "native/base/failure.hpp"
#include "native/trees/grown_trees.hpp"
#include "tests/native/check.hpp"

namespace {

using spinney::GrownTree;
using spinney::GrownTrees;

/// A root split by categories or by number, and two leaves.
GrownTree small_tree(bool by_category, double value) {
    GrownTree tree;
    spinney::Split split;
    split.feature = 2;
    split.is_categorical = by_category;
    split.bin = by_category ? -1 : 7;
    if (by_category) split.set_left(5);
    tree.append(&split);
    tree.append(nullptr);
    tree.append(nullptr);
    tree.right[0] = 2;
    tree.values = {value, value + 1.0, value + 2.0};
    tree.count = {10, 4, 6};
    tree.weight = {10.0, 4.0, 6.0};
    tree.gain = {3.0, 0.0, 0.0};
    return tree;
}

GrownTrees some_trees() {
    GrownTrees trees;
    const std::vector<double> threshold = {0.5, 0.0, 0.0};
    for (const bool by_category : {true, false, true, true}) {
        trees.append(small_tree(by_category, static_cast<double>(trees.size())), threshold);
    }
    return trees;
}

bool same(const GrownTrees& a, const GrownTrees& b) {
    const auto equal = [](auto x, auto y) {
        return std::vector(x.begin(), x.end()) == std::vector(y.begin(), y.end());
    };
    return a.nodes().feature == b.nodes().feature && a.nodes().right == b.nodes().right &&
           a.nodes().missing_left == b.nodes().missing_left &&
           a.nodes().category_set == b.nodes().category_set &&
           a.nodes().category_sets == b.nodes().category_sets &&
           a.nodes().values == b.nodes().values && a.nodes().count == b.nodes().count &&
           a.nodes().weight == b.nodes().weight && a.nodes().gain == b.nodes().gain &&
           equal(a.thresholds(), b.thresholds()) && equal(a.starts(), b.starts());
}

}  // namespace

TEST(category_sets_are_numbered_through) {
    const GrownTrees trees = some_trees();
    CHECK(trees.size() == 4);
    const std::vector<std::int32_t> expected = {0, -1, -1, -1, -1, -1, 1, -1, -1, 2, -1, -1};
    CHECK(trees.nodes().category_set == expected);
    CHECK(trees.nodes().category_sets.size() == 3 * spinney::kCategorySetBytes);
    CHECK(trees.starts().back() == 12);
}

TEST(truncated_trees_are_as_if_the_others_had_never_been) {
    const std::vector<double> threshold = {0.5, 0.0, 0.0};
    for (std::size_t n = 0; n <= 4; ++n) {
        GrownTrees trees = some_trees();
        trees.truncate(n);
        GrownTrees expected;
        for (const bool by_category : {true, false, true, true}) {
            if (expected.size() == n) break;
            expected.append(small_tree(by_category, static_cast<double>(expected.size())),
                            threshold);
        }
        CHECK(same(trees, expected));
    }
}

TEST(all_trees_of_another_list_are_appended) {
    const GrownTrees trees = some_trees();
    GrownTrees copy;
    copy.append_all(trees.nodes(), trees.thresholds(), trees.starts());
    CHECK(same(copy, trees));
    copy.append_all(trees.nodes(), trees.thresholds(), trees.starts());
    CHECK(copy.size() == 8);
    CHECK(copy.nodes().category_set[12] == 3);
    copy.truncate(4);
    CHECK(same(copy, trees));
}

TEST(values_of_the_last_tree_can_be_changed) {
    GrownTrees trees;
    CHECK(trees.last_values().empty());
    trees = some_trees();
    CHECK(trees.last_values().size() == 3);
    trees.last_values()[1] = -1.0;
    CHECK(trees.nodes().values[10] == -1.0);
}

TEST(steps_are_values_times_the_learning_rate_or_refused) {
    std::vector<double> values = {1.5, -2.0, 0.0};
    spinney::take_steps(values, 0.5);
    CHECK(values == std::vector<double>({0.75, -1.0, 0.0}));
    const auto message = [](std::vector<double> given, double rate) {
        try {
            spinney::take_steps(given, rate);
        } catch (const spinney::Failure& failure) {
            return std::string(failure.what());
        }
        return std::string();
    };
    CHECK(message({0.5, -1.7}, 1e308).empty());
    CHECK(message({0.5, -1.9}, 1e308)
              .starts_with("learning_rate=1e+308: times the value of a leaf, -1.9"));
    CHECK(message({std::nan("")}, 0.1).starts_with("The best value of a leaf is not"));
    CHECK(message({-INFINITY}, 0.0).starts_with("The best value of a leaf is not"));
}

CHECK_MAIN
