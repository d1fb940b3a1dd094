// Queries by hand, and the same bits on several threads and for every instruction set.

#include <cmath>
#include <cstdint>
#include <vector>

#include "native/base/failure.hpp"
#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/losses/ranking.hpp"
#include "tests/native/check.hpp"

namespace {

struct Table {
    std::vector<double> labels, gains, scores;
    std::vector<std::uint64_t> keys;
    std::vector<std::uint32_t> rows;
    std::vector<std::int64_t> first = {0};

    spinney::RankedQueries queries() const { return {labels, gains, keys, rows, first}; }
};

/// Queries of 1, 2, 3, ... rows, a few of them longer than a tile.
Table draw(std::size_t n_queries) {
    Table table;
    for (std::size_t q = 0; q < n_queries; ++q) {
        const std::size_t n = q % 50 == 49 ? 300 : q + 1;
        for (std::size_t i = 0; i < n; ++i) {
            const auto row = static_cast<std::uint32_t>(table.rows.size());
            const std::uint64_t bits = spinney::random_bits(3, spinney::Stream::kRows, row);
            table.rows.push_back(row);
            table.labels.push_back(static_cast<double>(bits % 3));
            table.gains.push_back(std::ldexp(1.0, static_cast<int>(bits % 3)) - 1.0);
            table.scores.push_back(static_cast<double>((bits >> 8) % 64) / 8.0);
            table.keys.push_back(bits >> 16);
        }
        table.first.push_back(static_cast<std::int64_t>(table.rows.size()));
    }
    return table;
}

/// Gradients and hessians, one after the other.
std::vector<float> derivatives(const Table& table, const spinney::RankingLoss& loss, int threads) {
    const std::size_t n = table.labels.size();
    std::vector<float> both(2 * n);
    const std::span<float> parts(both);
    table.queries().fill_derivatives(loss, table.scores, parts.first(n), parts.last(n), threads);
    return both;
}

}  // namespace

TEST(two_rows_by_hand) {
    const Table table = {{0, 1}, {0, 1}, {0, 0}, {1, 2}, {0, 1}, {0, 2}};
    const spinney::RankingLoss all_pairs = {spinney::RankingKind::kPairwise, 1, false};
    const std::vector<float> expected = {0.5F, -0.5F, 0.25F, 0.25F};
    CHECK(derivatives(table, all_pairs, 1) == expected);
}

TEST(metrics_by_hand) {
    Table table = {{1, 0, 0}, {1, 0, 0}, {3, 2, 1}, {1, 2, 3}, {0, 1, 2}, {0, 3}};
    const auto measure = [&](spinney::RankingKind metric, std::size_t k) {
        return table.queries().measure(metric, k, table.scores, 1).front();
    };
    CHECK(measure(spinney::RankingKind::kNdcg, 0) == 1.0);
    CHECK(measure(spinney::RankingKind::kMap, 0) == 1.0);
    table.scores = {1, 2, 3};
    CHECK(measure(spinney::RankingKind::kNdcg, 0) == 0.5);  // 1 / log2(4)
    CHECK(measure(spinney::RankingKind::kNdcg, 2) == 0.0);
    CHECK(std::fabs(measure(spinney::RankingKind::kMap, 0) - 1.0 / 3.0) < 1e-15);
    table.scores = {7, 7, 7};
    CHECK(std::fabs(measure(spinney::RankingKind::kMap, 1) - 1.0 / 3.0) < 1e-15);
    table.labels = table.gains = {0, 0, 0};
    CHECK(measure(spinney::RankingKind::kNdcg, 0) == 1.0);
}

TEST(neither_threads_nor_instruction_sets_change_a_bit) {
    const Table table = draw(120);
    const spinney::Isa before = spinney::active_isa();
    for (const char* name : {"ndcg", "map", "pairwise"}) {
        const spinney::RankingLoss loss = {spinney::parse_ranking(name), 30, true};
        spinney::use_isa(spinney::Isa::kPortable);
        const std::vector<float> expected = derivatives(table, loss, 1);
        for (int isa = 0; isa <= static_cast<int>(spinney::best_isa()); ++isa) {
            spinney::use_isa(static_cast<spinney::Isa>(isa));
            for (const int threads : {1, 2, 3, 7}) {
                CHECK(derivatives(table, loss, threads) == expected);
            }
        }
    }
    spinney::use_isa(before);
}

TEST(what_pulls_one_row_up_pulls_others_down) {
    const Table table = draw(60);
    const std::vector<float> both = derivatives(table, {}, 2);
    for (std::size_t q = 0; q + 1 < table.first.size(); ++q) {
        double sum = 0.0;
        for (auto i = table.first[q]; i < table.first[q + 1]; ++i) {
            sum += static_cast<double>(both[static_cast<std::size_t>(i)]);
        }
        CHECK(std::fabs(sum) < 1e-5);
    }
}

TEST(what_does_not_fit_is_refused) {
    Table table = draw(3);
    table.rows[1] = 99;
    bool refused = false;
    try {
        table.queries();
    } catch (const spinney::Failure&) {
        refused = true;
    }
    CHECK(refused);
}

CHECK_MAIN
