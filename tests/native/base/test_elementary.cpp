// Errors and order of our own exp and log, against long double (64 bits of mantissa on x86).

#include <cmath>
#include <limits>

#include "native/base/elementary.hpp"
#include "native/base/random.hpp"
#include "tests/native/check.hpp"

namespace {

constexpr std::uint64_t kPoints = 200'000;

double between(double low, double high, std::uint64_t i) {
    return low + (high - low) * spinney::random_unit(5, spinney::Stream::kRows, i);
}

double error_of_exp(double x) {
    const long double truth = std::exp(static_cast<long double>(x));
    return static_cast<double>(std::fabs((spinney::exact_exp(x) - truth) / truth));
}

double error_of_log(double x) {
    const long double truth = std::log(static_cast<long double>(x));
    return static_cast<double>(std::fabs((spinney::exact_log(x) - truth) / truth));
}

}  // namespace

TEST(exp_is_within_its_bound_everywhere) {
    double worst = 0.0;
    for (std::uint64_t i = 0; i < kPoints; ++i) {
        worst = std::fmax(worst, error_of_exp(between(-708.0, 709.0, i)));
        worst = std::fmax(worst, error_of_exp(between(-1.0, 1.0, i)));
        worst = std::fmax(worst, error_of_exp(std::ldexp(between(-1.0, 1.0, i), -30)));
    }
    CHECK(worst < 2e-16);
    CHECK(spinney::exact_exp(0.0) == 1.0 && spinney::exact_exp(-0.0) == 1.0);
}

TEST(exp_stays_at_its_ends_beyond_them) {
    const double infinity = std::numeric_limits<double>::infinity();
    CHECK(spinney::exact_exp(709.1) == spinney::exact_exp(709.0));
    CHECK(spinney::exact_exp(infinity) == spinney::exact_exp(709.0));
    CHECK(spinney::exact_exp(-708.1) == spinney::exact_exp(-708.0));
    CHECK(spinney::exact_exp(-infinity) == spinney::exact_exp(-708.0));
    CHECK(spinney::exact_exp(-708.0) > 0.0);
    CHECK(2.0 * spinney::exact_exp(709.0) < infinity);
    CHECK(std::isnan(spinney::exact_exp(std::nan(""))));
}

TEST(exp_rises_wherever_two_results_can_be_told_apart) {
    // Two errors of 2e-16 each: a step of 5e-16 shows. Steps cross the points where the power of
    // two changes, n ln(2) / 2.
    for (int n = -2000; n <= 2000; ++n) {
        double x = (0.5 * n) * 0.69314718055994531;
        if (x < -707.0 || x > 708.0) continue;
        x -= 50 * std::fmax(6e-16, std::fabs(x) * 3e-16);
        for (int i = 0; i < 100; ++i) {
            const double next = x + std::fmax(6e-16, std::fabs(x) * 3e-16);
            CHECK(spinney::exact_exp(x) <= spinney::exact_exp(next));
            x = next;
        }
    }
}

TEST(log_is_within_its_bound_everywhere) {
    double worst = 0.0;
    for (std::uint64_t i = 0; i < kPoints; ++i) {
        worst = std::fmax(worst, error_of_log(std::exp(between(-708.0, 709.0, i))));
        worst = std::fmax(worst, error_of_log(between(0.5, 2.0, i)));
        worst = std::fmax(worst, error_of_log(1.0 + std::ldexp(between(-1.0, 1.0, i), -20)));
        worst = std::fmax(worst, error_of_log(std::ldexp(between(0.001, 1.0, i), -1060)));
    }
    CHECK(worst < 4e-16);
    CHECK(spinney::exact_log(1.0) == 0.0);
    CHECK(error_of_log(std::numeric_limits<double>::denorm_min()) < 4e-16);
    CHECK(error_of_log(std::numeric_limits<double>::max()) < 4e-16);
}

TEST(log_rises_and_undoes_exp) {
    for (std::uint64_t i = 0; i < kPoints; ++i) {
        const double x = std::exp(between(-700.0, 700.0, i));
        const double step = 1e-15 * std::fmax(1.0, std::fabs(std::log(x)));
        CHECK(spinney::exact_log(x) < spinney::exact_log(x * (1.0 + step)));
        const double y = between(-700.0, 700.0, i);
        CHECK(std::fabs(spinney::exact_log(spinney::exact_exp(y)) - y) <=
              4e-16 * std::fabs(y) + 3e-16);
    }
}

CHECK_MAIN
