/// No cut gains more than its feature's ceiling, and most ceilings are close.
#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "native/base/random.hpp"
#include "native/trees/scalar_sum.hpp"
#include "tests/native/check.hpp"

using namespace spinney;

namespace {

/// Rows of a node, and one feature that sorts them.
struct Node {
    std::vector<std::int64_t> numbers;
    std::vector<std::int64_t> weights;
    std::vector<std::uint32_t> keys;

    /// Numbers of `bits` bits `above` zero; weights from 1 to most_weight.
    Node(std::size_t n, int bits, std::int64_t above, std::uint64_t most_weight,
         std::uint64_t seed) {
        std::uint32_t rank = 0;
        std::vector<std::uint32_t> order(n);
        std::iota(order.begin(), order.end(), 0U);
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t draw = random_bits(seed, Stream::kRows, i);
            const auto weight =
                static_cast<std::int64_t>(1 + random_below(seed, Stream::kNodes, i, most_weight));
            const auto number = static_cast<std::int64_t>(draw >> (64 - bits)) + above;
            weights.push_back(weight);
            numbers.push_back(number * (most_weight < 10 ? weight : 1));
            std::swap(order[i], order[i + draw % (n - i)]);
            rank += i > 0 && draw >> 20 % 4 != 0 ? 1 : 0;
            keys.push_back(rank << 16 | order[i]);
        }
        keys.resize(n + kRoughPadding + 1, 0xABCD1234);
    }

    std::size_t n() const { return numbers.size(); }
};

struct Gains {
    double most;
    double ceiling;
};

Gains gains_of(const Node& node) {
    ForestRows rows;
    const std::vector<double> centre = {0.0};
    const std::vector<double> units = {1.0};
    rows.n_rows = node.n();
    rows.numbers = node.numbers;
    rows.weights = node.weights;
    rows.centre = centre;
    rows.units = units;
    rows.number_scale = 0x1p-30;
    rows.weight_scale = 0x1p-3;
    ScalarSum<false> target(rows);
    std::vector<TreeRow> items;
    std::vector<std::uint16_t> places;
    for (std::uint32_t row = 0; row < node.n(); ++row) {
        items.push_back(static_cast<TreeRow>(1) << 32 | row);
        places.push_back(static_cast<std::uint16_t>(row));
    }
    target.load(items);
    target.begin();
    auto total = ScalarSum<false>::no_sums();
    for (const std::uint16_t place : places) target.visit(place, total.data());
    target.focus(total.data());

    Gains gains = {0.0, 0.0};
    auto left = ScalarSum<false>::no_sums();
    for (std::size_t i = 0; i + 1 < node.n(); ++i) {
        target.add(node.keys[i] & 0xFFFFU, left.data());
        if (node.keys[i] >> 16 == node.keys[i + 1] >> 16) continue;
        gains.most = std::max(gains.most, target.gain(left.data()));
    }
    CutCeilings ceilings(node.n());
    ceilings.enter(target.roughen(places, ceilings.by_row()));
    gains.ceiling = ceilings.of(node.keys.data(), node.n());
    return gains;
}

template <class Check>
void for_many(Check check) {
    for (int isa = 0; isa <= static_cast<int>(best_isa()); ++isa) {
        use_isa(static_cast<Isa>(isa));
        for (const std::size_t n : {2, 3, 9, 15, 16, 17, 33, 100, 511}) {
            for (std::uint64_t seed = 0; seed < 30; ++seed) check(n, seed);
        }
    }
    use_isa(best_isa());
}

}  // namespace

TEST(no_cut_gains_more_than_the_ceiling) {
    for_many([](std::size_t n, std::uint64_t seed) {
        for (const std::int64_t above : {0L, -(1L << 39), 1L << 50}) {
            for (const std::uint64_t most_weight : {1UL, 5UL, 1UL << 45}) {
                const Gains gains = gains_of(Node(n, 40, above, most_weight, seed));
                CHECK(gains.ceiling >= gains.most);
            }
        }
    });
}

TEST(ceilings_of_plain_nodes_are_close) {
    for_many([](std::size_t n, std::uint64_t seed) {
        const Gains gains = gains_of(Node(n, 40, -(1L << 39), 5, seed));
        CHECK(gains.ceiling <= gains.most * 1.001);
    });
}

TEST(a_feature_without_cuts_has_a_ceiling_of_zero) {
    Node node(50, 40, 0, 5, 1);
    for (std::uint32_t& key : node.keys) key = key & 0xFFFFU;
    node.keys.back() = 0xFFFF0000U;
    CHECK(gains_of(node).ceiling == 0.0);
}

CHECK_MAIN
