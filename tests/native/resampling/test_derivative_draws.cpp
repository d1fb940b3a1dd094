#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <vector>

#include "native/base/random.hpp"
#include "native/resampling/derivative_draws.hpp"
#include "native/resampling/size_search.hpp"
#include "tests/native/check.hpp"

using namespace spinney;

namespace {

std::vector<float> gradients_of(std::size_t n_rows) {
    std::vector<float> gradients(n_rows);
    for (std::size_t i = 0; i < n_rows; ++i) {
        const double unit = random_unit(3, Stream::kNodes, i);
        gradients[i] = static_cast<float>((unit - 0.5) / (1.001 - unit));
    }
    return gradients;
}

double expected_weight(const DrawnRows& drawn) {
    double sum = 0.0;
    for (const std::uint32_t row : drawn.rows) sum += double{drawn.factors[row]};
    return sum;
}

}  // namespace

TEST(places_in_the_order_of_sizes_are_those_of_sorting) {
    const std::vector<float> gradients = gradients_of(5000);
    std::vector<float> sizes(gradients.size());
    std::transform(gradients.begin(), gradients.end(), sizes.begin(),
                   [](float g) { return std::abs(g); });
    const DrawCandidates all{sizes.size(), {}, {}};
    const SizedRows rows(all, sizes, 3);
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    for (const std::int64_t room : {0, 1, 17, 2500, 4999}) {
        const auto place =
            rows.search([&](const SizeSums& above, const SizeSums& some, std::uint32_t) {
                return above.weight + some.weight > room;
            });
        CHECK(std::bit_cast<float>(place.key) == sizes[static_cast<std::size_t>(room)]);
        CHECK(place.above.weight <= room && place.above.weight + place.at.weight > room);
    }
}

TEST(threads_change_no_draw_and_inverse_probabilities_add_up_to_all_rows) {
    const std::vector<float> gradients = gradients_of(200'000);
    const DrawDerivatives derivatives{gradients, {}, {}};
    const DrawCandidates all{gradients.size(), {}, {}};
    const auto draw = [&](bool one_side, int n_threads) {
        return one_side ? draw_one_side(derivatives, all, 0.1, 0.3, 5, n_threads)
                        : draw_minimal_variance(derivatives, all, 0.3, 0.3, 5, n_threads);
    };
    for (const bool one_side : {false, true}) {
        const DrawnRows one = draw(one_side, 1);
        const DrawnRows four = draw(one_side, 4);
        CHECK(one.rows == four.rows && one.factors == four.factors);
        CHECK(std::abs(static_cast<double>(one.rows.size()) - 60'000.0) < 1'000.0);
        CHECK(std::abs(expected_weight(one) - 200'000.0) < 4'000.0);
    }
    CHECK(draw_poisson(all, 0.5, 5, 1) == draw_poisson(all, 0.5, 5, 4));
    CHECK(bayesian_factors(50'000, 0.5, 1.0, 5, 1) == bayesian_factors(50'000, 0.5, 1.0, 5, 4));
}

CHECK_MAIN
