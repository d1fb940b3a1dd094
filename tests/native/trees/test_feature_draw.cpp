#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

#include "native/trees/feature_draw.hpp"
#include "tests/native/check.hpp"

using spinney::TreeSettings;

namespace {

std::vector<std::uint32_t> all_features(std::size_t n) {
    std::vector<std::uint32_t> features(n);
    std::iota(features.begin(), features.end(), 0U);
    return features;
}

}  // namespace

TEST(drawn_features_are_some_of_all_in_order) {
    TreeSettings settings;
    CHECK(spinney::draw_features(9, settings, 4) == all_features(9));
    for (const std::int32_t wanted : {1, 4, 8, 9, 20}) {
        settings.max_features = wanted;
        for (std::int32_t node = 0; node < 50; ++node) {
            const auto drawn = spinney::draw_features(9, settings, node);
            CHECK(drawn.size() == static_cast<std::size_t>(std::min(wanted, 9)));
            const bool increasing = std::adjacent_find(drawn.begin(), drawn.end(),
                                                       std::greater_equal<>()) == drawn.end();
            CHECK(increasing && drawn.back() < 9);
            CHECK(spinney::draw_features(9, settings, node) == drawn);
        }
    }
}

TEST(every_subset_of_features_is_equally_likely) {
    TreeSettings settings;
    settings.max_features = 3;
    constexpr int kDraws = 20'000;
    // Along nodes, then along seeds: both must look random.
    for (const bool along_nodes : {true, false}) {
        std::map<std::vector<std::uint32_t>, int> counts;
        for (int i = 0; i < kDraws; ++i) {
            settings.seed = along_nodes ? 5 : static_cast<std::uint64_t>(i);
            ++counts[spinney::draw_features(6, settings, along_nodes ? i : 0)];
        }
        CHECK(counts.size() == 20);
        double chi_square = 0;
        for (const auto& [subset, count] : counts) {
            chi_square += std::pow(count - kDraws / 20.0, 2) / (kDraws / 20.0);
        }
        CHECK(chi_square < 50.8);  // 19 degrees of freedom: once in 10 000; the seeds are fixed
    }
}

CHECK_MAIN
