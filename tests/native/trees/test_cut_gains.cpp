/// Gains of many cuts at a time: the definition, row by row, with every instruction set.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "native/base/random.hpp"
#include "native/trees/cut_gains.hpp"
#include "tests/native/check.hpp"

using namespace spinney;

namespace {

/// Sums of sorted rows, some of equal rank.
struct Rows {
    std::vector<std::int64_t> numbers;
    std::vector<std::int64_t> weights;
    std::vector<std::uint64_t> counts;
    std::vector<std::uint32_t> keys;
    std::int64_t magnitude = 0;

    Rows(std::size_t n, int bits, std::uint64_t seed) {
        std::int64_t number = 0;
        std::int64_t weight = 0;
        std::uint64_t count = 0;
        std::uint32_t rank = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t draw = random_bits(seed, Stream::kRows, i);
            const auto own =
                static_cast<std::int64_t>(draw >> (64 - bits)) - (std::int64_t{1} << (bits - 1));
            number += own;
            magnitude += own < 0 ? -own : own;
            weight += 1 + static_cast<std::int64_t>(draw % 3);
            count += 1 + ((draw >> 8) % 2 << 32);
            rank += draw >> 9 & 1;
            numbers.push_back(number);
            weights.push_back(weight);
            counts.push_back(count);
            keys.push_back(rank << 16 | static_cast<std::uint32_t>(i));
        }
    }
};

/// The definition: row by row, the first of the best.
template <class Gain>
BestRow slow_best(const Rows& rows, std::size_t first, std::size_t last, Gain gain) {
    BestRow best;
    for (std::size_t i = first; i < last; ++i) {
        if ((rows.keys[i] ^ rows.keys[i + 1]) >> 16 == 0) continue;
        const double own = gain(i);
        if (own > best.gain + kTie * best.gain) best = {own, i};
    }
    return best;
}

/// The largest gain of any row, also of those that equal ranks keep from being cut.
double largest_gain(const Rows& rows, std::size_t first, std::size_t last, const ScalarNode& node) {
    double most = 0.0;
    for (std::size_t i = first; i < last; ++i) {
        most = std::max(most, node.gain(rows.numbers[i], rows.weights[i]));
    }
    return most;
}

bool same(const BestRow& a, const BestRow& b) {
    return std::bit_cast<std::uint64_t>(a.gain) == std::bit_cast<std::uint64_t>(b.gain) &&
           (a.gain < 0.0 || a.row == b.row);
}

void check_kernels(const Rows& rows, std::size_t first) {
    const std::size_t n = rows.keys.size();
    const std::size_t last = n - 1;
    std::vector<double> gains(n + kCutPadding);
    std::vector<ScalarPair> sums(n + kCutPadding);
    for (std::size_t i = 0; i < n; ++i) sums[i] = {rows.numbers[i], rows.weights[i]};
    std::vector<std::uint64_t> counts = rows.counts;
    counts.resize(n + kCutPadding, 3);
    std::vector<std::uint32_t> keys = rows.keys;
    keys.resize(n + kCutPadding, 7);
    ScalarNode node;
    node.number = Narrowing::below(rows.magnitude);
    node.weight = Narrowing::below(rows.weights.back());
    node.all = node.weight(rows.weights.back());
    node.mean = node.number(rows.numbers.back()) / node.all;
    const BestRow scalar = slow_best(rows, first, last, [&](std::size_t i) {
        return node.gain(rows.numbers[i], rows.weights[i]);
    });
    const BinaryNode classes = {static_cast<double>(rows.counts.back() >> 32),
                                static_cast<double>(rows.counts.back() & 0xFFFFFFFFU)};
    const BestRow binary =
        slow_best(rows, first, last, [&](std::size_t i) { return classes.gain(rows.counts[i]); });
    for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512}) {
        if (isa > best_isa()) continue;
        use_isa(isa);
        CHECK(same(scalar, SPINNEY_CUT_KERNEL(best_scalar_row)(sums.data(), keys.data(), 16, first,
                                                               last, node, gains.data())));
        // Above the best there is nothing, and below it something: the bars of 0 up to the best.
        std::vector<ScalarPair> ended = sums;
        std::fill(ended.begin() + static_cast<std::ptrdiff_t>(last), ended.end(), ScalarPair{});
        const auto may = [&](double bar) {
            return SPINNEY_CUT_KERNEL(may_scalar_row)(ended.data(), first, last, node, bar);
        };
        const double most = largest_gain(rows, first, last, node);
        CHECK(!may(most * (1.0 + 0x1p-30) + 1e-300));
        if (most > 0.0) CHECK(may(most * (1.0 - 0x1p-45)) && may(most / 2));
        CHECK(
            same(binary, SPINNEY_CUT_KERNEL(best_binary_row)(counts.data(), keys.data(), 16, first,
                                                             last, classes, gains.data())));
    }
}

