#include "native/resampling/derivative_draws.hpp"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <numeric>

#include "native/base/elementary.hpp"
#include "native/base/parallel.hpp"
#include "native/base/random.hpp"
#include "native/resampling/size_search.hpp"

namespace spinney {
namespace {

constexpr std::size_t kBlock = 1 << 14;
/// Means of Poisson numbers drawn at once: larger ones are sums, so that e^-mean stays a number.
constexpr double kMostMean = 16.0;

/// of_row(row) for every candidate, 0 elsewhere.
template <class OfRow>
std::vector<float> of_candidates(const DrawCandidates& candidates, int n_threads,
                                 const OfRow& of_row) {
    std::vector<float> numbers(candidates.n_rows, 0.0F);
    parallel_blocks(n_threads, candidates.size(), kBlock, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t row = candidates.row(i);
            numbers[row] = std::min(static_cast<float>(of_row(row)), FLT_MAX);
        }
    });
    return numbers;
}

/// Sum over the outputs of of_number(derivative), times the factor of the row.
template <class OfNumber>
double over_outputs(std::span<const float> numbers, const DrawCandidates& candidates,
                    std::uint32_t row, const OfNumber& of_number) {
    double sum = 0.0;
    for (std::size_t i = row; i < numbers.size(); i += candidates.n_rows) {
        sum += of_number(double{numbers[i]});
    }
    return sum;
}

double factor_of(const DrawDerivatives& derivatives, std::uint32_t row) {
    return derivatives.factors.empty() ? 1.0 : double{derivatives.factors[row]};
}

/// Draws every candidate with its probability; the factor is the inverse. A row of probability 1 is
/// always drawn; where no row is, the one whose bits are smallest.
template <class Probability>
DrawnRows draw_each(const DrawCandidates& candidates, std::uint64_t seed, int n_threads,
                    const Probability& probability) {
    const std::size_t n = candidates.size();
    DrawnRows drawn;
    drawn.factors.assign(candidates.n_rows, 1.0F);
    std::vector<std::vector<std::uint32_t>> of_block((n + kBlock - 1) / kBlock);
    parallel_blocks(n_threads, n, kBlock, [&](std::size_t begin, std::size_t end) {
        std::vector<std::uint32_t>& own = of_block[begin / kBlock];
        own.reserve(end - begin);
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t row = candidates.row(i);
            const double p = probability(row);
            if (p >= 1.0) {
                own.push_back(row);
                continue;
            }
            const auto limit = static_cast<std::uint64_t>(p * 0x1p64);
            if (random_bits(seed, Stream::kRows, row) >= limit) continue;
            own.push_back(row);
            drawn.factors[row] = static_cast<float>(1.0 / p);
        }
    });
    for (const auto& some : of_block) {
        drawn.rows.insert(drawn.rows.end(), some.begin(), some.end());
    }
    if (!drawn.rows.empty()) return drawn;
    std::uint32_t best = candidates.row(0);
    for (std::size_t i = 1; i < n; ++i) {
        const std::uint32_t row = candidates.row(i);
        if (random_bits(seed, Stream::kRows, row) < random_bits(seed, Stream::kRows, best)) {
            best = row;
        }
    }
    drawn.rows = {best};
    return drawn;
}

