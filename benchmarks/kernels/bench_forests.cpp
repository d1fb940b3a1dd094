/// Forests of numbers: whole trees to full depth, every feature looked at in every node.
///
/// With arguments ROWS FEATURES TREES THREADS: grow that many trees and nothing else, for profiles.
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "benchmarks/kernels/stopwatch.hpp"
#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/trees/forest_grower.hpp"

namespace {

using spinney::random_unit, spinney::Stream;

/// Three columns of five are continuous, the others have 91 and 5 different values.
struct Table {
    std::size_t n_rows;
    std::size_t n_features;
    std::vector<float> values;  ///< row after row
    std::vector<std::int64_t> numbers;

    Table(std::size_t rows, std::size_t features)
        : n_rows(rows), n_features(features), values(rows * features), numbers(rows) {
        for (std::size_t row = 0; row < rows; ++row) {
            float* own = values.data() + row * features;
            double score = 0.0;
            for (std::size_t j = 0; j < features; ++j) {
                double x = random_unit(j, Stream::kRows, row);
                if (j % 5 == 2) x = std::floor(91.0 * x);
                if (j % 5 == 3) x = std::floor(5.0 * x);
                own[j] = static_cast<float>(x);
                if (j < 8) score += x * (j % 2 == 0 ? 1.0 : -1.0) / (j % 5 == 2 ? 91.0 : 1.0);
            }
            const double noise = random_unit(features, Stream::kRows, row) - 0.5;
            numbers[row] = std::llround((score + 2.0 * noise) * 0x1p40);
        }
    }

    spinney::RankedColumns ranked(int threads) const {
        spinney::Columns columns = {n_rows, {}};
        for (std::size_t j = 0; j < n_features; ++j) {
            columns.features.push_back({spinney::ValueType::kFloat32,
                                        reinterpret_cast<const std::byte*>(values.data() + j),
                                        static_cast<std::ptrdiff_t>(n_features * sizeof(float)),
                                        {},
                                        false});
        }
        return {columns, std::vector<std::vector<std::uint8_t>>(n_features), {}, 255, threads};
    }
};

void bench_forest(const Table& table, int threads, std::size_t n_trees, int repeats) {
    const spinney::RankedColumns columns = table.ranked(threads);
    const std::vector<double> centre = {0.0};
    const std::vector<double> units = {1.0};
    spinney::ForestRows rows;
    rows.n_rows = table.n_rows;
    rows.numbers = table.numbers;
    rows.centre = centre;
    rows.units = units;
    rows.number_scale = 0x1p-40;
    rows.criterion = spinney::NodeCriterion::kSquared;
    rows.whole = true;
    spinney::ForestSettings settings;
    settings.tree.min_samples_leaf = 1.0;
    settings.tree.min_samples_split = 2.0;
    settings.shuffle = true;
    spinney::Repetitions repetitions;
    repetitions.n_draws = table.n_rows;
    std::size_t n_nodes = 0;
    const double seconds = bench::fastest_seconds(repeats, [&] {
        const spinney::GrownForest forest =
            spinney::grow_forest(columns, rows, repetitions, {}, settings, 0, n_trees, threads);
        n_nodes = forest.threshold.size();
    });
    const std::string name = "forest of numbers, " + std::to_string(table.n_rows) + " x " +
                             std::to_string(table.n_features);
    bench::report(name.c_str(), spinney::isa_name(spinney::active_isa()), threads, seconds,
                  static_cast<double>(n_nodes), "node");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 5) {
        const Table table(static_cast<std::size_t>(std::atoll(argv[1])),
                          static_cast<std::size_t>(std::atoll(argv[2])));
        bench_forest(table, std::atoi(argv[4]), static_cast<std::size_t>(std::atoll(argv[3])), 3);
        return 0;
    }
    for (int isa = 0; isa <= static_cast<int>(spinney::best_isa()); ++isa) {
        spinney::use_isa(static_cast<spinney::Isa>(isa));
        bench_forest(Table(5'000, 20), 1, 20, 3);
        bench_forest(Table(27'000, 20), 1, 10, 3);
    }
}
