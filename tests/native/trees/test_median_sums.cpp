#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "native/base/random.hpp"
#include "native/trees/median_sums.hpp"
#include "tests/native/check.hpp"

using spinney::MedianSums;
using spinney::random_below;
using spinney::Stream;
using spinney::WeightedSum;

namespace {

/// Rows with whole targets, in order.
struct Rows {
    std::vector<WeightedSum> own;
    std::vector<double> targets;
};

Rows random_rows(std::size_t n, std::uint64_t seed) {
    std::vector<std::int64_t> targets;
    for (std::size_t i = 0; i < n; ++i) {
        targets.push_back(static_cast<std::int64_t>(random_below(seed, Stream::kRows, i, 20)) - 9);
    }
    std::sort(targets.begin(), targets.end());
    Rows rows;
    for (std::size_t i = 0; i < n; ++i) {
        const auto weight =
            static_cast<std::int64_t>(random_below(seed, Stream::kFeatures, i, 4)) + 1;
        rows.own.push_back({weight, weight * targets[i]});
        rows.targets.push_back(static_cast<double>(targets[i]));
    }
    return rows;
}

/// The least over all targets as centres: one of them is a median.
double by_definition(const Rows& rows, const std::vector<bool>& is_in) {
    double least = 1e300;
    bool any = false;
    for (std::size_t c = 0; c < is_in.size(); ++c) {
        if (!is_in[c]) continue;
        any = true;
        double error = 0.0;
        for (std::size_t i = 0; i < is_in.size(); ++i) {
            if (!is_in[i]) continue;
            error += static_cast<double>(rows.own[i].weight) *
                     std::abs(rows.targets[i] - rows.targets[c]);
        }
        least = std::min(least, error);
    }
    return any ? least : 0.0;
}

/// The targets at which half of the weight is reached, and passed.
std::pair<double, double> middle_by_definition(const Rows& rows, const std::vector<bool>& is_in) {
    std::vector<double> all;  // every target as often as it weighs
    for (std::size_t i = 0; i < is_in.size(); ++i) {
        if (is_in[i])
            all.insert(all.end(), static_cast<std::size_t>(rows.own[i].weight), rows.targets[i]);
    }
    return {all[(all.size() - 1) / 2], all[all.size() / 2]};
}

}  // namespace

TEST(the_least_error_is_that_of_the_best_centre) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const std::size_t n = 1 + random_below(seed, Stream::kNodes, 0, 40);
        const Rows rows = random_rows(n, seed);
        MedianSums sums;
        sums.enter(rows.own, rows.targets, seed % 2 == 0);
        CHECK(sums.least_error() == 0.0);
        std::vector<bool> is_in(n, false);
        for (std::size_t step = 0; step < n; ++step) {
            std::size_t next = random_below(seed, Stream::kThresholds, step, n);
            while (is_in[next]) next = (next + 1) % n;
            is_in[next] = true;
            sums.put(next);
            CHECK(sums.least_error() == by_definition(rows, is_in));
            const auto [lower, upper] = sums.middle_places();
            const auto middle = middle_by_definition(rows, is_in);
            CHECK(is_in[lower] && rows.targets[lower] == middle.first);
            CHECK(is_in[upper] && rows.targets[upper] == middle.second);
        }
        sums.clear();
        CHECK(sums.weight() == 0 && sums.least_error() == 0.0);
    }
}

CHECK_MAIN
