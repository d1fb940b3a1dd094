#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

#include "native/base/failure.hpp"
#include "native/model/forest.hpp"
#include "tests/native/check.hpp"
#include "tests/native/model/small_forests.hpp"

using namespace small;
using spinney::check_forest;

namespace {

struct Corruption {
    const char* what;
    std::function<void(Forest&)> spoil;
};

const std::vector<Corruption>& corruptions() {
    static const std::vector<Corruption> all = {
        // Lengths.
        {"tree_start too short", [](Forest& f) { f.tree_start.pop_back(); }},
        {"tree_start empty", [](Forest& f) { f.tree_start.clear(); }},
        {"tree_output too short", [](Forest& f) { f.tree_output.pop_back(); }},
        {"baseline too long", [](Forest& f) { f.baseline.push_back(0); }},
        {"no output", [](Forest& f) { f.n_outputs = 0, f.baseline.clear(); }},
        {"width of values neither 1 nor n_outputs", [](Forest& f) { f.value_width = 2; }},
        {"hostile width of values", [](Forest& f) { f.value_width = ~std::size_t{0}; }},
        {"feature too short", [](Forest& f) { f.feature.pop_back(); }},
        {"threshold too short", [](Forest& f) { f.threshold.pop_back(); }},
        {"right too short", [](Forest& f) { f.right.pop_back(); }},
        {"missing_left too short", [](Forest& f) { f.missing_left.pop_back(); }},
        {"category_set too short", [](Forest& f) { f.category_set.pop_back(); }},
        {"values too short", [](Forest& f) { f.values.pop_back(); }},
        {"values missing", [](Forest& f) { f.values.clear(); }},
        {"count too short", [](Forest& f) { f.count.pop_back(); }},
        {"weight too short", [](Forest& f) { f.weight.pop_back(); }},
        {"gain too short", [](Forest& f) { f.gain.pop_back(); }},
        // Trees.
        {"first tree begins late", [](Forest& f) { f.tree_start[0] = 1; }},
        {"last tree ends late", [](Forest& f) { f.tree_start[2] = 9; }},
        {"a tree without nodes", [](Forest& f) { f.tree_start[1] = 0; }},
        {"trees that overlap", [](Forest& f) { f.tree_start[1] = 9; }},
        {"a tree begins before the arrays", [](Forest& f) { f.tree_start[1] = -1; }},
        {"a tree cut short", [](Forest& f) { f.tree_start[1] = 4; }},
        {"output beyond the last", [](Forest& f) { f.tree_output[1] = 1; }},
        {"output below -1", [](Forest& f) { f.tree_output[1] = -2; }},
        // Shape.
        {"right child is the node itself", [](Forest& f) { f.right[2] = 2; }},
        {"right child is the left child", [](Forest& f) { f.right[0] = 1; }},
        {"right child above", [](Forest& f) { f.right[2] = 0; }},
        {"right child inside the left subtree", [](Forest& f) { f.right[0] = 3; }},
        {"a node with two parents, others with none", [](Forest& f) { f.right[0] = 4; }},
        {"two trees in one",
         [](Forest& f) {
             f.tree_start = {0, 8};
             f.tree_weight = {1};
             f.tree_output = {0};
             f.right[5] = 7;
         }},
        {"right child beyond the tree", [](Forest& f) { f.right[2] = 5; }},
        {"right child below -1", [](Forest& f) { f.right[2] = -2; }},
        {"right child far away", [](Forest& f) { f.right[2] = 1 << 30; }},
        {"inner node without a right child", [](Forest& f) { f.right[2] = -1; }},
        {"leaf with a right child", [](Forest& f) { f.right[1] = 3; }},
        // Splits.
        {"feature beyond the last", [](Forest& f) { f.feature[0] = 3; }},
        {"feature below -1", [](Forest& f) { f.feature[0] = -2; }},
        {"inner node without a feature", [](Forest& f) { f.feature[0] = -1; }},
        {"leaf with a feature", [](Forest& f) { f.feature[4] = 0; }},
        {"leaf with a threshold", [](Forest& f) { f.threshold[4] = 1; }},
        {"leaf with a gain", [](Forest& f) { f.gain[4] = 1; }},
        {"leaf with a way for missing values", [](Forest& f) { f.missing_left[4] = 1; }},
        {"threshold is NaN", [](Forest& f) { f.threshold[0] = kMissing; }},
        {"missing_left is 2", [](Forest& f) { f.missing_left[0] = 2; }},
        {"numeric feature at a categorical node", [](Forest& f) { f.feature[2] = 0; }},
        {"categorical feature at a numeric node", [](Forest& f) { f.feature[0] = 1; }},
        {"categorical node with a threshold", [](Forest& f) { f.threshold[2] = 1; }},
        // Categories.
        {"set beyond the last", [](Forest& f) { f.category_set[2] = 1; }},
        {"set below -1", [](Forest& f) { f.category_set[2] = -2; }},
        {"leaf with a set", [](Forest& f) { f.category_set[2] = -1, f.category_set[3] = 0; }},
        {"a set too few", [](Forest& f) { f.category_sets.clear(); }},
        {"a byte too many", [](Forest& f) { f.category_sets.push_back(0); }},
        {"categorical too short", [](Forest& f) { f.categorical.pop_back(); }},
        {"categorical is 2", [](Forest& f) { f.categorical[1] = 2; }},
        {"category_start too short", [](Forest& f) { f.category_start.pop_back(); }},
        {"category_start does not begin at 0", [](Forest& f) { f.category_start[0] = -1; }},
        {"category_start goes back", [](Forest& f) { f.category_start[2] = 4; }},
        {"codes of a numeric feature", [](Forest& f) { f.category_start[1] = 1; }},
        {"bins too few", [](Forest& f) { f.category_bins.pop_back(); }},
        {"a category in the bin of missing values", [](Forest& f) { f.category_bins[1] = 255; }},
        {"one feature more", [](Forest& f) { f.n_features = 4; }},
        {"hostile number of features", [](Forest& f) { f.n_features = ~std::size_t{0}; }},
        // Numbers.
        {"value is NaN", [](Forest& f) { f.values[1] = kMissing; }},
        {"inner value is infinite", [](Forest& f) { f.values[0] = kInfinity; }},
        {"weight of a tree is infinite", [](Forest& f) { f.tree_weight[0] = -kInfinity; }},
        {"baseline is NaN", [](Forest& f) { f.baseline[0] = kMissing; }},
        {"gain is infinite", [](Forest& f) { f.gain[0] = kInfinity; }},
        {"weight of a node is negative", [](Forest& f) { f.weight[3] = -1; }},
        {"weight of a node is NaN", [](Forest& f) { f.weight[3] = kMissing; }},
        {"count is negative", [](Forest& f) { f.count[3] = -1; }},
    };
    return all;
}

}  // namespace

