#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "native/base/random.hpp"
#include "tests/native/check.hpp"

using spinney::random_below;
using spinney::random_bits;
using spinney::random_unit;
using spinney::Stream;

namespace {

constexpr std::uint64_t kMax = ~std::uint64_t{0};
constexpr std::array kStreams = {Stream::kBinningSample, Stream::kRows, Stream::kFeatures};

/// Pearson's statistic, standardised: about normal(0, 1) when all cells are equally likely.
double standard_chi_square(const std::vector<int>& counts) {
    double total = 0;
    for (const int count : counts) {
        total += count;
    }
    const double expected = total / static_cast<double>(counts.size());
    double statistic = 0;
    for (const int count : counts) {
        statistic += (count - expected) * (count - expected) / expected;
    }
    const double freedom = static_cast<double>(counts.size()) - 1;
    return (statistic - freedom) / std::sqrt(2 * freedom);
}

/// The definition by schoolbook multiplication in base 2^16.
std::uint64_t slow_high_product(std::uint64_t a, std::uint64_t b) {
    std::array<std::uint64_t, 9> digits{};
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
            digits[i + j] += ((a >> (16 * i)) & 0xFFFF) * ((b >> (16 * j)) & 0xFFFF);
        }
    }
    for (std::size_t i = 0; i < 8; ++i) {
        digits[i + 1] += digits[i] >> 16;
        digits[i] &= 0xFFFF;
    }
    return digits[4] | digits[5] << 16 | digits[6] << 32 | digits[7] << 48;
}

}  // namespace

// Everything is usable at compile time.
static_assert(random_bits(0, Stream::kBinningSample, 0) == 0x7DB0D7E37B1DBFC6U);
static_assert(random_unit(0, Stream::kBinningSample, 0) < 1.0);
static_assert(random_below(0, Stream::kBinningSample, 0, 1000) == 490);

TEST(mixers_give_the_published_values) {
    // splitmix64 from state 1234567, as printed in many implementations' tests.
    constexpr std::array<std::uint64_t, 5> kOutputs = {6457827717110365317U, 3203168211198807973U,
                                                       9817491932198370423U, 4593380528125082431U,
                                                       16408922859458223821U};
    std::uint64_t state = 1234567;
    for (const std::uint64_t output : kOutputs) {
        state += spinney::random_detail::kGolden;
        CHECK(spinney::random_detail::splitmix_mix(state) == output);
    }
    CHECK(spinney::random_detail::murmur_mix(0) == 0);
    CHECK(spinney::random_detail::murmur_mix(1) == 0xB456BCFC34C2CB2CU);
}

TEST(draws_are_fixed_for_ever) {
    // From a twin in Python's unbounded integers. A change here changes every seeded model.
    CHECK(random_bits(0, Stream::kBinningSample, 0) == 0x7DB0D7E37B1DBFC6U);
    CHECK(random_bits(0, Stream::kBinningSample, 1) == 0x71975A398E29C624U);
    CHECK(random_bits(0, Stream::kRows, 0) == 0x18F73D46C58B8088U);
    CHECK(random_bits(1, Stream::kBinningSample, 0) == 0x891AC654E49CB8F0U);
    CHECK(random_bits(42, Stream::kFeatures, 1000000) == 0x1B459EB7BEA06A1AU);
    CHECK(random_bits(kMax, Stream::kRows, kMax) == 0xAFFE4DFF292EB9F8U);
    CHECK(random_unit(0, Stream::kBinningSample, 0) == 0.49097966483815625);
    CHECK(random_unit(kMax, Stream::kRows, kMax) == 0.6874741313887921);
    CHECK(random_below(42, Stream::kFeatures, 1000000, 1000) == 106);
}

TEST(streams_keep_their_numbers) {
    CHECK(static_cast<int>(Stream::kBinningSample) == 1);
    CHECK(static_cast<int>(Stream::kRows) == 2);
    CHECK(static_cast<int>(Stream::kFeatures) == 3);
}

TEST(unit_draws_lie_in_the_half_open_interval_and_use_53_bits) {
    std::uint64_t seen = 0;
    for (std::uint64_t index = 0; index < 10000; ++index) {
        const double unit = random_unit(3, Stream::kRows, index);
        CHECK(unit >= 0.0 && unit < 1.0);
        const double scaled = unit * 0x1p53;
        CHECK(scaled == std::floor(scaled));
        seen |= static_cast<std::uint64_t>(scaled);
    }
    CHECK(seen == (std::uint64_t{1} << 53) - 1);
    CHECK(static_cast<double>(kMax >> 11) * 0x1p-53 < 1.0);  // the largest possible draw
}

