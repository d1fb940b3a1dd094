#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "native/base/failure.hpp"
#include "native/model/leaf_rows.hpp"
#include "tests/native/check.hpp"

using spinney::LeafRowArrays;
using spinney::LeafRows;

namespace {

/// Two trees on four rows: a split with leaves {0, 1} and {3}, and a single leaf with all.
struct Owned {
    std::vector<std::int64_t> tree_start = {0, 3, 4};
    std::vector<std::int64_t> entry_start = {0, 0, 2, 3, 7};
    std::vector<std::uint32_t> row = {0, 1, 3, 0, 1, 2, 3};
    std::vector<std::uint32_t> times = {1, 3, 4, 1, 1, 1, 1};
    std::vector<double> weight = {1, 1, 1, 1};
    std::vector<double> target = {10, 20, 30, 40};

    LeafRowArrays view() const { return {tree_start, entry_start, row, times, weight, target}; }
};

}  // namespace

TEST(weights_are_means_of_shares) {
    const Owned owned;
    const LeafRows rows(owned.view());
    const auto found = rows.weights(std::vector<std::int32_t>{1, 0});
    CHECK((found.row == std::vector<std::uint32_t>{0, 1, 2, 3}));
    CHECK((found.weight == std::vector<double>{0.25, 0.5, 0.125, 0.125}));
}

TEST(quantiles_are_the_smallest_targets_with_enough_weight) {
    const Owned owned;
    const LeafRows rows(owned.view());
    const std::vector<std::int32_t> leaves = {1, 0, 2, -1, -1, -1};
    const std::vector<double> levels = {0.0, 0.25, 0.26, 0.75, 1.0};
    std::vector<double> found(15);
    rows.quantiles(leaves, levels, found, 2);
    const std::vector<double> first(found.begin(), found.begin() + 5);
    CHECK((first == std::vector<double>{10, 10, 20, 20, 40}));
    for (std::size_t k = 5; k < 10; ++k) CHECK(found[k] == 40.0);
    for (std::size_t k = 10; k < 15; ++k) CHECK(std::isnan(found[k]));
}

TEST(spoiled_arrays_are_refused) {
    const std::vector<std::function<void(Owned&)>> spoilers = {
        [](Owned& o) { o.tree_start = {}; },    [](Owned& o) { o.tree_start = {0, 5, 4}; },
        [](Owned& o) { o.entry_start = {}; },   [](Owned& o) { o.entry_start[1] = -1; },
        [](Owned& o) { o.entry_start[4] = 8; }, [](Owned& o) { o.row[6] = 4; },
        [](Owned& o) { o.times[0] = 0; },       [](Owned& o) { o.times.pop_back(); },
        [](Owned& o) { o.weight[0] = 0; },      [](Owned& o) { o.weight.pop_back(); },
        [](Owned& o) { o.target[0] = 99; },
    };
    for (const auto& spoil : spoilers) {
        Owned owned;
        spoil(owned);
        CHECK_THROWS(spinney::Failure, LeafRows(owned.view()));
    }
}

TEST(leaves_that_do_not_exist_are_refused) {
    const Owned owned;
    const LeafRows rows(owned.view());
    CHECK_THROWS(spinney::Failure, rows.weights(std::vector<std::int32_t>{3, 0}));
    CHECK_THROWS(spinney::Failure, rows.weights(std::vector<std::int32_t>{0}));
}

CHECK_MAIN
