// Symmetric trees, drawn cuts and smoothed values: the same for every number of threads, and, under
// sanitizers, without races and stray reads.
#include <cstdint>
#include <set>
#include <vector>

#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/trees/gradient_grower.hpp"
#include "tests/native/check.hpp"

namespace {

using spinney::GradientTreeSettings;
using spinney::GrownTree;
using spinney::random_below;
using spinney::random_unit;
using spinney::Stream;

constexpr std::size_t kFeatures = 6;

/// Numbers, some missing, and in the last two columns categories, of 3 and of 254 levels.
struct Problem {
    std::vector<std::uint8_t> bins;
    std::vector<std::int32_t> n_value_bins = {200, 200, 40, 255, 3, 254};
    std::vector<std::uint8_t> categorical = {0, 0, 0, 0, 1, 1};
    std::vector<float> gradients;
    std::vector<float> hessians;

    explicit Problem(std::size_t n_rows) {
        for (std::size_t row = 0; row < n_rows; ++row) {
            double signal = 0.0;
            for (std::size_t f = 0; f < kFeatures; ++f) {
                const auto n = static_cast<std::uint64_t>(n_value_bins[f]) + 1;
                const std::uint64_t bin = random_below(f, Stream::kRows, row, n);
                bins.push_back(static_cast<std::uint8_t>(bin));
                signal += bin % 3 == 0 || 2 * bin < n ? 0.2 : -0.2;
            }
            const double noise = random_unit(9, Stream::kRows, row) - 0.5;
            gradients.push_back(static_cast<float>(signal + noise));
            hessians.push_back(static_cast<float>(random_unit(8, Stream::kRows, row)));
        }
    }
    GrownTree grow(const GradientTreeSettings& settings, bool with_hessians, int n_threads) const {
        spinney::GradientGrower grower({bins, n_value_bins, categorical, 1}, n_threads);
        const std::span<const float> second = hessians;
        return grower.grow({gradients, with_hessians ? second : second.first(0), {}, true, 1.0}, {},
                           settings);
    }
};

std::vector<GradientTreeSettings> all_settings() {
    std::vector<GradientTreeSettings> all;
    for (const bool symmetric : {false, true}) {
        for (const bool random_cuts : {false, true}) {
            for (const double smoothing : {0.0, 7.0}) {
                GradientTreeSettings settings;
                settings.symmetric = symmetric;
                settings.max_depth = 6;
                settings.random_cuts = random_cuts;
                settings.path_smoothing = smoothing;
                settings.min_samples_leaf = 5.0;
                settings.seed = 3;
                all.push_back(settings);
            }
        }
    }
    return all;
}

}  // namespace

TEST(trees_do_not_depend_on_threads_or_instruction_sets) {
    const auto best = spinney::best_isa();
    for (const std::size_t n_rows : {100UL, 3000UL, 20'000UL}) {
        const Problem problem(n_rows);
        for (const GradientTreeSettings& settings : all_settings()) {
            for (const bool with_hessians : {false, true}) {
                const GrownTree tree = problem.grow(settings, with_hessians, 1);
                CHECK(tree.feature.size() > 3);
                spinney::use_isa(spinney::Isa::kPortable);
                const GrownTree again = problem.grow(settings, with_hessians, 3);
                spinney::use_isa(best);
                CHECK(tree.feature == again.feature && tree.bin == again.bin);
                CHECK(tree.category_sets == again.category_sets);
                CHECK(tree.values == again.values && tree.gain == again.gain);
            }
        }
    }
}

TEST(a_symmetric_tree_has_one_split_per_level_and_no_empty_node) {
    const Problem problem(5000);
    for (const GradientTreeSettings& settings : all_settings()) {
        if (!settings.symmetric) continue;
        const GrownTree tree = problem.grow(settings, true, 2);
        std::set<std::vector<int>> splits;
        for (std::size_t node = 0; node < tree.feature.size(); ++node) {
            CHECK(tree.weight[node] >= 5.0);
            if (tree.feature[node] < 0) continue;
            std::vector<int> split = {tree.feature[node], tree.bin[node], tree.missing_left[node]};
            if (tree.category_set[node] >= 0) {
                const auto first =
                    static_cast<std::size_t>(tree.category_set[node]) * spinney::kCategorySetBytes;
                split.insert(split.end(), tree.category_sets.begin() + static_cast<long>(first),
                             tree.category_sets.begin() +
                                 static_cast<long>(first + spinney::kCategorySetBytes));
            }
            splits.insert(split);
        }
        CHECK(splits.size() > 1 && splits.size() <= 6);
    }
}

TEST(pruning_takes_the_last_levels_back) {
    const Problem problem(5000);
    GradientTreeSettings settings = all_settings()[4];
    CHECK(settings.symmetric && !settings.random_cuts);
    const std::size_t whole = problem.grow(settings, true, 1).feature.size();
    settings.prune_gain = 1e9;
    CHECK(problem.grow(settings, true, 1).feature.size() == 1);
    settings.prune_gain = 30.0;
    const std::size_t some = problem.grow(settings, true, 1).feature.size();
    CHECK(some < whole && some >= 1);
}

CHECK_MAIN
