#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "native/explain/box_search.hpp"
#include "native/explain/parts.hpp"
#include "tests/native/check.hpp"

using spinney::Box;
using spinney::BoxSearch;
using spinney::CellForest;
using spinney::Cells;
using spinney::Corner;
using spinney::SearchGoal;

namespace {

constexpr std::int32_t kNumberCells = 4;
constexpr std::int32_t kBins = 3;
constexpr std::int32_t kMissing = -1;

/// Random trees over two numbers of four cells and one category of three bins, owned.
struct Trees {
    std::vector<std::int64_t> tree_start = {0};
    std::vector<std::int32_t> feature, cut, right, category_set;
    std::vector<std::uint8_t> missing_left, category_sets;
    std::vector<double> value;

    Trees(std::size_t n_trees, unsigned seed) {
        std::mt19937 random(seed);
        for (std::size_t t = 0; t < n_trees; ++t) {
            grow(random, static_cast<std::int32_t>(feature.size()), 0);
            tree_start.push_back(static_cast<std::int64_t>(feature.size()));
        }
    }

    void grow(std::mt19937& random, std::int32_t root, int depth) {
        const std::size_t node = feature.size();
        feature.push_back(-1);
        cut.push_back(0);
        right.push_back(-1);
        category_set.push_back(-1);
        missing_left.push_back(0);
        value.push_back(static_cast<double>(random() % 1000) / 7.0 - 70.0);
        if (depth == 3 || random() % 5 == 0) return;
        feature[node] = static_cast<std::int32_t>(random() % 3);
        missing_left[node] = static_cast<std::uint8_t>(random() % 2);
        if (feature[node] == 2) {
            category_set[node] = static_cast<std::int32_t>(category_sets.size() / 32);
            category_sets.resize(category_sets.size() + 32, 0);
            category_sets[category_sets.size() - 32] = static_cast<std::uint8_t>(random() % 8);
        } else {
            cut[node] = static_cast<std::int32_t>(random() % kNumberCells);
        }
        grow(random, root, depth + 1);
        right[node] = static_cast<std::int32_t>(feature.size()) - root;
        grow(random, root, depth + 1);
    }

    CellForest view() const {
        CellForest forest{tree_start,   feature,       cut,   right, missing_left,
                          category_set, category_sets, value, {}};
        forest.domain.resize(3);
        forest.domain[0].high = forest.domain[1].high = kNumberCells;
        forest.domain[2].high = 1;
        forest.domain[2].bins = {(1U << kBins) - 1, 0, 0, 0};
        return forest;
    }

    bool goes_left(std::size_t node, std::int32_t cell) const {
        if (cell == kMissing) return missing_left[node] != 0;
        if (category_set[node] < 0) return cell <= cut[node];
        return (category_sets[static_cast<std::size_t>(category_set[node]) * 32] >> cell) & 1;
    }

    /// The slow twin: one row of cells, tree after tree.
    double score(double start, const std::int32_t (&row)[3]) const {
        for (std::size_t t = 0; t + 1 < tree_start.size(); ++t) {
            const auto first = static_cast<std::size_t>(tree_start[t]);
            std::size_t node = first;
            while (feature[node] >= 0) {
                const bool left = goes_left(node, row[feature[node]]);
                node = left ? node + 1 : first + static_cast<std::size_t>(right[node]);
            }
            start += value[node];
        }
        return start;
    }
};

template <class Visit>
void for_each_row(const Visit& visit) {
    for (std::int32_t a = kMissing; a < kNumberCells; ++a) {
        for (std::int32_t b = kMissing; b < kNumberCells; ++b) {
            for (std::int32_t c = kMissing; c < kBins; ++c) visit({a, b, c});
        }
    }
}

bool holds(const Cells& cells, std::int32_t cell, bool is_category) {
    if (cell == kMissing) return cells.missing;
    if (is_category) return cells.has_value() && ((cells.bins[0] >> cell) & 1) != 0;
    return cells.low <= cell && cell < cells.high;
}

}  // namespace

TEST(the_largest_score_is_that_of_all_rows_to_the_last_bit) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const Trees trees(1 + seed % 7, seed);
        const CellForest forest = trees.view();
        const std::vector<Corner> corners = {{{}, 1.0}};
        SearchGoal goal;
        goal.start = 0.1;
        BoxSearch search(parts_of(forest, corners), forest.domain, goal);
        search.advance(100000);
        double largest = -std::numeric_limits<double>::infinity();
        for_each_row([&](const std::int32_t (&row)[3]) {
            const double score = trees.score(0.1, row);
            largest = std::max(largest, score);
            bool is_inside = true;
            for (std::size_t f = 0; f < 3; ++f) {
                is_inside = is_inside && holds(search.witness()[f], row[f], f == 2);
            }
            if (is_inside) CHECK(score == search.attained());
        });
        CHECK(search.is_done());
        CHECK(search.attained() == largest);
        CHECK(search.upper() == largest);
    }
}

TEST(bounds_hold_at_every_moment_of_a_search) {
    const Trees trees(12, 3);
    const CellForest forest = trees.view();
    const std::vector<Corner> corners = {{{}, -1.0}};
    double largest = -std::numeric_limits<double>::infinity();
    for_each_row(
        [&](const std::int32_t (&row)[3]) { largest = std::max(largest, -trees.score(0.0, row)); });
    BoxSearch search(parts_of(forest, corners), forest.domain, {});
    double last = std::numeric_limits<double>::infinity();
    while (!search.is_done()) {
        CHECK(search.attained() <= largest && largest <= search.upper());
        CHECK(search.upper() <= last);
        last = search.upper();
        search.advance(1);
    }
    CHECK(std::abs(search.attained() - largest) < 1e-12);
}

TEST(the_largest_difference_of_two_cells_is_that_of_all_rows) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const Trees trees(1 + seed % 4, seed);
        const CellForest forest = trees.view();
        Cells low = forest.domain[0];
        low.missing = false;
        low.low = 1;
        low.high = 2;
        Cells high = low;
        high.low = 2;
        high.high = 3;
        const std::vector<Corner> corners = {{Box{{0, low}}, 1.0}, {Box{{0, high}}, -1.0}};
        BoxSearch search(parts_of(forest, corners), forest.domain, {});
        search.advance(100000);
        double largest = -std::numeric_limits<double>::infinity();
        for_each_row([&](const std::int32_t (&row)[3]) {
            const std::int32_t one[3] = {1, row[1], row[2]};
            const std::int32_t other[3] = {2, row[1], row[2]};
            largest = std::max(largest, trees.score(0.0, one) - trees.score(0.0, other));
        });
        CHECK(search.is_done());
        CHECK(std::abs(search.attained() - largest) < 1e-9);
    }
}

TEST(nothing_to_add_is_the_start) {
    const Trees trees(0, 0);
    const CellForest forest = trees.view();
    SearchGoal goal;
    goal.start = 2.5;
    BoxSearch search(parts_of(forest, std::vector<Corner>{{{}, 1.0}}), forest.domain, goal);
    search.advance(10);
    CHECK(search.is_done() && search.attained() == 2.5 && search.upper() == 2.5);
}

CHECK_MAIN