TEST(draws_below_n_stay_below_n_and_reach_all_values) {
    for (const std::uint64_t n : {1UL, 2UL, 3UL, 7UL, 100UL}) {
        std::set<std::uint64_t> values;
        for (std::uint64_t index = 0; index < 5000; ++index) {
            values.insert(random_below(9, Stream::kFeatures, index, n));
        }
        CHECK(values.size() == n && *values.rbegin() == n - 1);
    }
    for (std::uint64_t index = 0; index < 1000; ++index) {
        CHECK(random_below(9, Stream::kRows, index, kMax) < kMax);
        CHECK(random_below(9, Stream::kRows, index, 0) == 0);
    }
}

TEST(high_product_equals_its_slow_twin) {
    for (std::uint64_t index = 0; index < 2000; ++index) {
        const std::uint64_t a = random_bits(1, Stream::kRows, index);
        const std::uint64_t b = random_bits(2, Stream::kRows, index) >> (index % 64);
        CHECK(spinney::random_detail::high_product(a, b) == slow_high_product(a, b));
    }
    CHECK(spinney::random_detail::high_product(kMax, kMax) == kMax - 1);
}

TEST(units_are_uniform_along_indices_seeds_and_their_pairs) {
    // 4.5 standard deviations: about 1 in 10^5 for a perfect generator; seeds are fixed.
    constexpr int kDraws = 200000;
    for (const Stream stream : kStreams) {
        std::vector<int> by_index(1000), by_seed(1000), pairs(32 * 32), remainders(77);
        for (std::uint64_t i = 0; i < kDraws; ++i) {
            const auto cell = [](double unit, int n) { return static_cast<std::size_t>(unit * n); };
            ++by_index[cell(random_unit(2024, stream, i), 1000)];
            ++by_seed[cell(random_unit(i, stream, 5), 1000)];
            ++pairs[cell(random_unit(7, stream, i), 32) * 32 +
                    cell(random_unit(7, stream, i + 1), 32)];
            ++remainders[random_below(11, stream, i, 77)];
        }
        CHECK(std::abs(standard_chi_square(by_index)) < 4.5);
        CHECK(std::abs(standard_chi_square(by_seed)) < 4.5);
        CHECK(std::abs(standard_chi_square(pairs)) < 4.5);
        CHECK(std::abs(standard_chi_square(remainders)) < 4.5);
    }
}

TEST(streams_and_neighbouring_seeds_are_independent) {
    std::vector<int> streams(32 * 32), seeds(32 * 32);
    for (std::uint64_t i = 0; i < 200000; ++i) {
        ++streams[random_below(5, Stream::kRows, i, 32) * 32 +
                  random_below(5, Stream::kFeatures, i, 32)];
        ++seeds[random_below(5, Stream::kRows, i, 32) * 32 + random_below(6, Stream::kRows, i, 32)];
    }
    CHECK(std::abs(standard_chi_square(streams)) < 4.5);
    CHECK(std::abs(standard_chi_square(seeds)) < 4.5);
}

TEST(flipping_any_input_bit_flips_half_of_the_output_bits) {
    constexpr int kTrials = 2000;  // a mean of kTrials * 64 fair coins: deviation 0.045
    for (int bit = 0; bit < 64; ++bit) {
        const std::uint64_t flip = std::uint64_t{1} << bit;
        double by_seed = 0;
        double by_index = 0;
        for (std::uint64_t i = 0; i < kTrials; ++i) {
            const std::uint64_t base = random_bits(i, Stream::kRows, i * 3);
            by_seed += std::popcount(base ^ random_bits(i ^ flip, Stream::kRows, i * 3));
            by_index += std::popcount(base ^ random_bits(i, Stream::kRows, (i * 3) ^ flip));
        }
        CHECK(std::abs(by_seed / kTrials - 32) < 0.6);
        CHECK(std::abs(by_index / kTrials - 32) < 0.6);
    }
}

TEST(indices_of_one_stream_never_repeat_a_draw) {
    std::set<std::uint64_t> draws;
    for (std::uint64_t index = 0; index < 100000; ++index) {
        draws.insert(random_bits(0, Stream::kRows, index));
    }
    CHECK(draws.size() == 100000);
}

CHECK_MAIN
