#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "native/base/random.hpp"
#include "native/trees/exact_grower.hpp"
#include "tests/native/check.hpp"

using namespace spinney;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Numeric columns and rows to learn from, owned.
struct Problem {
    std::vector<std::vector<double>> columns;
    std::vector<std::vector<std::int32_t>> categories;  ///< columns of codes, behind the others
    std::vector<std::int64_t> targets;
    std::vector<std::int64_t> weights;
    std::size_t n_outputs = 1;
    Criterion criterion = Criterion::kSquared;

    ExactTree grow(const TreeSettings& settings, int n_threads = 1) const {
        Columns view{.n_rows = weights.size(), .features = {}};
        for (const auto& column : columns) {
            view.features.push_back({.type = ValueType::kFloat64,
                                     .data = reinterpret_cast<const std::byte*>(column.data()),
                                     .stride = sizeof(double),
                                     .rows = {}});
        }
        std::vector<std::vector<std::uint8_t>> bins(columns.size());
        for (const auto& codes : categories) {
            view.features.push_back({.type = ValueType::kCode32,
                                     .data = reinterpret_cast<const std::byte*>(codes.data()),
                                     .stride = sizeof(std::int32_t),
                                     .rows = {}});
            bins.emplace_back(20);
            std::iota(bins.back().begin(), bins.back().end(), std::uint8_t{0});
        }
        const SortedColumns sorted(view, bins, n_threads);
        const ExactRows rows{.n_outputs = n_outputs,
                             .targets = targets,
                             .weights = weights,
                             .target_scale = 1.0,
                             .weight_scale = 1.0,
                             .criterion = criterion};
        return grow_exact_tree(sorted, rows, settings, n_threads);
    }
};

TreeSettings limits(std::int32_t max_depth) {
    TreeSettings settings;
    settings.max_depth = max_depth;
    settings.min_samples_leaf = 0.0;
    settings.min_samples_split = 0.0;
    return settings;
}

/// Enough rows that whole blocks of them are passed over; few distinct values in every third
/// column, missing values in every other.
Problem random_problem(std::size_t n_rows, std::size_t n_columns, bool signs) {
    Problem problem;
    problem.columns.assign(n_columns, std::vector<double>(n_rows));
    for (std::size_t f = 0; f < n_columns; ++f) {
        for (std::size_t row = 0; row < n_rows; ++row) {
            double value = random_unit(f, Stream::kRows, row);
            if (f % 3 == 2) value = std::floor(value * 7);
            if (f % 2 == 1 && random_below(9 + f, Stream::kRows, row, 5) == 0) value = kNaN;
            problem.columns[f][row] = value;
        }
    }
    for (std::size_t row = 0; row < n_rows; ++row) {
        const auto weight =
            static_cast<std::int64_t>(1 + random_below(77, Stream::kRows, row, 1000));
        const double drawn = random_unit(78, Stream::kRows, row) + 0.3 * problem.columns[0][row];
        problem.weights.push_back(weight);
        problem.targets.push_back(signs ? (drawn > 0.6 ? weight : -weight)
                                        : std::llround(drawn * 1e6) * weight);
    }
    return problem;
}

double part(Criterion criterion, double sum, double weight) {
    if (weight == 0) return 0.0;
    if (criterion == Criterion::kSquared) return sum * sum / weight;
    if (criterion == Criterion::kError) return std::abs(sum) / 2;
    return -std::sqrt((weight - sum) * (weight + sum));
}

/// The largest gain of one split of all rows, by trying every one of them.
double best_gain(const Problem& problem) {
    double best = 0.0;
    for (const auto& column : problem.columns) {
        std::vector<double> values;
        for (const double value : column) {
            if (!std::isnan(value)) values.push_back(value);
        }
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        for (const double cut : values) {
            for (const bool missing_left : {false, true}) {
                double sums[2] = {0, 0};
                double weights[2] = {0, 0};
                for (std::size_t row = 0; row < column.size(); ++row) {
                    const bool left = std::isnan(column[row]) ? missing_left : column[row] <= cut;
                    sums[left ? 0 : 1] += static_cast<double>(problem.targets[row]);
                    weights[left ? 0 : 1] += static_cast<double>(problem.weights[row]);
                }
                if (weights[0] == 0 || weights[1] == 0) continue;
                const double gain =
                    part(problem.criterion, sums[0], weights[0]) +
                    part(problem.criterion, sums[1], weights[1]) -
                    part(problem.criterion, sums[0] + sums[1], weights[0] + weights[1]);
                best = std::max(best, gain);
            }
        }
    }
    return best;
}

void scale(Problem& problem, std::int64_t factor) {
    for (std::int64_t& weight : problem.weights) weight *= factor;
    for (std::int64_t& target : problem.targets) target *= factor;
}