/// The sum over all candidates and outputs of |derivative|, times factors and weights; no numbers:
/// all are 1. Exact but for a grid of 2^-62 of what all rows could add up to.
double exact_sum(std::span<const float> numbers, const DrawDerivatives& derivatives,
                 const DrawCandidates& candidates, int n_threads) {
    const auto n_outputs = static_cast<double>(derivatives.gradients.size() / candidates.n_rows);
    const auto of_row = [&](std::uint32_t row) {
        return factor_of(derivatives, row) *
               (numbers.empty() ? n_outputs : over_outputs(numbers, candidates, row, [](double x) {
                   return magnitude_of(x);
               }));
    };
    const std::size_t n = candidates.size();
    std::vector<double> most((n + kBlock - 1) / kBlock, 0.0);
    std::vector<std::int64_t> sums(most.size(), 0);
    parallel_blocks(n_threads, n, kBlock, [&](std::size_t begin, std::size_t end) {
        double largest = 0.0;
        std::int64_t weight = 0;
        for (std::size_t i = begin; i < end; ++i) {
            largest = std::max(largest, of_row(candidates.row(i)));
            weight += candidates.weight(candidates.row(i));
        }
        most[begin / kBlock] = largest;
        sums[begin / kBlock] = weight;
    });
    const double largest = *std::max_element(most.begin(), most.end());
    const std::int64_t weight = std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
    int of_size = 0;
    std::frexp(largest, &of_size);
    const int room = 62 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(weight)));
    const double per_step = std::ldexp(1.0, room - of_size);
    parallel_blocks(n_threads, n, kBlock, [&](std::size_t begin, std::size_t end) {
        std::int64_t sum = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t row = candidates.row(i);
            sum += candidates.weight(row) * static_cast<std::int64_t>(of_row(row) * per_step);
        }
        sums[begin / kBlock] = sum;
    });
    const std::int64_t sum = std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
    return static_cast<double>(sum) / per_step;
}

/// The step of one leaf of all rows, if no two gradients had different signs.
double largest_step(const DrawDerivatives& derivatives, const DrawCandidates& candidates,
                    int n_threads) {
    return exact_sum(derivatives.gradients, derivatives, candidates, n_threads) /
           exact_sum(derivatives.hessians, derivatives, candidates, n_threads);
}

/// A Poisson number: how many terms of e^-mean (1 + mean + mean^2/2 + ...) a uniform one passes.
std::int64_t poisson_number(double mean, double none, double uniform) {
    double term = none;
    double sum = none;
    std::int64_t count = 0;
    while (uniform >= sum && term > 0x1p-80) {
        ++count;
        term *= mean / static_cast<double>(count);
        sum += term;
    }
    return count;
}

}  // namespace

DrawnRows draw_one_side(const DrawDerivatives& derivatives, const DrawCandidates& candidates,
                        double top_rate, double share, std::uint64_t seed, int n_threads) {
    const auto size = [&](std::uint32_t row) {
        return factor_of(derivatives, row) * over_outputs(derivatives.gradients, candidates, row,
                                                          [](double g) { return magnitude_of(g); });
    };
    const SizedRows rows(candidates, of_candidates(candidates, n_threads, size), n_threads);
    const auto total = static_cast<double>(rows.total().weight);
    const auto room = static_cast<std::int64_t>(top_rate * total);
    const auto place = rows.search([&](const SizeSums& above, const SizeSums& some, std::uint32_t) {
        return above.weight + some.weight > room;
    });
    std::int64_t on_top = place.above.weight;
    std::uint32_t tie_end = 0;  // rows of the key before it are on top
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const std::uint32_t row = candidates.row(i);
        if (rows.key(row) != place.key) continue;
        if (on_top + candidates.weight(row) > room) break;
        on_top += candidates.weight(row);
        tie_end = row + 1;
    }
    const double weight = static_cast<double>(on_top);
    const double of_others = (share * total - weight) / (total - weight);
    return draw_each(candidates, seed, n_threads, [&](std::uint32_t row) {
        const std::uint32_t key = rows.key(row);
        return key > place.key || (key == place.key && row < tie_end) ? 1.0 : of_others;
    });
}

