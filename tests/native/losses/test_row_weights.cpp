#include <cmath>
#include <cstdint>
#include <vector>

#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/losses/row_weights.hpp"
#include "tests/native/check.hpp"

using namespace spinney;

namespace {

struct Weighed {
    std::vector<double> shares;
    std::vector<std::int64_t> whole;
    ShareSum sum;
};

Weighed weigh(const std::vector<double>& margins, const std::vector<std::int64_t>& counts,
              int n_threads) {
    Weighed done{
        std::vector<double>(margins.size()), std::vector<std::int64_t>(margins.size()), {}};
    double least = margins[0];
    for (const double margin : margins) least = margin < least ? margin : least;
    done.sum = weigh_rows({.margins = margins.data(),
                           .factors = nullptr,
                           .counts = counts.empty() ? nullptr : counts.data(),
                           .least = least,
                           .shares = done.shares.data(),
                           .whole = done.whole.data(),
                           .n = margins.size()},
                          n_threads);
    return done;
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
    double least = margins[0];
    for (const double margin : margins) least = margin < least ? margin : least;
    for (std::size_t i = 0; i < 20000; i += 97) {
        CHECK(std::abs(done.shares[i] / std::exp(least - margins[i]) - 1) < 1e-15);
        CHECK(done.whole[i] == static_cast<std::int64_t>(done.shares[i] * 0x1p30));
    }
}

TEST(threads_and_instruction_sets_give_the_same_bits) {
    const auto margins = random_margins(30011);
    const Isa before = active_isa();
    use_isa(Isa::kPortable);
    const Weighed expected = weigh(margins, {}, 1);
    for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512}) {
        if (isa > best_isa()) continue;  // a machine without it cannot run it
        use_isa(isa);
        for (const int n_threads : {1, 2, 5}) {
            const Weighed found = weigh(margins, {}, n_threads);
            CHECK(found.shares == expected.shares);
            CHECK(found.whole == expected.whole);
            CHECK(found.sum.high == expected.sum.high && found.sum.low == expected.sum.low);
        }
    }
    use_isa(before);
}

TEST(a_count_is_a_repetition) {
    const std::vector<double> margins = {0.5, -1.25, 3.0};
    const Weighed counted = weigh(margins, {3, 1, 2}, 1);
    const Weighed repeated = weigh({0.5, 0.5, 0.5, -1.25, 3.0, 3.0}, {}, 1);
    CHECK(counted.sum.high == repeated.sum.high && counted.sum.low == repeated.sum.low);
    CHECK(counted.whole[0] == 3 * repeated.whole[0]);
    const std::vector<std::uint8_t> chosen = {1, 0, 1};
    const std::vector<std::int64_t> counts = {3, 1, 2};
    const ShareSum some = sum_shares(counted.shares, counts, chosen);
    const std::vector<std::uint8_t> all_chosen = {1, 1, 1, 0, 1, 1};
    const ShareSum same = sum_shares(repeated.shares, {}, all_chosen);
    CHECK(some.high == same.high && some.low == same.low);
}

TEST(rows_far_from_the_margin_weigh_nothing_and_harm_nothing) {
    const Weighed done = weigh({0.0, 1e5, 1e300}, {}, 1);
    CHECK(done.whole[0] == (1 << 30) && done.whole[1] == 0 && done.whole[2] == 0);
    CHECK(real(done.sum) == 1.0);
}

CHECK_MAIN
