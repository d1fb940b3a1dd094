#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/losses/row_weights.hpp"
#include "tests/native/check.hpp"

using namespace spinney;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Weighed {
    std::vector<double> margins;
    std::vector<double> shares;
    std::vector<std::int32_t> cells;
    ShareSum sum;
};

double least_of(const std::vector<double>& margins) {
    return *std::min_element(margins.begin(), margins.end());
}

Weighed weigh(const std::vector<double>& margins, const std::vector<std::int64_t>& counts,
              int n_threads, const VoteStep& step = {}, double least = kNaN,
              const std::vector<std::int8_t>& signs = {}) {
    const std::size_t n = margins.size();
    const std::vector<std::int8_t> ones(n, 1);
    Weighed done{margins, std::vector<double>(n), std::vector<std::int32_t>(n), {}};
    done.sum = weigh_rows({.margins = done.margins.data(),
                           .step = step,
                           .factors = nullptr,
                           .counts = counts.empty() ? nullptr : counts.data(),
                           .signs = signs.empty() ? ones.data() : signs.data(),
                           .least = std::isnan(least) ? least_of(margins) : least,
                           .shares = done.shares.data(),
                           .cells = done.cells.data(),
                           .n = n},
                          n_threads);
    return done;
}

Verdict judge(const Weighed& rows, const std::vector<std::int64_t>& counts,
              const std::vector<std::uint8_t>& right, int n_threads = 1) {
    return judge_vote({.shares = rows.shares.data(),
                       .counts = counts.empty() ? nullptr : counts.data(),
                       .right = right.data(),
                       .margins = rows.margins.data(),
                       .n = right.size()},
                      n_threads);
}

bool are_same(const ShareSum& a, const ShareSum& b) { return a.high == b.high && a.low == b.low; }

std::vector<std::uint8_t> random_answers(std::size_t n) {
    std::vector<std::uint8_t> right(n);
    for (std::size_t i = 0; i < n; ++i) right[i] = random_unit(6, Stream::kRows, i) < 0.6 ? 1 : 0;
    return right;
}

double real(const ShareSum& sum) {
    return std::ldexp(static_cast<double>(sum.high), -30) +
           std::ldexp(static_cast<double>(sum.low), -60);
}

std::vector<double> random_margins(std::size_t n) {
    std::vector<double> margins(n);
    for (std::size_t i = 0; i < n; ++i) margins[i] = 40 * random_unit(5, Stream::kRows, i) - 11;
    return margins;
}

}  // namespace

TEST(shares_are_exponentials_and_their_sum_is_exact) {
    const auto margins = random_margins(20000);
    const Weighed done = weigh(margins, {}, 1);
    long double expected = 0;
    for (const double share : done.shares) expected += share;
    CHECK(std::abs(real(done.sum) - static_cast<double>(expected)) < 1e-12);
    const double least = least_of(margins);
    for (std::size_t i = 0; i < 20000; i += 97) {
        CHECK(std::abs(done.shares[i] / std::exp(least - margins[i]) - 1) < 1e-15);
        CHECK(done.cells[i] == static_cast<std::int32_t>(done.shares[i] * 0x1p30));
    }
}

TEST(threads_and_instruction_sets_give_the_same_bits) {
    const auto margins = random_margins(30011);
    const auto right = random_answers(30011);
    const VoteStep step = {right.data(), 0.25, -0.75};
    const Isa before = active_isa();
    use_isa(Isa::kPortable);
    const Weighed expected = weigh(margins, {}, 1, step, -12.0);
    const Verdict verdict = judge(expected, {}, right);
    for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512}) {
        if (isa > best_isa()) continue;  // a machine without it cannot run it
        use_isa(isa);
        for (const int n_threads : {1, 2, 5}) {
            const Weighed found = weigh(margins, {}, n_threads, step, -12.0);
            CHECK(found.margins == expected.margins);
            CHECK(found.shares == expected.shares);
            CHECK(found.cells == expected.cells);
            CHECK(are_same(found.sum, expected.sum));
            const Verdict again = judge(found, {}, right, n_threads);
            CHECK(are_same(again.wrong, verdict.wrong));
            CHECK(again.least_right == verdict.least_right);
            CHECK(again.least_wrong == verdict.least_wrong);
        }
    }
    use_isa(before);
}

TEST(a_count_is_a_repetition) {
    const std::vector<double> margins = {0.5, -1.25, 3.0};
    const Weighed counted = weigh(margins, {3, 1, 2}, 1);
    const Weighed repeated = weigh({0.5, 0.5, 0.5, -1.25, 3.0, 3.0}, {}, 1);
    CHECK(counted.sum.high == repeated.sum.high && counted.sum.low == repeated.sum.low);
    const Verdict some = judge(counted, {3, 1, 2}, {0, 1, 0});
    const Verdict same = judge(repeated, {}, {0, 0, 0, 1, 0, 0});
    CHECK(are_same(some.wrong, same.wrong));
    CHECK(some.least_right == -1.25 && some.least_wrong == 0.5);
}

TEST(a_vote_in_the_same_pass_is_a_vote_before_it) {
    const auto margins = random_margins(5003);
    const auto right = random_answers(5003);
    auto moved = margins;
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += right[i] != 0 ? 0.3 : -0.7;
    const Verdict verdict = judge(weigh(margins, {}, 1), {}, right);
    const double least = std::min(verdict.least_right + 0.3, verdict.least_wrong - 0.7);
    CHECK(least == least_of(moved));  // to the bit: adding keeps the order, rounding included
    const Weighed apart = weigh(moved, {}, 1);
    const Weighed together = weigh(margins, {}, 1, {right.data(), 0.3, -0.7}, least);
    CHECK(together.margins == moved);
    CHECK(together.shares == apart.shares);
    CHECK(are_same(together.sum, apart.sum));
}

TEST(cells_carry_the_signs_and_sums_do_not) {
    const auto margins = random_margins(3001);
    std::vector<std::int8_t> signs(3001);
    for (std::size_t i = 0; i < signs.size(); ++i) signs[i] = i % 3 == 0 ? -1 : 1;
    const Weighed plain = weigh(margins, {}, 1);
    const Weighed with_signs = weigh(margins, {}, 1, {}, kNaN, signs);
    CHECK(are_same(plain.sum, with_signs.sum));
    for (std::size_t i = 0; i < signs.size(); ++i) {
        CHECK(with_signs.cells[i] == signs[i] * plain.cells[i]);
    }
}

TEST(the_least_margin_of_nobody_is_infinite) {
    const Verdict verdict = judge(weigh({0.5, -1.25}, {}, 1), {}, {1, 1});
    CHECK(verdict.wrong.high == 0 && verdict.wrong.low == 0);
    CHECK(verdict.least_right == -1.25 && std::isinf(verdict.least_wrong));
}

TEST(rows_far_from_the_margin_weigh_nothing_and_harm_nothing) {
    const Weighed done = weigh({0.0, 1e5, 1e300}, {}, 1);
    CHECK(done.cells[0] == (1 << 30) && done.cells[1] == 0 && done.cells[2] == 0);
    CHECK(real(done.sum) == 1.0);
}

CHECK_MAIN
