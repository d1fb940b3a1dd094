#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/base/failure.hpp"
#include "native/explain/answer_groups.hpp"
#include "native/explain/quadrature.hpp"
#include "native/explain/shapley.hpp"
#include "tests/native/check.hpp"

namespace {

/// x0 <= 0 ? (x1 <= 0 ? 0 : 2) : 4, a quarter, a quarter and half of the weight.
struct SmallForest {
    std::vector<std::int64_t> tree_start = {0, 5};
    std::vector<double> ones = {1.0};
    std::vector<std::int32_t> tree_output = {0};
    std::vector<std::int32_t> feature = {0, 1, -1, -1, -1};
    std::vector<double> zeros = {0, 0, 0, 0, 0};
    std::vector<std::int32_t> right = {4, 3, -1, -1, -1};
    std::vector<std::uint8_t> missing_left = {0, 0, 0, 0, 0};
    std::vector<std::int32_t> category_set = {-1, -1, -1, -1, -1};
    std::vector<double> values = {0, 0, 0, 2, 4};
    std::vector<std::int64_t> count = {4, 2, 1, 1, 2};
    std::vector<double> weight = {4, 2, 1, 1, 2};
    std::vector<std::uint8_t> categorical = {0, 0};
    std::vector<std::int64_t> category_start = {0, 0, 0};

    spinney::ForestArrays view() const {
        spinney::ForestArrays arrays;
        arrays.n_features = 2;
        arrays.tree_start = tree_start;
        arrays.tree_weight = ones;
        arrays.tree_output = tree_output;
        arrays.feature = feature;
        arrays.threshold = zeros;
        arrays.right = right;
        arrays.missing_left = missing_left;
        arrays.category_set = category_set;
        arrays.values = values;
        arrays.count = count;
        arrays.weight = weight;
        arrays.gain = zeros;
        arrays.baseline = ones;
        arrays.categorical = categorical;
        arrays.category_start = category_start;
        return arrays;
    }
};

spinney::ColumnView column(const std::vector<double>& values) {
    return {spinney::ValueType::kFloat64,
            reinterpret_cast<const std::byte*>(values.data()),
            sizeof(double),
            {},
            false};
}

bool is_near(double a, double b) { return std::abs(a - b) < 1e-14; }

/// Rows that take turns through all three leaves, often enough for several threads.
struct ManyRows {
    std::vector<double> x0;
    std::vector<double> x1;

    explicit ManyRows(std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            x0.push_back(i % 3 == 2 ? 1.0 : -1.0);
            x1.push_back(i % 3 == 0 ? -1.0 : 1.0);
        }
    }
    spinney::Columns columns() const { return {x0.size(), {column(x0), column(x1)}}; }
};

}  // namespace

TEST(rules_integrate_polynomials_up_to_their_degree) {
    for (const std::size_t n : {1U, 2U, 3U, 4U, 5U, 8U, 20U, 35U, 100U}) {
        const spinney::Quadrature rule = spinney::gauss_legendre(n);
        for (std::size_t power = 0; power < 2 * n; ++power) {
            double sum = 0.0;
            for (std::size_t q = 0; q < n; ++q) {
                sum += rule.weight[q] * std::pow(rule.at[q], static_cast<double>(power));
            }
            const double exact = 1.0 / static_cast<double>(power + 1);
            CHECK(std::abs(sum - exact) < 1e-13 * exact * static_cast<double>(n));
        }
        for (std::size_t q = 1; q < n; ++q) CHECK(rule.at[q - 1] < rule.at[q]);
        CHECK(rule.at.front() > 0.0 && rule.at.back() < 1.0 && rule.weight.front() > 0.0);
    }
}

const spinney::Players kBoth{{}, 2};

TEST(values_are_those_computed_by_hand) {
    const SmallForest forest;
    const ManyRows rows(3);
    // Row 0 ends in the leaf of 0. Its expected value is 1 + 2.5 with nothing known, 1 + 1 with
    // x0, 1 + 2 with x1 and 1 + 0 with both.
    CHECK(spinney::shapley_base(forest.view()) == std::vector<double>{3.5});
    std::vector<double> values(6);
    spinney::shapley_values(forest.view(), rows.columns(), kBoth, values, 1);
    CHECK(is_near(values[0], -1.75) && is_near(values[1], -0.75));
    std::vector<double> pairs(12);
    spinney::shapley_interactions(forest.view(), rows.columns(), kBoth, pairs, 1);
    CHECK(is_near(pairs[1], -0.25) && pairs[1] == pairs[2]);
    CHECK(is_near(pairs[0], -1.5) && is_near(pairs[3], -0.5));
    // Against row 2, in the leaf of 4: 1 + 2 with x0 of row 0, 1 + 4 with its x1.
    const std::vector<double> share = {0.0, 0.0, 1.0};
    std::vector<double> against(6);
    spinney::interventional_values(forest.view(), rows.columns(), {rows.columns(), share}, kBoth,
                                   against, 1);
    CHECK(is_near(against[0], -3.0) && is_near(against[1], -1.0));
}

