// Exact optima of leaves, by hand and on several threads.

#include <cmath>
#include <vector>

#include "native/base/random.hpp"
#include "native/losses/huber_root.hpp"
#include "native/losses/leaf_optima.hpp"
#include "tests/native/check.hpp"

namespace {

/// Optimum of one leaf of the given residuals.
double optimum(spinney::LossSpec loss, std::vector<double> y, std::vector<std::int64_t> weights) {
    const std::vector<double> scores(y.size(), 0.0);
    std::vector<std::uint32_t> rows(y.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint32_t>(i);
    const std::vector<std::int64_t> first = {0}, last = {static_cast<std::int64_t>(y.size())};
    return spinney::leaf_optima({loss, y, scores, weights}, {rows, first, last}, 1).front();
}

constexpr spinney::LossSpec kMedian{spinney::LossKind::kAbsolute, 0.0};

}  // namespace

TEST(medians_by_hand) {
    CHECK(optimum(kMedian, {3, 1, 2}, {}) == 2.0);
    CHECK(optimum(kMedian, {4, 1, 2, 3}, {}) == 2.5);
    CHECK(optimum(kMedian, {4, 1, 2, 3}, {1, 1, 5, 1}) == 2.0);
    CHECK(optimum(kMedian, {1, 9}, {3, 3}) == 5.0);
    CHECK(!std::signbit(optimum(kMedian, {-0.0, -0.0}, {})));
}

TEST(quantiles_by_hand) {
    const auto at = [](double level) {
        return spinney::LossSpec{spinney::LossKind::kQuantile, level};
    };
    CHECK(optimum(at(0.1), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {}) == 1.5);
    CHECK(optimum(at(0.11), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {}) == 2.0);
    CHECK(optimum(at(0.75), {1, 2}, {3, 1}) == 1.5);
}

TEST(huber_by_hand) {
    const auto with = [](double delta) {
        return spinney::LossSpec{spinney::LossKind::kHuber, delta};
    };
    CHECK(optimum(with(100.0), {1, 2, 6}, {}) == 3.0);            // the mean
    CHECK(optimum(with(1.0), {0, 1e300, 0, -0.25}, {}) == 0.25);  // 3 c + 0.25 = 1
    CHECK(optimum(with(1.0), {0, 10}, {}) == 5.0);                // flat between 1 and 9
    CHECK(optimum(with(1.0), {0, 10, 4}, {2, 2, 1}) == 4.0);
    CHECK(optimum(with(0.25), {7, 7, 7}, {}) == 7.0);
    CHECK(std::isfinite(optimum(with(1e308), {1e308, -1e308, 0}, {})));
}

TEST(largest_weights_do_not_overflow) {
    const std::int64_t heavy = std::int64_t{1} << 60;
    CHECK(optimum(kMedian, {1, 2, 3}, {heavy, heavy, heavy}) == 2.0);
    const spinney::LossSpec huber{spinney::LossKind::kHuber, 1.0};
    CHECK(optimum(huber, {-1e9, 0, 1e9}, {heavy, heavy, heavy}) == 0.0);
}

TEST(no_number_among_the_residuals_is_no_disaster) {
    const double nan = std::nan("");
    for (const double level : {0.01, 0.5, 0.99}) {
        optimum({spinney::LossKind::kQuantile, level}, {nan, 1, nan, 2, nan, 0, 5}, {});
        optimum({spinney::LossKind::kHuber, level}, {nan, 1, nan, 2, nan, 0, 5}, {});
    }
    CHECK(true);
}

TEST(threads_do_not_change_the_optima_of_many_leaves) {
    constexpr std::size_t kRows = 60'000, kLeaf = 100;
    std::vector<double> y(kRows);
    const std::vector<double> scores(kRows, 0.5);
    std::vector<std::uint32_t> rows(kRows);
    std::vector<std::int64_t> weights(kRows), first, last;
    for (std::size_t i = 0; i < kRows; ++i) {
        y[i] = std::tan(3.0 * spinney::random_unit(4, spinney::Stream::kRows, i) - 1.5);
        rows[i] = static_cast<std::uint32_t>(kRows - 1 - i);
        weights[i] = static_cast<std::int64_t>(1 + i % 7);
    }
    for (std::size_t i = 0; i < kRows; i += kLeaf) {
        first.push_back(static_cast<std::int64_t>(i));
        last.push_back(static_cast<std::int64_t>(i + kLeaf));
    }
    for (const auto kind : {spinney::LossKind::kAbsolute, spinney::LossKind::kHuber}) {
        const spinney::LeafTask task = {{kind, 0.7}, y, scores, weights};
        const auto alone = spinney::leaf_optima(task, {rows, first, last}, 1);
        CHECK(alone == spinney::leaf_optima(task, {rows, first, last}, 4));
    }
}

CHECK_MAIN
