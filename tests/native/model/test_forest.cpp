#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "native/base/failure.hpp"
#include "native/base/isa.hpp"
#include "native/model/forest.hpp"
#include "native/model/predictor.hpp"
#include "tests/native/check.hpp"

using spinney::check_forest;
using spinney::ForestArrays;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// The arrays of a forest, owned, so that a test can spoil one of them.
struct Forest {
    std::size_t n_features = 3;
    std::size_t n_outputs = 1;
    std::size_t value_width = 1;
    std::vector<std::int64_t> tree_start;
    std::vector<double> tree_weight;
    std::vector<std::int32_t> tree_output;
    std::vector<std::int32_t> feature;
    std::vector<double> threshold;
    std::vector<std::int32_t> right;
    std::vector<std::uint8_t> missing_left;
    std::vector<std::int32_t> category_set;
    std::vector<std::uint8_t> category_sets;
    std::vector<double> values;
    std::vector<std::int64_t> count;
    std::vector<double> weight;
    std::vector<double> gain;
    std::vector<double> baseline;
    std::vector<std::uint8_t> categorical;
    std::vector<std::int64_t> category_start;
    std::vector<std::uint8_t> category_bins;

    ForestArrays view() const {
        ForestArrays arrays;
        arrays.n_features = n_features;
        arrays.n_outputs = n_outputs;
        arrays.value_width = value_width;
        arrays.tree_start = tree_start;
        arrays.tree_weight = tree_weight;
        arrays.tree_output = tree_output;
        arrays.feature = feature;
        arrays.threshold = threshold;
        arrays.right = right;
        arrays.missing_left = missing_left;
        arrays.category_set = category_set;
        arrays.category_sets = category_sets;
        arrays.values = values;
        arrays.count = count;
        arrays.weight = weight;
        arrays.gain = gain;
        arrays.baseline = baseline;
        arrays.categorical = categorical;
        arrays.category_start = category_start;
        arrays.category_bins = category_bins;
        return arrays;
    }
};

/// Tree 0: x0 <= 1.5 (missing left) ? 1 : (code 0 or 2 of x1 (missing right) ? 2 : 4)
/// Tree 1, twice as heavy: x2 <= +infinity (missing right) ? 8 : 16
Forest small_forest() {
    Forest forest;
    forest.tree_start = {0, 5, 8};
    forest.tree_weight = {1.0, 2.0};
    forest.tree_output = {0, 0};
    forest.feature = {0, -1, 1, -1, -1, 2, -1, -1};
    forest.threshold = {1.5, 0, 0, 0, 0, kInfinity, 0, 0};
    forest.right = {2, -1, 4, -1, -1, 2, -1, -1};
    forest.missing_left = {1, 0, 0, 0, 0, 0, 0, 0};
    forest.category_set = {-1, -1, 0, -1, -1, -1, -1, -1};
    // Codes 0, 1, 2 lie in bins 9, 0, 200: bits 9 and 200 send the outer two left.
    forest.category_bins = {9, 0, 200};
    forest.category_sets.assign(spinney::kCategorySetBytes, 0);
    forest.category_sets[9 / 8] = 1U << (9 % 8);
    forest.category_sets[200 / 8] = 1U << (200 % 8);
    forest.values = {0, 1, 0, 2, 4, 0, 8, 16};
    forest.count = {10, 4, 6, 3, 3, 10, 9, 1};
    forest.weight = {10, 4, 6, 3, 3, 10, 9, 1};
    forest.gain = {5, 0, 3, 0, 0, 1, 0, 0};
    forest.baseline = {0.5};
    forest.categorical = {0, 1, 0};
    forest.category_start = {0, 0, 3, 3};
    return forest;
}

/// The same trees, every leaf a pair: the value and its negative.
Forest vector_forest() {
    Forest forest = small_forest();
    forest.n_outputs = forest.value_width = 2;
    forest.baseline = {0.5, -100};
    forest.tree_output = {-1, -1};
    forest.values.clear();
    for (const double value : small_forest().values) {
        forest.values.insert(forest.values.end(), {value, -value});
    }
    return forest;
}

/// Rows that take every way through the small forest, with what they must score.
struct Rows {
    std::vector<double> x0 = {1.5, 1.6, 1.6, 1.6, 1.6, 1.6, kMissing, -kInfinity, kInfinity};
    std::vector<std::int32_t> x1 = {0, 0, 1, 2, 3, -1, 1, 1, 0};
    std::vector<float> x2 = {0, 0, 0, NAN, 0, 0, INFINITY, NAN, -INFINITY};
    std::vector<double> scores = {17.5, 18.5, 20.5, 34.5, 20.5, 20.5, 17.5, 33.5, 18.5};
    std::vector<std::int32_t> leaves = {1, 1, 3, 1, 4, 1, 3, 2, 4, 1, 4, 1, 1, 1, 1, 2, 3, 1};

    std::size_t size() const { return x0.size(); }

    spinney::Columns columns() const {
        return {size(),
                {column(spinney::ValueType::kFloat64, x0), column(spinney::ValueType::kCode32, x1),
                 column(spinney::ValueType::kFloat32, x2)}};
    }

    template <class T>
    static spinney::ColumnView column(spinney::ValueType type, const std::vector<T>& values) {
        return {type, reinterpret_cast<const std::byte*>(values.data()), sizeof(T), {}, false};
    }

    template <class T>
    static void repeat(std::vector<T>& values, std::size_t times) {
        const std::vector<T> once = values;
        values.clear();
        for (std::size_t i = 0; i < times; ++i) {
            values.insert(values.end(), once.begin(), once.end());
        }
    }
};

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

