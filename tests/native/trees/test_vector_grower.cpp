#include <cmath>
#include <cstdint>
#include <vector>

#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/trees/vector_grower.hpp"
#include "tests/native/check.hpp"

namespace {

using spinney::GradientInput;
using spinney::GrownTree;
using spinney::random_below;
using spinney::random_unit;
using spinney::Stream;
using spinney::TrainingBins;
using spinney::VectorGrower;

constexpr std::size_t kOutputs = 3;
constexpr std::size_t kFeatures = 7;

/// The last feature is of categories; each output depends on another feature.
struct Problem {
    std::size_t n_rows;
    std::vector<std::uint8_t> bins;
    std::vector<std::int32_t> n_value_bins = std::vector<std::int32_t>(kFeatures, 100);
    std::vector<std::uint8_t> categorical = std::vector<std::uint8_t>(kFeatures, 0);
    std::vector<std::vector<float>> gradients{kOutputs};
    std::vector<std::vector<float>> hessians{kOutputs};

    explicit Problem(std::size_t n) : n_rows(n) {
        categorical.back() = 1;
        n_value_bins.back() = 30;
        for (std::size_t i = 0; i < n_rows * kFeatures; ++i) {
            const std::uint64_t most = i % kFeatures == kFeatures - 1 ? 31 : 101;
            bins.push_back(static_cast<std::uint8_t>(random_below(1, Stream::kRows, i, most)));
        }
        for (std::size_t i = 0; i < n_rows; ++i) {
            for (std::size_t k = 0; k < kOutputs; ++k) {
                const double noise = random_unit(2 + k, Stream::kRows, i) - 0.5;
                const std::uint8_t* row = bins.data() + i * kFeatures;
                const double signal = (row[k] < 30 ? 0.4 : -0.3) + 0.1 * (row[kFeatures - 1] % 3);
                gradients[k].push_back(
                    static_cast<float>(std::pow(10.0, double(k)) * (signal + noise)));
                hessians[k].push_back(static_cast<float>(random_unit(9 + k, Stream::kRows, i)));
            }
        }
    }

    TrainingBins training_bins() const { return {bins, n_value_bins, categorical, 1}; }
    GradientInput input(std::size_t k, bool with_hessians) const {
        GradientInput input;
        input.gradients = gradients[k];
        if (with_hessians) input.hessians = hessians[k];
        return input;
    }
    std::vector<GradientInput> inputs(bool with_hessians) const {
        std::vector<GradientInput> all;
        for (std::size_t k = 0; k < kOutputs; ++k) all.push_back(input(k, with_hessians));
        return all;
    }
};

}  // namespace

TEST(trees_of_vectors_do_not_depend_on_threads_or_instruction_sets) {
    for (const std::size_t n_rows : {400UL, 20'000UL}) {
        const Problem problem(n_rows);
        const TrainingBins bins = problem.training_bins();
        const auto best = spinney::best_isa();
        std::vector<GrownTree> trees;
        for (const auto isa : {spinney::Isa::kPortable, best}) {
            spinney::use_isa(isa);
            for (const int n_threads : {1, 4}) {
                VectorGrower grower(bins, n_threads);
                trees.push_back(grower.grow(problem.inputs(true), {}, {}));
            }
        }
        spinney::use_isa(best);
        CHECK(trees[0].feature.size() > 10);
        for (const auto& tree : trees) {
            CHECK(tree.feature == trees[0].feature && tree.bin == trees[0].bin);
            CHECK(tree.values == trees[0].values && tree.gain == trees[0].gain);
            CHECK(tree.category_sets == trees[0].category_sets);
        }
    }
}

TEST(equal_outputs_have_the_tree_of_one_output) {
    for (const std::size_t n_rows : {400UL, 3000UL, 30'000UL}) {
        const Problem problem(n_rows);
        for (const bool with_hessians : {false, true}) {
            spinney::GradientGrower alone(problem.training_bins(), 2);
            const GrownTree one = alone.grow(problem.input(0, with_hessians), {}, {});
            VectorGrower grower(alone.bins(), 2);
            const std::vector<GradientInput> twice(2, problem.input(0, with_hessians));
            const GrownTree two = grower.grow(twice, {}, {});
            CHECK(two.feature == one.feature && two.bin == one.bin && two.right == one.right);
            CHECK(two.category_sets == one.category_sets);
            CHECK(two.missing_left == one.missing_left && two.count == one.count);
            for (std::size_t i = 0; i < one.values.size(); ++i) {
                CHECK(two.values[2 * i] == one.values[i]);
                CHECK(two.values[2 * i + 1] == one.values[i]);
                CHECK(two.gain[i] == 2.0 * one.gain[i]);
            }
        }
    }
}

TEST(leaves_have_the_optima_of_every_output) {
    for (const std::size_t n_rows : {600UL, 30'000UL}) {
        const Problem problem(n_rows);
        for (const bool with_hessians : {false, true}) {
            const TrainingBins bins = problem.training_bins();
            VectorGrower grower(bins, 2);
            const GrownTree tree = grower.grow(problem.inputs(with_hessians), {}, {});
            const auto ranges = grower.node_ranges();
            CHECK(tree.feature.size() > 20);
            for (std::size_t node = 0; node < tree.feature.size(); ++node) {
                for (std::size_t k = 0; k < kOutputs; ++k) {
                    double g = 0.0;
                    double h = 0.0;
                    for (std::int64_t i = ranges.first[node]; i < ranges.last[node]; ++i) {
                        const std::uint32_t row = ranges.rows[static_cast<std::size_t>(i)];
                        g += problem.gradients[k][row];
                        h += with_hessians ? problem.hessians[k][row] : 1.0F;
                    }
                    CHECK(std::abs(tree.values[node * kOutputs + k] + g / h) < 1e-6);
                }
                CHECK(tree.count[node] == ranges.last[node] - ranges.first[node]);
            }
        }
    }
}

TEST(trees_of_vectors_grown_on_some_rows_score_all) {
    const Problem problem(5000);
    const TrainingBins bins = problem.training_bins();
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < 5000; row += 2) rows.push_back(row);
    VectorGrower grower(bins, 2);
    const GrownTree tree = grower.grow(problem.inputs(true), rows, {});
    CHECK(tree.count[0] == 2500);
    std::vector<double> values;
    for (std::size_t node = 0; node < tree.feature.size(); ++node) {
        for (std::size_t k = 0; k < kOutputs; ++k) values.push_back(static_cast<double>(k + 1));
    }
    std::vector<double> scores(kOutputs * 5000, 0.0);
    grower.add_leaf_values(values, scores);
    for (std::size_t k = 0; k < kOutputs; ++k) {
        for (std::size_t row = 0; row < 5000; ++row) {
            CHECK(scores[k * 5000 + row] == static_cast<double>(k + 1));
        }
    }
}

CHECK_MAIN