bool same(const ExactTree& a, const ExactTree& b) {
    return a.nodes.feature == b.nodes.feature && a.nodes.right == b.nodes.right &&
           a.threshold == b.threshold && a.nodes.values == b.nodes.values &&
           a.nodes.gain == b.nodes.gain && a.nodes.missing_left == b.nodes.missing_left &&
           a.leaf_of_row == b.leaf_of_row;
}

}  // namespace

TEST(a_stump_gains_as_much_as_the_best_of_all_cuts) {
    // Signs as short words, as long ones, with sums beyond floats; numbers.
    for (const int kind : {0, 1, 2, 3}) {
        for (const Criterion criterion :
             {Criterion::kSquared, Criterion::kError, Criterion::kExponential}) {
            if (kind == 3 && criterion != Criterion::kSquared) continue;  // of signs only
            Problem problem = random_problem(900, 4, kind < 3);
            problem.criterion = criterion;
            if (kind == 1) scale(problem, std::int64_t{1} << 25);
            if (kind == 2) scale(problem, std::int64_t{1} << 40);
            const ExactTree tree = problem.grow(limits(1));
            CHECK(tree.nodes.feature[0] >= 0);
            const double expected = best_gain(problem);
            CHECK(std::abs(tree.nodes.gain[0] - expected) <= 1e-9 * std::abs(expected));
        }
    }
}

TEST(the_tree_is_the_same_for_every_number_of_threads) {
    const Problem problem = random_problem(5000, 7, true);
    for (const std::int32_t depth : {1, 4, 9}) {
        const ExactTree alone = problem.grow(limits(depth));
        for (const int n_threads : {2, 3, 7}) {
            CHECK(same(alone, problem.grow(limits(depth), n_threads)));
        }
    }
}

TEST(every_row_is_in_the_leaf_that_the_splits_lead_to) {
    const Problem problem = random_problem(3000, 5, false);
    const ExactTree tree = problem.grow(limits(6));
    bool all = true;
    for (std::size_t row = 0; row < 3000; ++row) {
        std::size_t node = 0;
        while (tree.nodes.right[node] >= 0) {
            const auto f = static_cast<std::size_t>(tree.nodes.feature[node]);
            const double value = problem.columns[f][row];
            const bool left = std::isnan(value) ? tree.nodes.missing_left[node] != 0
                                                : value <= tree.threshold[node];
            node = left ? node + 1 : static_cast<std::size_t>(tree.nodes.right[node]);
        }
        all = all && tree.leaf_of_row[row] == static_cast<std::int32_t>(node);
    }
    CHECK(all);
}

TEST(a_weight_is_a_repetition) {
    Problem once = random_problem(700, 3, true);
    Problem repeated = once;
    for (auto& column : repeated.columns) column.clear();
    repeated.targets.clear();
    repeated.weights.clear();
    for (std::size_t row = 0; row < 700; ++row) {
        const std::int64_t times = 1 + static_cast<std::int64_t>(row % 3);
        for (std::int64_t k = 0; k < times; ++k) {
            for (std::size_t f = 0; f < 3; ++f) {
                repeated.columns[f].push_back(once.columns[f][row]);
            }
            repeated.targets.push_back(once.targets[row]);
            repeated.weights.push_back(once.weights[row]);
        }
        once.targets[row] *= times;
        once.weights[row] *= times;
    }
    const ExactTree a = once.grow(limits(5));
    const ExactTree b = repeated.grow(limits(5));
    CHECK(a.nodes.feature == b.nodes.feature);
    CHECK(a.threshold == b.threshold);
    CHECK(a.nodes.values == b.nodes.values);
}

TEST(ties_go_to_the_lowest_feature_then_the_lowest_threshold) {
    Problem problem;
    problem.columns = {{1, 2, 3, 4}, {1, 2, 3, 4}};
    problem.targets = {1, -1, -1, 1};  // cutting off either end is as good
    problem.weights = {1, 1, 1, 1};
    problem.criterion = Criterion::kError;
    const ExactTree tree = problem.grow(limits(1));
    CHECK(tree.nodes.feature[0] == 0);
    CHECK(tree.threshold[0] == 1.5);
}

TEST(missing_values_alone_can_be_the_split) {
    Problem problem;
    problem.columns = {{kNaN, 5, kNaN, 5, 5, kNaN}};
    problem.targets = {1, -1, 1, -1, -1, 1};
    problem.weights = {1, 1, 1, 1, 1, 1};
    const ExactTree tree = problem.grow(limits(1));
    CHECK(tree.nodes.feature[0] == 0);
    CHECK(std::isinf(tree.threshold[0]));
    CHECK(tree.nodes.missing_left[0] == 0);
    CHECK(tree.nodes.values[1] == -1.0 && tree.nodes.values[2] == 1.0);
}