DrawnRows draw_minimal_variance(const DrawDerivatives& derivatives,
                                const DrawCandidates& candidates, double share, double step_share,
                                std::uint64_t seed, int n_threads) {
    const auto square = [](double x) { return x * x; };
    const double step = step_share * largest_step(derivatives, candidates, n_threads);
    const double lambda = std::isfinite(step) ? step * step : 1.0;
    const auto n_outputs = static_cast<double>(derivatives.gradients.size() / candidates.n_rows);
    const auto size = [&](std::uint32_t row) {
        const double first = over_outputs(derivatives.gradients, candidates, row, square);
        const double second = derivatives.hessians.empty()
                                  ? n_outputs
                                  : over_outputs(derivatives.hessians, candidates, row, square);
        return factor_of(derivatives, row) * std::sqrt(first + lambda * second);
    };
    const SizedRows rows(candidates, of_candidates(candidates, n_threads, size), n_threads);
    if (rows.total().size == 0) {  // nothing is left to learn
        return draw_each(candidates, seed, n_threads, [&](std::uint32_t) { return share; });
    }
    const double wanted = share * static_cast<double>(rows.total().weight);
    // Were the limit the size of a key: the weight expected to stay. It falls as the limit rises.
    const auto place =
        rows.search([&](const SizeSums& above, const SizeSums& some, std::uint32_t key) {
            const std::int64_t below = rows.total().size - above.size - some.size;
            const double limit = double{std::bit_cast<float>(key)};
            return static_cast<double>(above.weight + some.weight) +
                       static_cast<double>(below) * rows.step() / limit >
                   wanted;
        });
    const std::int64_t below = rows.total().size - place.above.size;
    const double left = wanted - static_cast<double>(place.above.weight);
    const double limit = static_cast<double>(below) * rows.step() / left;
    // The others may all be smaller than a step of the grid; then one is as good as another.
    const double of_others = left / static_cast<double>(rows.total().weight - place.above.weight);
    return draw_each(candidates, seed, n_threads, [&](std::uint32_t row) {
        if (rows.key(row) > place.key) return 1.0;
        return below == 0 ? of_others : double{rows.size(row)} / limit;
    });
}

std::vector<std::int64_t> draw_poisson(const DrawCandidates& candidates, double share,
                                       std::uint64_t seed, int n_threads) {
    std::vector<std::int64_t> counts(candidates.n_rows, 0);
    const double none_of_one = exact_exp(-share);
    std::vector<std::uint8_t> any((candidates.size() + kBlock - 1) / kBlock, 0);
    parallel_blocks(n_threads, candidates.size(), kBlock, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t row = candidates.row(i);
            const double mean = share * static_cast<double>(candidates.weight(row));
            const double n_parts = std::ceil(mean / kMostMean);
            const double of_part = mean / n_parts;
            const double none = mean == share ? none_of_one : exact_exp(-of_part);
            counts[row] = poisson_number(of_part, none, random_unit(seed, Stream::kRows, row));
            if (counts[row] > 0) any[begin / kBlock] = 1;
            if (n_parts <= 1.0) continue;
            const std::uint64_t more = random_bits(seed, Stream::kRowFactors, row);
            for (std::uint64_t part = 1; part < static_cast<std::uint64_t>(n_parts); ++part) {
                const double uniform = random_unit(more, Stream::kRowFactors, part);
                counts[row] += poisson_number(of_part, none, uniform);
            }
            if (counts[row] > 0) any[begin / kBlock] = 1;
        }
    });
    if (std::find(any.begin(), any.end(), 1) == any.end()) counts[candidates.row(0)] = 1;
    return counts;
}

std::vector<float> bayesian_factors(std::size_t n_rows, double temperature, double scale,
                                    std::uint64_t seed, int n_threads) {
    std::vector<float> factors(n_rows);
    parallel_blocks(n_threads, n_rows, kBlock, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            // In (0, 1), so that the logarithm is neither 0 nor infinite.
            const double uniform = random_unit(seed, Stream::kRowFactors, row) + 0x1p-54;
            const double variate = -exact_log(uniform);
            const double power =
                temperature == 1.0 ? variate : exact_exp(temperature * exact_log(variate));
            factors[row] = static_cast<float>(power * scale);
        }
    });
    return factors;
}

}  // namespace spinney