TEST(good_forests_are_accepted) {
    check_forest(small_forest().view());
    check_forest(vector_forest().view());
    Forest scalar_trees = small_forest();
    scalar_trees.n_outputs = 3;
    scalar_trees.baseline = {1, 2, 3};
    scalar_trees.tree_output = {0, 2};
    check_forest(scalar_trees.view());
    Forest no_trees;
    no_trees.tree_start = {0};
    no_trees.baseline = {7};
    no_trees.categorical = {0, 0, 0};
    no_trees.category_start = {0, 0, 0, 0};
    check_forest(no_trees.view());
}

TEST(every_single_corruption_is_refused) {
    for (const Corruption& corruption : corruptions()) {
        Forest forest = small_forest();
        corruption.spoil(forest);
        bool refused = false;
        try {
            check_forest(forest.view());
        } catch (const spinney::Failure& failure) {
            refused = failure.kind() == spinney::FailureKind::kInvalidModel;
        }
        if (!refused) std::fprintf(stderr, "accepted: %s\n", corruption.what);
        CHECK(refused);
    }
}

TEST(vector_leaves_and_single_outputs_do_not_mix) {
    Forest forest = vector_forest();
    forest.tree_output[0] = 0;
    CHECK_THROWS(spinney::Failure, check_forest(forest.view()));
    Forest scalar_tree = small_forest();
    scalar_tree.n_outputs = 2;
    scalar_tree.baseline = {0, 0};
    scalar_tree.tree_output[0] = -1;
    CHECK_THROWS(spinney::Failure, check_forest(scalar_tree.view()));
}

CHECK_MAIN
