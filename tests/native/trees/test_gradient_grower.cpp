#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/trees/gradient_grower.hpp"
#include "tests/native/check.hpp"

namespace {

using spinney::GradientHistogram;
using spinney::GradientInput;
using spinney::GradientSums;
using spinney::HistogramBuilder;
using spinney::PackedGradients;
using spinney::random_below;
using spinney::random_unit;
using spinney::Stream;
using spinney::TrainingBins;

struct Problem {
    std::size_t n_rows;
    std::size_t n_features;
    std::vector<std::uint8_t> bins;
    std::vector<std::int32_t> n_value_bins;
    std::vector<std::uint8_t> categorical;
    std::vector<float> gradients;
    std::vector<float> hessians;
    std::vector<std::int64_t> weights{};

    TrainingBins training_bins() const { return {bins, n_value_bins, categorical, 1}; }
    GradientInput input(bool with_hessians) const {
        return {gradients,
                with_hessians ? std::span<const float>(hessians) : std::span<const float>{},
                weights, true, 1.0};
    }
};

Problem make_problem(std::size_t n_rows, std::size_t n_features) {
    Problem problem{n_rows, n_features, {}, {}, {}, {}, {}};
    problem.n_value_bins.assign(n_features, 200);
    problem.categorical.assign(n_features, 0);
    for (std::size_t i = 0; i < n_rows * n_features; ++i) {
        problem.bins.push_back(static_cast<std::uint8_t>(random_below(1, Stream::kRows, i, 201)));
    }
    for (std::size_t i = 0; i < n_rows; ++i) {
        const double noise = random_unit(2, Stream::kRows, i) - 0.5;
        const double signal = problem.bins[i * n_features] < 70 ? 0.4 : -0.3;
        problem.gradients.push_back(static_cast<float>(signal + noise));
        problem.hessians.push_back(static_cast<float>(random_unit(3, Stream::kRows, i)));
    }
    return problem;
}

bool same(const GradientSums& a, const GradientSums& b) {
    return a.gradient == b.gradient && a.hessian == b.hessian && a.weight == b.weight;
}

/// The definition: one row at a time.
GradientSums slow_cell(const Problem& problem, const PackedGradients& gradients,
                       const std::vector<std::uint32_t>& rows, std::size_t feature,
                       std::size_t bin) {
    GradientSums sums;
    for (const std::uint32_t row : rows) {
        if (problem.bins[row * problem.n_features + feature] == bin) sums += gradients.of_row(row);
    }
    return sums;
}

}  // namespace

TEST(words_hold_the_largest_rows_without_overflow) {
    for (const spinney::Packing& packing : {spinney::kWithHessian, spinney::kWithoutHessian}) {
        const std::int64_t most_g = (std::int64_t{1} << (packing.gradient_bits - 1)) - 1;
        const std::int64_t most_h =
            packing.hessian_bits == 0 ? 1 : (std::int64_t{1} << packing.hessian_bits) - 1;
        for (const std::int64_t g : {most_g, -most_g}) {
            std::uint64_t word = (static_cast<std::uint64_t>(g) << packing.gradient_shift) + 1;
            if (packing.hessian_bits > 0) {
                word += static_cast<std::uint64_t>(most_h) << packing.hessian_shift;
            }
            const std::uint64_t cell = word * packing.max_rows;  // that many additions
            const auto n = static_cast<std::int64_t>(packing.max_rows);
            CHECK(same(packing.unpack(cell), {g * n, most_h * n, n}));
        }
    }
}

TEST(histograms_are_the_sums_of_their_rows_in_every_form) {
    // Fine, packed, and wide between flushes; blocks of one, of unequal and of full width; rows
    // shared by threads and not; weighted rows.
    for (const std::size_t n_rows : {300UL, 3000UL, 9000UL, 40000UL}) {
        for (const std::size_t n_features : {1UL, 17UL}) {
            for (const std::int64_t weight : {0, 3}) {
                Problem problem = make_problem(n_rows, n_features);
                if (weight > 0) problem.weights.assign(n_rows, weight);
                const TrainingBins data = problem.training_bins();
                for (const bool with_hessians : {false, true}) {
                    PackedGradients gradients;
                    gradients.fill(problem.input(with_hessians), {}, 1);
                    std::vector<std::uint32_t> all(n_rows);
                    std::iota(all.begin(), all.end(), 0U);
                    HistogramBuilder builder(data, 3);
                    GradientHistogram whole(data);
                    builder.build(gradients, {nullptr, 0, n_rows}, whole);
                    GradientHistogram listed(data);
                    builder.build(gradients, {all.data(), 0, n_rows}, listed);
                    for (const std::size_t bin : {0UL, 69UL, 200UL}) {
                        const std::size_t f = n_features - 1;
                        const GradientSums expected = slow_cell(problem, gradients, all, f, bin);
                        CHECK(same(whole.cell(gradients.packing(), f, bin), expected));
                        CHECK(same(listed.cell(gradients.packing(), f, bin), expected));
                    }
                }
            }
        }
    }
}

