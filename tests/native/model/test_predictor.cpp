#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "native/base/failure.hpp"
#include "native/base/isa.hpp"
#include "native/model/predictor.hpp"
#include "tests/native/check.hpp"
#include "tests/native/model/small_forests.hpp"

using namespace small;
using spinney::check_forest;

namespace {

constexpr spinney::Road kRoads[] = {spinney::Road::kBest, spinney::Road::kSliced,
                                    spinney::Road::kClumped, spinney::Road::kKeyed,
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

}  // namespace

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
