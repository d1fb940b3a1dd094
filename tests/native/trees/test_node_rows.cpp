#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "native/trees/node_rows.hpp"
#include "tests/native/check.hpp"

namespace {

std::vector<std::uint32_t> all_rows(std::size_t n) {
    std::vector<std::uint32_t> rows(n);
    std::iota(rows.begin(), rows.end(), 0U);
    return rows;
}

}  // namespace

TEST(splitting_rows_is_stable_and_complete) {
    constexpr std::size_t kRows = 1000;
    spinney::NodeRows node_rows(kRows);
    const auto is_even = [](std::uint32_t row) { return row % 2 == 0; };
    const auto by_three = [](std::uint32_t row) { return row % 3 == 0; };
    CHECK(node_rows.split(0, kRows, is_even) == 500);
    const std::size_t middle = node_rows.split(500, kRows, by_three);  // rows 3, 9, 15, ...
    CHECK(middle == 500 + 167);
    CHECK(node_rows.split(100, 100, is_even) == 100);
    CHECK(node_rows.split(0, 500, is_even) == 500 && node_rows.split(500, kRows, is_even) == 500);
    const auto left = node_rows.rows(0, 500);
    const auto threes = node_rows.rows(500, middle);
    const auto others = node_rows.rows(middle, kRows);
    CHECK(std::all_of(left.begin(), left.end(), is_even));
    CHECK(std::all_of(threes.begin(), threes.end(), by_three));
    CHECK(std::none_of(others.begin(), others.end(), by_three));
    for (const auto rows : {left, threes, others}) CHECK(std::is_sorted(rows.begin(), rows.end()));
    const auto all = node_rows.rows(0, kRows);
    std::vector<std::uint32_t> sorted(all.begin(), all.end());
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == all_rows(kRows));
}

CHECK_MAIN