TEST(weights_that_fill_half_a_number_are_flushed_in_time_or_added_by_threes) {
    // All rows in one cell, with the largest hessian: 40 000 of them leave 32 bits where nobody
    // flushes. At 100 a pair holds 5243 rows, and at 5000 fewer than threads take at a time.
    for (const std::int64_t weight : {1, 100, 5000}) {
        Problem problem = make_problem(40000, 3);
        problem.weights.assign(problem.n_rows, weight);
        for (std::size_t row = 0; row < problem.n_rows; ++row) problem.bins[row * 3 + 2] = 7;
        std::fill(problem.hessians.begin(), problem.hessians.end(), 0.9999F);
        const TrainingBins data = problem.training_bins();
        PackedGradients gradients;
        gradients.fill(problem.input(true), {}, 1);
        CHECK(!gradients.is_packed());
        CHECK(gradients.most_rows_in_pair() ==
              0xffffffffUL / (8191UL * static_cast<std::size_t>(weight)));
        std::vector<std::uint32_t> all(problem.n_rows);
        std::iota(all.begin(), all.end(), 0U);
        const GradientSums expected = slow_cell(problem, gradients, all, 2, 7);
        for (const int n_threads : {1, 3}) {
            HistogramBuilder builder(data, n_threads);
            GradientHistogram found(data);
            builder.build(gradients, {all.data(), 0, problem.n_rows}, found);
            CHECK(same(found.cell(gradients.packing(), 2, 7), expected));
        }
    }
}

TEST(features_that_share_a_byte_have_the_sums_of_their_rows) {
    // Flags, features of five bins, one of 100 and one of all; some bins never occur.
    for (const auto& [n_rows, weight] : {std::pair{700UL, 0}, {20000UL, 0}, {20000UL, 3}}) {
        Problem problem = make_problem(n_rows, 12);
        if (weight > 0) problem.weights.assign(n_rows, weight);
        for (std::size_t f = 0; f < 12; ++f) {
            if (f == 4) continue;
            const int n_values = f == 7 ? 100 : f % 3 == 0 ? 5 : 2;
            problem.n_value_bins[f] = n_values;
            for (std::size_t row = 0; row < n_rows; ++row) {
                std::uint8_t& bin = problem.bins[row * 12 + f];
                bin = static_cast<std::uint8_t>(bin % (n_values == 5 ? 6 : n_values));
            }
        }
        const TrainingBins data = problem.training_bins();
        CHECK(data.joint().columns.size() == 4);
        std::vector<std::uint32_t> all(n_rows);
        std::iota(all.begin(), all.end(), 0U);
        PackedGradients gradients;
        gradients.fill(problem.input(true), {}, 1);
        HistogramBuilder builder(data, 2);
        GradientHistogram histogram(data);
        for (int again = 0; again < 2; ++again) {  // tables are clean after use
            builder.build(gradients, {nullptr, 0, n_rows}, histogram);
            for (std::size_t f = 0; f < 12; ++f) {
                for (std::size_t bin = 0; bin <= data.n_value_bins(f); ++bin) {
                    CHECK(same(histogram.cell(gradients.packing(), f, bin),
                               slow_cell(problem, gradients, all, f, bin)));
                }
            }
        }
    }
}

TEST(parent_is_left_plus_right) {
    for (const std::size_t n_rows : {400UL, 3000UL, 5000UL, 14000UL}) {
        Problem problem = make_problem(n_rows, 5);
        // Two bins that hold too many rows for a word, unless the node is small.
        for (std::size_t row = 0; row < n_rows; ++row) problem.bins[row * 5 + 3] %= 2;
        const TrainingBins data = problem.training_bins();
        PackedGradients gradients;
        gradients.fill(problem.input(true), {}, 1);
        std::vector<std::uint32_t> left;
        std::vector<std::uint32_t> right;
        for (std::uint32_t row = 0; row < n_rows; ++row)
            (row % 3 == 0 ? left : right).push_back(row);
        HistogramBuilder builder(data, 1);
        GradientHistogram parent(data);
        builder.build(gradients, {nullptr, 0, n_rows}, parent);
        GradientHistogram child(data);
        builder.build(gradients, {left.data(), 0, left.size()}, child);
        GradientHistogram other(data);
        other.reset(gradients, right.size());
        for (std::size_t feature = 0; feature < 5; ++feature) {
            HistogramBuilder::subtract(gradients.packing(), parent, child, other, feature, 201);
            for (std::size_t bin = 0; bin <= 200; ++bin) {
                CHECK(same(other.cell(gradients.packing(), feature, bin),
                           slow_cell(problem, gradients, right, feature, bin)));
            }
        }
    }
}

