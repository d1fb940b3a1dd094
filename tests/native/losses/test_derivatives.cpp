// Kernels of derivatives: every length and instruction set against the formula, row by row.

#include <cmath>
#include <limits>
#include <vector>

#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/losses/derivatives.hpp"
#include "native/losses/point_losses.hpp"
#include "tests/native/check.hpp"

namespace {

std::vector<double> numbers(std::size_t n, std::uint64_t seed) {
    std::vector<double> values(n);
    for (std::size_t i = 0; i < n; ++i) {
        values[i] = 12.0 * spinney::random_unit(seed, spinney::Stream::kRows, i) - 6.0;
    }
    return values;
}

template <class Work>
void for_every_isa(const Work& work) {
    for (int isa = 0; isa <= static_cast<int>(spinney::best_isa()); ++isa) {
        spinney::use_isa(static_cast<spinney::Isa>(isa));
        work();
    }
}

/// The definition: classes in order, one row at a time.
void check_softmax_row(const double* scores, std::size_t n_classes, std::size_t code,
                       const float* gradients, const float* hessians, std::size_t stride) {
    double largest = scores[0];
    for (std::size_t k = 1; k < n_classes; ++k) largest = std::fmax(largest, scores[k * stride]);
    double sum = 0.0;
    for (std::size_t k = 0; k < n_classes; ++k) {
        sum += spinney::exact_exp(scores[k * stride] - largest);
    }
    const double inverse = 1.0 / sum;
    for (std::size_t k = 0; k < n_classes; ++k) {
        const double p = spinney::exact_exp(scores[k * stride] - largest) * inverse;
        CHECK(gradients[k * stride] == static_cast<float>(p - (k == code ? 1.0 : 0.0)));
        CHECK(hessians[k * stride] == static_cast<float>(p * (1.0 - p)));
    }
}

}  // namespace

TEST(every_length_gives_the_formula_and_its_limits) {
    const spinney::LossSpec spec{spinney::LossKind::kLogistic, 0.0};
    for_every_isa([&] {
        for (std::size_t n = 0; n < 600; n += 1 + n / 20) {
            const std::vector<double> scores = numbers(n, 1);
            std::vector<double> y(n);
            for (std::size_t i = 0; i < n; ++i) y[i] = static_cast<double>(i % 2);
            std::vector<float> gradients(n), hessians(n);
            const auto limits = spinney::fill_derivatives(spec, {.numbers = y, .codes = {}}, scores,
                                                          gradients, hessians, 1);
            float largest = 0.0F;
            for (std::size_t i = 0; i < n; ++i) {
                const spinney::LogisticLoss loss;
                const double e = spinney::exact_exp(loss.exponent(y[i], scores[i]));
                const auto at = loss.derivatives(y[i], scores[i], e);
                CHECK(gradients[i] == static_cast<float>(at.gradient));
                CHECK(hessians[i] == static_cast<float>(at.hessian));
                largest = std::fmax(largest, std::fabs(gradients[i]));
            }
            CHECK(limits.gradient == largest);
            // Classes in bytes change nothing.
            std::vector<std::uint8_t> codes(y.begin(), y.end());
            std::vector<float> again(n), second(n);
            const auto same = spinney::fill_derivatives(spec, {.numbers = {}, .codes = codes},
                                                        scores, again, second, 1);
            CHECK(again == gradients && second == hessians);
            CHECK(same.gradient == limits.gradient && same.hessian == limits.hessian);
        }
    });
}

TEST(softmax_of_every_length_and_width_gives_the_formula) {
    for_every_isa([&] {
        for (const std::size_t n : {0UL, 1UL, 5UL, 127UL, 128UL, 129UL, 1025UL}) {
            for (const std::size_t n_classes : {1UL, 2UL, 3UL, 17UL}) {
                const std::vector<double> scores = numbers(n * n_classes, 2);
                std::vector<std::int32_t> codes(n);
                for (std::size_t i = 0; i < n; ++i) {
                    codes[i] = static_cast<std::int32_t>(i % n_classes);
                }
                std::vector<float> gradients(scores.size()), hessians(scores.size());
                spinney::fill_softmax_derivatives(codes, scores, n_classes, gradients, hessians, 3);
                for (std::size_t i = 0; i < n; ++i) {
                    check_softmax_row(scores.data() + i, n_classes, i % n_classes,
                                      gradients.data() + i, hessians.data() + i, n);
                }
            }
        }
    });
}

TEST(hessians_may_be_left_out_only_where_all_are_one) {
    const std::vector<double> y(10, 1.0), scores(10, 0.0);
    std::vector<float> gradients(10), ones(10), none;
    const spinney::LossSpec squared{spinney::LossKind::kSquared, 0.0};
    CHECK(
        spinney::fill_derivatives(squared, {.numbers = y, .codes = {}}, scores, gradients, none, 1)
            .hessian == 1.0F);
    spinney::fill_derivatives(squared, {.numbers = y, .codes = {}}, scores, gradients, ones, 1);
    CHECK(ones == std::vector<float>(10, 1.0F));
    const spinney::LossSpec poisson{spinney::LossKind::kPoisson, 0.0};
    CHECK_THROWS(std::exception, spinney::fill_derivatives(poisson, {.numbers = y, .codes = {}},
                                                           scores, gradients, none, 1));
}

CHECK_MAIN
