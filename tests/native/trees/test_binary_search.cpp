/// The best cut of unsorted rows is that of sorted ones, with every instruction set.
#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "native/base/random.hpp"
#include "native/trees/binary_search.hpp"
#include "tests/native/check.hpp"

using namespace spinney;

namespace {

/// A node of n rows of a feature with many values; the second class is likelier at high ranks.
struct Node {
    RankedFeature feature;
    std::vector<TreeRow> items;
    std::int64_t total = 0;

    Node(std::size_t n, std::uint32_t n_values, std::uint64_t seed) {
        feature.values.resize(n_values);
        feature.n_bins = std::min<std::size_t>(n_values, 255);
        std::vector<std::uint8_t> bin_of(n_values);
        for (std::uint32_t rank = 0; rank < n_values; ++rank) {
            const std::size_t bin = rank * feature.n_bins / n_values;
            bin_of[rank] = static_cast<std::uint8_t>(bin);
            if (bin == feature.last_rank.size()) feature.last_rank.push_back(rank);
            feature.last_rank[bin] = rank;
        }
        for (std::uint32_t row = 0; row < n; ++row) {
            const std::uint64_t draw = random_bits(seed, Stream::kRows, row);
            const auto rank = static_cast<std::uint32_t>(draw % n_values);
            feature.short_ranks.push_back(static_cast<std::uint16_t>(rank));
            feature.bins.push_back(bin_of[rank]);
            const auto repetitions = static_cast<std::uint32_t>(1 + (draw >> 40) % 3);
            const bool second = (draw >> 48) % 100 < 30 + 40 * rank / n_values;
            const std::uint32_t mark = repetitions | (second ? repetitions << 16 : 0U);
            items.push_back(static_cast<TreeRow>(mark) << 32 | row);
            total += BinaryCounts::widened(mark);
        }
    }

    BinaryNode sums() const {
        return {static_cast<double>(total >> 32), static_cast<double>(total & 0xFFFFFFFF)};
    }
};

/// The definition: rows sorted, cuts judged one by one, the first of the best. With `behind_bins`
/// only cuts between bins.
BinaryCut slow_best(const Node& node, double min_leaf, bool behind_bins) {
    std::vector<TreeRow> sorted = node.items;
    const auto rank = [&](TreeRow item) -> std::uint32_t {
        return node.feature.short_ranks[row_of(item)];
    };
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](TreeRow a, TreeRow b) { return rank(a) < rank(b); });
    std::vector<BinaryCut> cuts;
    PackedCount left = 0;
    double most = -1.0;
    for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
        left += mark_of(sorted[i]);
        const double count = left & 0xFFFFU;
        const bool one_bin =
            node.feature.bins[row_of(sorted[i])] == node.feature.bins[row_of(sorted[i + 1])];
        if (rank(sorted[i]) == rank(sorted[i + 1]) || (behind_bins && one_bin)) continue;
        if (count < min_leaf || node.sums().all - count < min_leaf) continue;
        const auto wide = static_cast<std::uint64_t>(BinaryCounts::widened(left));
        cuts.push_back({node.sums().gain(wide), rank(sorted[i]), rank(sorted[i + 1]), left});
        most = std::max(most, cuts.back().gain);
    }
    for (const BinaryCut& cut : cuts) {
        if (cut.gain >= most * (1.0 - kTie)) return cut;
    }
    return {};
}

bool same(const BinaryCut& a, const BinaryCut& b) {
    return std::bit_cast<std::uint64_t>(a.gain) == std::bit_cast<std::uint64_t>(b.gain) &&
           a.left == b.left;
}

void check_node(const Node& node, double min_leaf) {
    const auto rank_at = [&](std::size_t row) -> std::uint32_t {
        return node.feature.short_ranks[row];
    };
    const BinaryCut exact = slow_best(node, min_leaf, false);
    const BinaryCut outer = slow_best(node, min_leaf, true);
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512}) {
        if (isa > best_isa()) continue;
        use_isa(isa);
        BinarySearch search(node.items.size());
        search.enter(node.items, node.sums(), min_leaf);
        BinaryCut found;
        if (!search.search_cuts(rank_at, kNone, found)) continue;
        CHECK(same(found, exact));
        CHECK(found.gain < 0.0 ||
              (found.last_rank == exact.last_rank && found.next_rank == exact.next_rank));
        // Nothing is found above the best, and the best is found just below it.
        found = {};
        search.search_cuts(rank_at, exact.gain, found);
        CHECK(found.gain < 0.0);
        search.search_cuts(rank_at, exact.gain * (1.0 - 4 * kTie), found);
        CHECK(exact.gain <= 0.0 || same(found, exact));
        found = {};
        if (search.search_bins(node.feature, kNone, found)) CHECK(same(found, outer));
    }
    use_isa(best_isa());
}

}  // namespace

TEST(unsorted_rows_have_the_best_cut_of_sorted_ones) {
    std::uint64_t seed = 0;
    for (const std::size_t n : {2U, 3U, 7U, 8U, 9U, 16U, 31U, 33U, 47U, 64U, 65U, 130U, 511U}) {
        for (const std::uint32_t n_values : {2U, 5U, 200U, 400U, 60000U}) {
            for (int turn = 0; turn < 20; ++turn) {
                const Node node(n, n_values, ++seed);
                for (const double min_leaf : {0.0, 3.0, n / 2.0}) check_node(node, min_leaf);
            }
        }
    }
}

TEST(large_nodes_are_searched_within_bins_too) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) check_node(Node(20000, 60000, seed), 0.0);
}

CHECK_MAIN
