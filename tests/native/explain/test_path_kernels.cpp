// Eight lanes without the instructions for them: the loops of AVX-512 machines run everywhere.
#include "native/explain/path_kernels.hpp"

#define LANES 8
#define NAME(x) x##_wide
#include <cmath>
#include <limits>
#include <vector>

#include "native/explain/feature_rows.hpp"
#include "native/explain/kernel_choice.hpp"
#include "native/explain/path_kernels.inl"
#include "native/explain/quadrature.hpp"
#include "tests/native/check.hpp"

namespace {

constexpr std::size_t kRows = 3 * spinney::kRowGroup;

/// A path of d features with shares and answers that look random; some shares are 0 or 1.
struct Path {
    std::vector<std::vector<std::int64_t>> words;
    std::vector<const std::int64_t*> meets;
    std::vector<double> share;
    spinney::Quadrature rule;
    std::vector<double> scratch;

    explicit Path(std::size_t d) : rule(spinney::gauss_legendre((d + 1) / 2)) {
        std::uint64_t state = 0x9E3779B97F4A7C15U + d;
        for (std::size_t k = 0; k < d; ++k) {
            words.emplace_back(kRows);
            for (std::int64_t& word : words.back()) {
                state = state * 6364136223846793005U + 1442695040888963407U;
                word = -static_cast<std::int64_t>(state >> 63);
            }
            share.push_back(k % 5 == 3 ? 0.0 : 1.0 / static_cast<double>(1 + k % 4));
        }
        for (const auto& of_feature : words) meets.push_back(of_feature.data());
        scratch.resize(spinney::leaf_scratch(d, rule.at.size()));
    }

    spinney::LeafTask task() {
        return {meets.data(), share.data(),
                share.size(), {rule.at.data(), rule.weight.data(), rule.at.size()},
                kRows,        scratch.data()};
    }
};

}  // namespace

TEST(effects_have_the_same_bits_in_lanes_of_every_width) {
    for (const std::size_t d : {0U, 1U, 2U, 3U, 5U, 7U, 8U, 9U, 12U, 31U, 70U}) {
        Path path(d);
        std::vector<double> narrow(d * kRows), wide(d * kRows), active(d * kRows);
        spinney::path_effects_portable(path.task(), narrow.data());
        spinney::path_effects_wide(path.task(), wide.data());
        using spinney::path_effects_avx2, spinney::path_effects_avx512;
        using spinney::path_effects_portable, spinney::pick;
        SPINNEY_PATH_KERNEL(path_effects)(path.task(), active.data());
        CHECK(narrow == wide && narrow == active);
        const std::size_t n_pairs = d < 2 ? 0 : d * (d - 1) / 2;
        std::vector<double> pairs(n_pairs * kRows), wide_pairs(n_pairs * kRows);
        spinney::path_pair_effects_portable(path.task(), pairs.data());
        spinney::path_pair_effects_wide(path.task(), wide_pairs.data());
        CHECK(pairs == wide_pairs);
    }
}

TEST(effects_of_a_path_add_up_to_what_all_features_do) {
    for (const std::size_t d : {1U, 2U, 3U, 6U, 9U, 40U}) {
        Path path(d);
        std::vector<double> effects(d * kRows);
        spinney::path_effects_portable(path.task(), effects.data());
        for (std::size_t i = 0; i < kRows; ++i) {
            double sum = 0.0;
            double reached = 1.0;
            double expected = 1.0;
            for (std::size_t k = 0; k < d; ++k) {
                sum += effects[k * kRows + i];
                reached *= path.words[k][i] != 0 ? 1.0 : 0.0;
                expected *= path.share[k];
            }
            CHECK(std::abs(sum - (reached - expected)) < 1e-14);
        }
    }
}

TEST(splits_have_the_same_answers_in_lanes_of_every_width) {
    std::vector<double> x(kRows);
    std::vector<std::int64_t> before(kRows, -1);
    for (std::size_t i = 0; i < kRows; ++i) {
        x[i] = i % 5 == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(i % 7);
        before[i] = i % 3 == 0 ? 0 : -1;
    }
    for (const bool missing_left : {false, true}) {
        for (const bool is_left : {false, true}) {
            std::vector<std::int64_t> narrow(kRows), wide(kRows);
            spinney::path_split_portable(
                {x.data(), 3.0, missing_left, is_left, before.data(), narrow.data(), kRows});
            spinney::path_split_wide(
                {x.data(), 3.0, missing_left, is_left, before.data(), wide.data(), kRows});
            CHECK(narrow == wide);
            for (std::size_t i = 0; i < kRows; ++i) {
                const bool left = std::isnan(x[i]) ? missing_left : x[i] <= 3.0;
                CHECK(narrow[i] == (before[i] != 0 && left == is_left ? -1 : 0));
            }
        }
    }
}

CHECK_MAIN