constexpr spinney::Road kRoads[] = {spinney::Road::kBest, spinney::Road::kSliced,
                                    spinney::Road::kWalked};

/// By every road and instruction set, all of which must agree.
void raw_scores(const Forest& forest, const spinney::Columns& columns, std::vector<double>& scores,
                int n_threads = 1) {
    const spinney::ForestArrays arrays = forest.view();
    const spinney::Predictor predictor(arrays);
    predictor.predict(columns, {}, scores, n_threads);
    const spinney::Isa active = spinney::active_isa();
    for (int isa = 0; isa <= static_cast<int>(spinney::best_isa()); ++isa) {
        spinney::use_isa(static_cast<spinney::Isa>(isa));
        for (const spinney::Road road : kRoads) {
            std::vector<double> again(scores.size());
            predictor.predict(columns, {}, again, n_threads, road);
            CHECK(again == scores);
        }
    }
    spinney::use_isa(active);
}

TEST(scores_and_leaves_are_those_computed_by_hand) {
    const Rows rows;
    const Forest forest = small_forest();
    std::vector<double> scores(rows.size());
    std::vector<std::int32_t> leaves(rows.size() * 2);
    raw_scores(forest, rows.columns(), scores);
    for (const spinney::Road road : kRoads) {
        const spinney::ForestArrays arrays = forest.view();
        spinney::Predictor(arrays).leaf_ids(rows.columns(), leaves, 1, road);
        CHECK(leaves == rows.leaves);
        std::fill(leaves.begin(), leaves.end(), -1);
    }
    CHECK(scores == rows.scores);
}

TEST(vector_leaves_add_to_all_outputs) {
    const Rows rows;
    const Forest forest = vector_forest();
    std::vector<double> scores(rows.size() * 2);
    raw_scores(forest, rows.columns(), scores);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CHECK(scores[2 * i] == rows.scores[i]);
        CHECK(scores[2 * i + 1] == -100 - (rows.scores[i] - 0.5));
    }
}

TEST(scalar_trees_add_to_their_output_only) {
    const Rows rows;
    Forest forest = small_forest();
    forest.n_outputs = 3;
    forest.baseline = {100, 200, 300};
    forest.tree_output = {2, 0};
    std::vector<double> scores(rows.size() * 3);
    raw_scores(forest, rows.columns(), scores);
    CHECK(scores[0] == 116 && scores[1] == 200 && scores[2] == 301);
    CHECK(scores[9] == 132 && scores[10] == 200 && scores[11] == 302);
}

TEST(many_rows_score_the_same_on_every_number_of_threads) {
    Rows rows;
    constexpr std::size_t kTimes = 500;  // several blocks for each thread
    Rows::repeat(rows.x0, kTimes);
    Rows::repeat(rows.x1, kTimes);
    Rows::repeat(rows.x2, kTimes);
    Rows::repeat(rows.scores, kTimes);
    const Forest forest = small_forest();
    for (const int n_threads : {1, 4}) {
        std::vector<double> scores(rows.size());
        raw_scores(forest, rows.columns(), scores, n_threads);
        CHECK(scores == rows.scores);
    }
}

TEST(rows_a_sparse_column_does_not_list_hold_zero) {
    Rows rows;
    const std::vector<double> stored = {1.6, kMissing, 1.6};
    const std::vector<std::int32_t> listed = {1, 6, 8};
    spinney::Columns columns = rows.columns();
    columns.features[0] = {spinney::ValueType::kFloat64,
                           reinterpret_cast<const std::byte*>(stored.data()), 0, listed, true};
    std::vector<double> scores(rows.size());
    raw_scores(small_forest(), columns, scores);
    CHECK(scores == std::vector<double>({17.5, 18.5, 17.5, 33.5, 17.5, 17.5, 17.5, 33.5, 18.5}));
}

TEST(a_code_beyond_its_feature_is_missing_not_the_next_features) {
    Forest forest;
    forest.n_features = 2;
    forest.tree_start = {0, 3};
    forest.tree_weight = {1};
    forest.tree_output = {0};
    forest.feature = {0, -1, -1};
    forest.threshold = forest.gain = forest.weight = {0, 0, 0};
    forest.right = {2, -1, -1};
    forest.missing_left = {0, 0, 0};
    forest.category_set = {0, -1, -1};
    forest.category_sets.assign(spinney::kCategorySetBytes, 0xFF);  // all known categories: left
    forest.values = {0, 1, 2};
    forest.count = {0, 0, 0};
    forest.baseline = {0};
    forest.categorical = {1, 1};
    forest.category_start = {0, 1, 2};  // one code each; the second feature's stands right behind
    forest.category_bins = {0, 0};
    check_forest(forest.view());
    const std::vector<std::int32_t> codes = {0, 1, 2, -1};
    const auto column = Rows::column(spinney::ValueType::kCode32, codes);
    std::vector<double> scores(4);
    raw_scores(forest, {4, {column, column}}, scores);
    CHECK(scores == std::vector<double>({1, 2, 2, 2}));
}

TEST(a_table_of_other_features_is_refused) {
    const Rows rows;
    std::vector<double> scores(rows.size());
    spinney::Columns columns = rows.columns();
    columns.features.pop_back();
    CHECK_THROWS(spinney::Failure, raw_scores(small_forest(), columns, scores));
    columns = rows.columns();
    std::swap(columns.features[0], columns.features[1]);
    CHECK_THROWS(spinney::Failure, raw_scores(small_forest(), columns, scores));
}

CHECK_MAIN
