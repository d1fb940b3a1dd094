#include <cstdint>
#include <limits>
#include <vector>

#include "native/base/failure.hpp"
#include "native/model/split_planes.hpp"
#include "native/trees/plane_grower.hpp"
#include "tests/native/check.hpp"

using spinney::grow_planes;
using spinney::GrownPlanes;

namespace {

constexpr std::size_t kRows = 64;
constexpr std::size_t kFeatures = 3;

/// Numbers without a generator; some are missing.
std::vector<double> table() {
    std::vector<double> numbers(kRows * kFeatures);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<double>((i * 2654435761U) % 1000) / 100.0;
        if (i % 17 == 5) numbers[i] = std::numeric_limits<double>::quiet_NaN();
    }
    return numbers;
}

GrownPlanes grown(int n_threads, std::uint32_t first = 0, std::size_t first_tree = 0) {
    std::vector<std::uint32_t> drawn;
    for (std::uint32_t i = 0; i < 4 * kRows; ++i) drawn.push_back((i + first) % kRows);
    return grow_planes(table(), kFeatures, drawn, kRows, {2, 6, 7}, first_tree, n_threads);
}

}  // namespace

TEST(trees_depend_on_neither_threads_nor_the_order_of_rows) {
    const GrownPlanes one = grown(1);
    for (const GrownPlanes& other : {grown(3), grown(1, 11)}) {
        CHECK(one.right == other.right);
        CHECK(one.normal == other.normal);
        CHECK(one.point == other.point);
        CHECK(one.count == other.count);
    }
    CHECK(grown(1, 0, 1).normal != one.normal);
}

TEST(grown_trees_are_a_model_and_rows_reach_the_leaves_that_counted_them) {
    const GrownPlanes grow = grown(2);
    const std::size_t n_planes = grow.feature.size() / 2;
    std::vector<double> counts(grow.count.begin(), grow.count.end());
    const std::vector<double> zeros(n_planes, 0.0);
    spinney::PlaneArrays arrays;
    arrays.n_features = kFeatures;
    arrays.width = 2;
    arrays.tree_start = grow.tree_start;
    arrays.right = grow.right;
    arrays.value = counts;
    arrays.threshold = zeros;
    arrays.feature = grow.feature;
    arrays.normal = grow.normal;
    arrays.point = grow.point;
    const spinney::SplitPlanes planes(arrays);
    std::vector<double> means(kRows);
    planes.mean_values(table(), means, 2);
    for (const double mean : means) CHECK(mean >= 1.0);  // every row was counted where it falls
    double total = 0.0;
    for (std::size_t i = 0; i < counts.size(); ++i) total += grow.right[i] < 0 ? counts[i] : 0.0;
    CHECK(total == 4.0 * kRows);
    arrays.threshold = std::span(zeros).first(n_planes - 1);
    CHECK_THROWS(spinney::Failure, spinney::SplitPlanes{arrays});
}

TEST(rows_that_do_not_exist_are_refused) {
    const std::vector<std::uint32_t> drawn = {kRows};
    CHECK_THROWS(spinney::Failure, grow_planes(table(), kFeatures, drawn, 1, {1, 2, 0}, 0, 1));
}

CHECK_MAIN