TEST(rows_taken_out_leave_the_sums_of_the_others) {
    const Problem problem = make_problem(3000, 5);
    const TrainingBins data = problem.training_bins();
    CHECK(data.has_equal_cells());
    PackedGradients gradients;
    gradients.fill(problem.input(true), {}, 1);
    const std::vector<std::uint32_t> taken_out = {3, 4, 1700, 2999};
    std::vector<std::uint32_t> others;
    for (std::uint32_t row = 0; row < 3000; ++row) {
        if (std::find(taken_out.begin(), taken_out.end(), row) == taken_out.end()) {
            others.push_back(row);
        }
    }
    HistogramBuilder builder(data, 1);
    GradientHistogram histogram(data);
    builder.build(gradients, {nullptr, 0, 3000}, histogram);
    for (std::size_t feature = 0; feature < 5; ++feature) {
        builder.take_out(gradients, taken_out, histogram, feature);
        for (std::size_t bin = 0; bin <= 200; ++bin) {
            CHECK(same(histogram.cell(gradients.packing(), feature, bin),
                       slow_cell(problem, gradients, others, feature, bin)));
        }
    }
}

TEST(rows_that_are_not_grown_on_do_not_change_the_grid) {
    Problem problem = make_problem(2000, 1);
    std::vector<std::uint32_t> rows(1500);
    std::iota(rows.begin(), rows.end(), 0U);
    PackedGradients before;
    before.fill(problem.input(true), rows, 1);
    problem.gradients[1900] = 1e6F;
    PackedGradients after;
    after.fill(problem.input(true), rows, 1);
    CHECK(before.is_packed() && after.is_packed());
    CHECK(before.gradient_scale() == after.gradient_scale());
    CHECK(same(before.of_row(7), after.of_row(7)));
}

TEST(one_huge_gradient_does_not_blind_the_others) {
    Problem problem = make_problem(5000, 1);
    problem.gradients[7] = 1e5F;
    PackedGradients gradients;
    gradients.fill(problem.input(true), {}, 1);
    CHECK(!gradients.is_packed());
    const double step = gradients.gradient_scale();
    for (const std::size_t row : {0UL, 7UL, 4999UL}) {
        const double back = static_cast<double>(gradients.of_row(row).gradient) * step;
        CHECK(std::abs(back - problem.gradients[row]) <= step);
        CHECK(step < 1e-3);
    }
}

TEST(trees_do_not_depend_on_threads_or_instruction_sets) {
    const Problem problem = make_problem(20'000, 20);
    const auto best = spinney::best_isa();
    std::vector<spinney::GrownTree> trees;
    for (const auto isa : {spinney::Isa::kPortable, best}) {
        spinney::use_isa(isa);
        for (const int n_threads : {1, 4}) {
            spinney::GradientGrower grower(problem.training_bins(), n_threads);
            trees.push_back(grower.grow(problem.input(true), {}, {}));
        }
    }
    spinney::use_isa(best);
    CHECK(trees[0].feature.size() == 61);
    for (const auto& tree : trees) {
        CHECK(tree.feature == trees[0].feature && tree.bin == trees[0].bin);
        CHECK(tree.values == trees[0].values && tree.gain == trees[0].gain);
    }
}

TEST(leaves_have_the_sums_of_their_bins) {
    // Weights of nodes come from bins of histograms, their rows from partitions, their values from
    // gradients: all three must agree. Packed and wide, with and without hessians.
    for (const std::size_t n_rows : {600UL, 3000UL, 30000UL}) {
        const Problem problem = make_problem(n_rows, 6);
        for (const bool with_hessians : {false, true}) {
            spinney::GradientGrower grower(problem.training_bins(), 1);
            const spinney::GrownTree tree = grower.grow(problem.input(with_hessians), {}, {});
            const auto ranges = grower.node_ranges();
            CHECK(tree.feature.size() > 20);
            for (std::size_t node = 0; node < tree.feature.size(); ++node) {
                double g = 0.0;
                double h = 0.0;
                for (std::int64_t i = ranges.first[node]; i < ranges.last[node]; ++i) {
                    const std::uint32_t row = ranges.rows[static_cast<std::size_t>(i)];
                    g += problem.gradients[row];
                    h += with_hessians ? problem.hessians[row] : 1.0F;
                }
                const auto n = static_cast<double>(ranges.last[node] - ranges.first[node]);
                CHECK(tree.weight[node] == n);
                CHECK(tree.count[node] == ranges.last[node] - ranges.first[node]);
                CHECK(std::abs(tree.values[node] + g / h) < 1e-9);
            }
        }
    }
}

TEST(trees_grown_on_some_rows_count_those_and_score_all) {
    const Problem problem = make_problem(5000, 3);
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < 5000; row += 2) rows.push_back(row);
    spinney::GradientGrower grower(problem.training_bins(), 2);
    const auto tree = grower.grow(problem.input(true), rows, {});
    CHECK(tree.count[0] == 2500);
    std::vector<double> scores(5000, 0.0);
    grower.add_leaf_values(std::vector<double>(tree.feature.size(), 1.0), scores);
    for (std::size_t row = 0; row < 5000; ++row) CHECK(scores[row] == 1.0);
}

CHECK_MAIN
