/// Which rows have the same number, and that rows of trees by medians know no order of the table.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "native/base/random.hpp"
#include "native/trees/absolute_rows.hpp"
#include "native/trees/forest_rows.hpp"
#include "tests/native/check.hpp"

using spinney::AbsoluteRows;
using spinney::ForestRows;
using spinney::random_below;
using spinney::random_unit;
using spinney::Stream;

namespace {

constexpr std::size_t kRows = 60;

/// Few targets and many weights, on grids as Python makes them.
struct Table {
    std::vector<double> targets, centre = {0.0}, units = {1.0};
    std::vector<std::int64_t> numbers, weights;
    ForestRows rows;

    Table(bool whole, std::uint64_t seed) {
        for (std::size_t i = 0; i < kRows; ++i) {
            const auto step = static_cast<std::int64_t>(random_below(seed, Stream::kRows, i, 5));
            const double weight = 0.05 + random_unit(seed, Stream::kFeatures, i);
            const auto times = 1 + static_cast<std::int64_t>(weight * 6);
            targets.push_back(static_cast<double>(step) / 10);
            const auto unit = static_cast<std::int64_t>(std::ldexp(targets[i], 50));
            weights.push_back(whole ? times << 40 : std::llround(std::ldexp(weight, 54)));
            numbers.push_back(whole ? times * unit
                                    : std::llround(std::ldexp(weight * targets[i], 55)));
        }
        fill(whole);
    }

    Table(const Table& from, const std::vector<std::uint32_t>& order) {
        for (const std::uint32_t row : order) {
            targets.push_back(from.targets[row]);
            weights.push_back(from.weights[row]);
            numbers.push_back(from.numbers[row]);
        }
        fill(from.rows.whole);
    }

    void fill(bool whole) {
        rows.n_rows = kRows;
        rows.targets = targets;
        rows.numbers = numbers;
        rows.weights = weights;
        rows.centre = centre;
        rows.units = units;
        rows.whole = whole;
    }
};

}  // namespace

TEST(ratios_are_the_same_or_not_without_a_product) {
    for (std::int64_t a = -12; a <= 12; ++a) {
        for (std::int64_t b = 1; b <= 12; ++b) {
            for (std::int64_t c = -12; c <= 12; ++c) {
                for (std::int64_t d = 1; d <= 12; ++d) {
                    CHECK(ForestRows::same_ratio(a, b, c, d) == (a * d == c * b));
                }
            }
        }
    }
    constexpr std::int64_t kLarge = std::int64_t{1} << 61;
    CHECK(ForestRows::same_ratio(kLarge, 2, kLarge / 2, 1));
    CHECK(!ForestRows::same_ratio(kLarge, 2, kLarge / 2 - 1, 1));
    CHECK(ForestRows::same_ratio(-3 * (kLarge / 4), kLarge / 2, -3, 2));
    CHECK(!ForestRows::same_ratio(-3 * (kLarge / 4) - 1, kLarge / 2, -3, 2));
}

TEST(numbers_are_the_same_where_targets_are_whatever_rows_weigh) {
    for (const bool whole : {true, false}) {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const Table table(whole, seed);
            for (std::uint32_t a = 0; a < kRows; ++a) {
                for (std::uint32_t b = 0; b < kRows; ++b) {
                    CHECK(table.rows.same_number(a, b, 0) ==
                          (table.targets[a] == table.targets[b]));
                }
            }
        }
    }
}

TEST(rows_in_the_orders_of_their_targets_know_no_order_of_the_table) {
    const std::vector<std::uint32_t> once(kRows, 1);
    for (const bool whole : {true, false}) {
        const Table table(whole, 3);
        AbsoluteRows first(table.rows);
        first.start(once);
        first.enter(0, kRows);
        std::vector<std::uint32_t> order(kRows);
        std::iota(order.begin(), order.end(), 0U);
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            for (std::size_t i = kRows; i > 1; --i) {
                std::swap(order[i - 1], order[random_below(seed, Stream::kRows, i, i)]);
            }
            const Table other(table, order);
            AbsoluteRows moved(other.rows);
            moved.start(once);
            moved.enter(0, kRows);
            for (std::size_t i = 0; i < kRows; ++i) {
                CHECK(moved.orders()[0].own[i].weight == first.orders()[0].own[i].weight);
                CHECK(moved.orders()[0].own[i].product == first.orders()[0].own[i].product);
            }
        }
    }
}

CHECK_MAIN