TEST(a_constant_column_and_a_single_row_make_a_leaf) {
    Problem problem;
    problem.columns = {{2, 2, 2}};
    problem.targets = {1, -1, 1};
    problem.weights = {1, 1, 1};
    CHECK(problem.grow(limits(3)).nodes.feature == std::vector<std::int32_t>{-1});
    problem.columns = {{2}};
    problem.targets = {1};
    problem.weights = {1};
    CHECK(problem.grow(limits(3)).nodes.feature == std::vector<std::int32_t>{-1});
}

TEST(long_weights_find_the_cuts_of_short_ones) {
    for (const Criterion criterion :
         {Criterion::kSquared, Criterion::kError, Criterion::kExponential}) {
        Problem problem = random_problem(4000, 5, true);
        problem.criterion = criterion;
        const ExactTree shorter = problem.grow(limits(4));
        scale(problem, 1 << 23);
        const ExactTree longer = problem.grow(limits(4), 3);
        CHECK(shorter.nodes.feature == longer.nodes.feature);
        CHECK(shorter.threshold == longer.threshold);
        CHECK(shorter.leaf_of_row == longer.leaf_of_row);
    }
}

TEST(categories_are_split_alike_by_every_number_of_threads) {
    Problem problem = random_problem(20000, 1, true);
    for (std::uint64_t f = 0; f < 6; ++f) {
        std::vector<std::int32_t> codes(20000);
        for (std::size_t row = 0; row < codes.size(); ++row) {
            codes[row] =
                static_cast<std::int32_t>(random_below(40 + f, Stream::kRows, row, 21)) - 1;
        }
        problem.categories.push_back(std::move(codes));
    }
    const ExactTree alone = problem.grow(limits(3));
    for (const int n_threads : {2, 4}) CHECK(same(alone, problem.grow(limits(3), n_threads)));
}

TEST(rows_without_weight_do_not_matter) {
    Problem problem;
    problem.columns = {{1, 2, 3, 4, 9}};
    problem.categories = {{0, 0, 1, 1, 2}};
    problem.targets = {1, 1, -1, -1, 0};
    problem.weights = {1, 1, 1, 1, 0};  // category 2 has a row, and no mean
    problem.criterion = Criterion::kError;
    const ExactTree tree = problem.grow(limits(1));
    CHECK(tree.nodes.feature[0] == 0 && tree.threshold[0] == 2.5);
    problem.columns.clear();
    const ExactTree by_category = problem.grow(limits(1));
    CHECK(by_category.nodes.category_set[0] == 0);
    CHECK(by_category.nodes.gain[0] == tree.nodes.gain[0]);
}

TEST(two_splits_tell_apart_what_one_cannot) {
    Problem problem;
    problem.columns = {{0, 0, 1, 1}, {0, 1, 0, 1}};
    problem.targets = {-1, 1, 1, -1};
    problem.weights = {1, 1, 1, 1};
    CHECK(problem.grow(limits(1)).nodes.feature.size() == 1);  // a stump gains nothing, and is none
    for (const Criterion criterion :
         {Criterion::kSquared, Criterion::kError, Criterion::kExponential}) {
        problem.criterion = criterion;
        const ExactTree tree = problem.grow(limits(2));
        CHECK(tree.nodes.feature.size() == 7);
        for (std::size_t row = 0; row < 4; ++row) {
            const auto leaf = static_cast<std::size_t>(tree.leaf_of_row[row]);
            CHECK(tree.nodes.values[leaf] == static_cast<double>(problem.targets[row]));
        }
    }
    problem.targets = {1, 1, 1, 1};
    CHECK(problem.grow(limits(2)).nodes.feature.size() == 1);  // nothing to tell apart
}

TEST(several_classes_are_split_by_their_shares) {
    Problem problem;
    problem.columns = {{1, 2, 3, 4, 5, 6}};
    problem.n_outputs = 3;
    problem.weights = {1, 1, 1, 1, 1, 1};
    problem.targets = {1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1};
    const ExactTree tree = problem.grow(limits(0));
    CHECK(tree.leaf_of_row[0] == tree.leaf_of_row[1]);
    CHECK(tree.leaf_of_row[2] == tree.leaf_of_row[3]);
    CHECK(tree.leaf_of_row[1] != tree.leaf_of_row[2]);
    CHECK(tree.leaf_of_row[3] != tree.leaf_of_row[4]);
}

TEST(what_is_said_of_rows_is_what_their_leaves_say) {
    const std::vector<std::int8_t> said = {0, -1, 1};
    const std::vector<std::int32_t> leaves = {1, 2, 2, 1};
    for (const int n_threads : {1, 3}) {
        CHECK(say_of_rows(said, leaves, n_threads) == std::vector<std::int8_t>({-1, 1, 1, -1}));
    }
}

CHECK_MAIN
