/// The kernels of boosting: quantising, histograms, partition, split search, and whole trees.
///
/// With arguments ROWS FEATURES TREES THREADS: grow that many trees and nothing else, for profiles.
#include <cstdlib>
#include <string>
#include <vector>

#include "benchmarks/kernels/stopwatch.hpp"
#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/trees/gradient_grower.hpp"

namespace {

constexpr int kRepeats = 9;

struct Table {
    std::size_t n_rows;
    std::size_t n_features;
    std::vector<std::uint8_t> bins;
    std::vector<std::int32_t> n_value_bins;
    std::vector<std::uint8_t> categorical;
    std::vector<float> gradients;
    std::vector<float> hessians;

    Table(std::size_t rows, std::size_t features)
        : n_rows(rows),
          n_features(features),
          bins(rows * features),
          n_value_bins(features, 255),
          categorical(features, 0) {
        using spinney::random_below, spinney::random_unit, spinney::Stream;
        for (std::size_t i = 0; i < bins.size(); ++i) {
            bins[i] = static_cast<std::uint8_t>(random_below(1, Stream::kRows, i, 255));
        }
        for (std::size_t row = 0; row < rows; ++row) {
            const std::uint8_t* of_row = bins.data() + row * features;
            double score = random_unit(2, Stream::kRows, row) - 0.5;
            for (std::size_t j = 0; j < 5 && j < features; ++j) {
                score += 0.003 * ((of_row[j] * (j + 3)) % 255) - 0.38;
            }
            gradients.push_back(static_cast<float>(score));
            hessians.push_back(static_cast<float>(0.05 + 0.2 * random_unit(3, Stream::kRows, row)));
        }
    }

    spinney::TrainingBins training_bins(int threads) const {
        return {bins, n_value_bins, categorical, threads};
    }
    spinney::GradientInput input() const { return {gradients, hessians, {}, true, 1.0}; }
};

void bench_histograms(const Table& table, int threads) {
    const spinney::TrainingBins bins = table.training_bins(threads);
    spinney::PackedGradients gradients;
    const char* isa = spinney::isa_name(spinney::active_isa());
    const auto n = static_cast<double>(table.n_rows);
    const double quantise =
        bench::fastest_seconds(kRepeats, [&] { gradients.fill(table.input(), {}, threads); });
    bench::report("quantise gradients", isa, threads, quantise, n, "row");
    spinney::HistogramBuilder builder(bins, threads);
    spinney::GradientHistogram histogram(bins);
    for (const std::size_t step : {1UL, 2UL, 4UL, 16UL, 64UL}) {
        std::vector<std::uint32_t> rows;
        for (std::size_t row = 0; row < table.n_rows; ++row) {
            if (spinney::random_below(5, spinney::Stream::kRows, row, step) == 0) {
                rows.push_back(static_cast<std::uint32_t>(row));
            }
        }
        const spinney::RowRange range = {step == 1 ? nullptr : rows.data(), 0, rows.size()};
        const double seconds =
            bench::fastest_seconds(kRepeats, [&] { builder.build(gradients, range, histogram); });
        const std::string name = "histogram, 1 row in " + std::to_string(step);
        bench::report(name.c_str(), isa, threads, seconds,
                      static_cast<double>(rows.size() * table.n_features), "row_and_feature");
    }
    spinney::RowPartition partition(table.n_rows);
    spinney::RowPartition::GoesLeft goes_left{};
    for (std::size_t bin = 0; bin < 120; ++bin) goes_left[bin] = 1;
    const double first = bench::fastest_seconds(kRepeats, [&] {
        partition.reset({});
        partition.split({0, table.n_rows, 0}, bins.codes(0), goes_left, threads);
    });
    bench::report("partition of the root", isa, threads, first, n, "row");
    const double again = bench::fastest_seconds(kRepeats, [&] {
        partition.split({0, table.n_rows, 1}, bins.codes(1), goes_left, threads);
    });
    bench::report("partition of listed rows", isa, threads, again, n, "row");
}

/// Histograms of few and of many rows: packed and wide.
void bench_search(const Table& table, std::size_t n_rows) {
    const spinney::TrainingBins bins = table.training_bins(1);
    spinney::PackedGradients gradients;
    gradients.fill(table.input(), {}, 1);
    spinney::HistogramBuilder builder(bins, 1);
    spinney::GradientHistogram histogram(bins);
    builder.build(gradients, {nullptr, 0, n_rows}, histogram);
    spinney::GradientSums total;
    for (std::size_t bin = 0; bin < spinney::kMostCells; ++bin) {
        total += histogram.cell(gradients.packing(), 0, bin);
    }
    const spinney::GradientTreeSettings settings;
    const spinney::GradientObjective objective = {
        {gradients.gradient_scale(), gradients.hessian_scale(), 1.0}, 0.0, 0.0};
    const spinney::SplitLimits limits(total, objective, settings);
    const spinney::SplitTask task = {
        bins, histogram, gradients.packing(), objective, settings, total, {}, 0.0, limits, 0};
    const double seconds = bench::fastest_seconds(kRepeats, [&] {
        spinney::GradientSplit best;
        for (int i = 0; i < 100; ++i) {
            for (std::size_t f = 0; f < table.n_features; ++f) {
                spinney::search_feature(task, f, best);
            }
        }
    });
    const std::string name = "split search, " + std::to_string(n_rows) + " rows";
    bench::report(name.c_str(), spinney::isa_name(spinney::active_isa()), 1, seconds,
                  100.0 * 255.0 * static_cast<double>(table.n_features), "bin");
}

void bench_trees(const Table& table, int threads, int n_trees) {
    spinney::GradientGrower grower(table.training_bins(threads), threads);
    std::vector<double> scores(table.n_rows);
    const double seconds = bench::fastest_seconds(1, [&] {
        for (int i = 0; i < n_trees; ++i) {
            const spinney::GrownTree tree = grower.grow(table.input(), {}, {});
            grower.add_leaf_values(tree.values, scores);
        }
    });
    const std::string name = "tree of 31 leaves, " + std::to_string(table.n_rows) + " x " +
                             std::to_string(table.n_features);
    bench::report(name.c_str(), spinney::isa_name(spinney::active_isa()), threads, seconds, n_trees,
                  "tree");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 5) {
        const Table table(static_cast<std::size_t>(std::atoll(argv[1])),
                          static_cast<std::size_t>(std::atoll(argv[2])));
        bench_trees(table, std::atoi(argv[4]), std::atoi(argv[3]));
        return 0;
    }
    const Table table(1'000'000, 28);
    for (int isa = 0; isa <= static_cast<int>(spinney::best_isa()); ++isa) {
        spinney::use_isa(static_cast<spinney::Isa>(isa));
        for (const int threads : {1, 2}) bench_histograms(table, threads);
        bench_search(table, 200);
        bench_search(table, 4000);
        bench_search(table, 100'000);
        for (const int threads : {1, 2}) {
            bench_trees(Table(1'000, 10), threads, 300);
            bench_trees(Table(5'000, 20), threads, 200);
            bench_trees(Table(133'000, 28), threads, 20);
        }
    }
}