/// Sums of every set of n rows, with what the kernel makes of them.
void check_worths(std::size_t n, int bits, std::uint64_t seed) {
    const Rows rows(n, bits, seed);
    std::vector<ScalarPair> sums = {{}};
    for (std::size_t i = 0; i < n; ++i) {
        const ScalarPair own = {rows.numbers[i] - (i > 0 ? rows.numbers[i - 1] : 0),
                                rows.weights[i] - (i > 0 ? rows.weights[i - 1] : 0)};
        for (std::size_t set = 0, n_sets = sums.size(); set < n_sets; ++set) {
            sums.push_back({sums[set].number + own.number, sums[set].weight + own.weight});
        }
    }
    const std::size_t n_sets = sums.size();
    ScalarNode node;
    node.number = Narrowing::below(rows.magnitude);
    node.weight = Narrowing::below(rows.weights.back());
    node.all = node.weight(rows.weights.back());
    node.mean = node.number(rows.numbers.back()) / node.all;
    sums.resize(std::max(n_sets, kCutPadding));
    std::vector<double> gains(sums.size());
    std::vector<std::uint16_t> worths(sums.size());
    SPINNEY_CUT_KERNEL(scalar_set_worths)(sums.data(), n_sets, node, gains.data(), worths.data());
    double most = 0.0;
    for (std::size_t set = 0; set < n_sets; ++set) {
        const double gain = node.gain(sums[set].number, sums[set].weight);
        CHECK(std::bit_cast<std::uint64_t>(gain) == std::bit_cast<std::uint64_t>(gains[set]));
        most = std::max(most, gain);
    }
    for (std::size_t set = 0; set < n_sets; ++set) {
        const double share = most > 0.0 ? gains[set] / most : 0.0;
        CHECK(std::abs(worths[set] - 1 - share * kMostWorth) <= 1.0);
        for (std::size_t other = 0; other < n_sets; ++other) {
            CHECK(gains[set] > gains[other] || worths[set] <= worths[other]);
        }
    }
}

}  // namespace

TEST(sets_of_few_rows_are_worth_their_gains_with_every_instruction_set) {
    for (int isa = 0; isa <= static_cast<int>(best_isa()); ++isa) {
        use_isa(static_cast<Isa>(isa));
        for (std::size_t n = 1; n <= 8; ++n) {
            for (const int bits : {8, 40, 58}) {
                for (std::uint64_t seed = 0; seed < 4; ++seed) check_worths(n, bits, seed);
            }
        }
    }
    use_isa(best_isa());
}

TEST(kernels_find_the_first_of_the_best) {
    for (const std::size_t n : {2, 3, 6, 9, 64, 129, 1000}) {
        for (const int bits : {4, 40, 51}) {
            for (std::uint64_t seed = 0; seed < 5; ++seed) {
                const Rows rows(n, bits, 100 * n + seed);
                check_kernels(rows, 0);
                if (n > 6) check_kernels(rows, 3);
            }
        }
    }
}

TEST(narrowing_rounds_down) {
    // The same on both sides of 0: what is dropped is dropped towards minus infinity.
    const Narrowing narrowing = Narrowing::below(std::int64_t{1} << 60);
    CHECK(narrowing.shift == 10);
    CHECK(narrowing(1023) == 0.0);
    CHECK(narrowing(-1) == -1.0);
    CHECK(narrowing(-1025) == -2.0);
}

CHECK_MAIN