TEST(values_are_the_same_for_every_number_of_threads) {
    const SmallForest forest;
    const ManyRows rows(1000);
    const ManyRows others(30);
    const std::vector<double> share(30, 1.0 / 30);
    std::vector<std::vector<double>> seen;
    for (const int n_threads : {1, 2, 4}) {
        std::vector<double> values(2000);
        spinney::shapley_values(forest.view(), rows.columns(), kBoth, values, n_threads);
        std::vector<double> pairs(4000);
        spinney::shapley_interactions(forest.view(), rows.columns(), kBoth, pairs, n_threads);
        std::vector<double> against(2000);
        spinney::interventional_values(forest.view(), rows.columns(), {others.columns(), share},
                                       kBoth, against, n_threads);
        values.insert(values.end(), pairs.begin(), pairs.end());
        values.insert(values.end(), against.begin(), against.end());
        seen.push_back(values);
    }
    CHECK(seen[0] == seen[1] && seen[0] == seen[2]);
}

TEST(features_of_one_player_become_known_together) {
    const SmallForest forest;
    const ManyRows rows(3);
    const std::vector<std::int32_t> same = {1, 1};
    const spinney::Players one_of_two{same, 2};
    std::vector<double> values(6);
    spinney::shapley_values(forest.view(), rows.columns(), one_of_two, values, 1);
    CHECK(values[0] == 0.0 && is_near(values[1], -2.5));  // from 3.5 to 1
    std::vector<double> pairs(12);
    spinney::shapley_interactions(forest.view(), rows.columns(), one_of_two, pairs, 1);
    CHECK(pairs[1] == 0.0 && is_near(pairs[3], -2.5));
    const std::vector<double> share = {0.0, 0.0, 1.0};
    std::vector<double> against(6);
    spinney::interventional_values(forest.view(), rows.columns(), {rows.columns(), share},
                                   one_of_two, against, 1);
    CHECK(against[0] == 0.0 && is_near(against[1], -4.0));
    const std::vector<std::int32_t> unknown = {0, 2};
    for (const spinney::Players& wrong : {spinney::Players{unknown, 2}, spinney::Players{{}, 3}}) {
        CHECK_THROWS(spinney::Failure,
                     spinney::shapley_values(forest.view(), rows.columns(), wrong, values, 1));
    }
}

TEST(shares_must_fit_the_background) {
    const SmallForest forest;
    const ManyRows rows(3);
    std::vector<double> values(6);
    const std::vector<double> share = {1.0};
    CHECK_THROWS(spinney::Failure,
                 spinney::interventional_values(forest.view(), rows.columns(),
                                                {rows.columns(), share}, kBoth, values, 1));
}

TEST(rows_with_the_same_answers_make_a_group_on_paths_of_any_length) {
    for (const std::size_t d : {0U, 1U, 5U, 63U, 64U, 65U, 200U}) {
        std::vector<std::vector<std::int64_t>> words(d, std::vector<std::int64_t>(9, 0));
        for (std::size_t k = 0; k < d; ++k) words[k][4] = words[k][7] = -1;
        if (d > 0) words[d - 1][8] = -1;
        std::vector<const std::int64_t*> meets;
        for (const auto& of_feature : words) meets.push_back(of_feature.data());
        spinney::AnswerGroups groups;
        groups.build(meets.data(), d, 1, 8);  // without the first row
        CHECK(groups.size() == (d == 0 ? 1U : d == 1 ? 2U : 3U));
        CHECK(groups.group(3) == groups.group(6));
        CHECK(groups.group(0) == groups.group(1));
        CHECK(d == 0 || groups.group(0) != groups.group(3));
        CHECK(d == 0 || groups.group(0) != groups.group(7));
    }
}

CHECK_MAIN
