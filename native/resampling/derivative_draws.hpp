/// Rows of a round of boosting, drawn by the size of their derivatives or by chance alone.
///
/// Whether a row is drawn is a function of the seed, of its number and of sums of whole numbers:
/// not of threads, and not of the order of rows beyond ties.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spinney {

/// The rows that may be drawn. Weights are whole and add up to less than 2^33.
struct DrawCandidates {
    std::size_t n_rows = 0;                 ///< of the table
    std::span<const std::uint32_t> rows;    ///< increasing; empty: all
    std::span<const std::int64_t> weights;  ///< of all rows; empty: 1 each

    std::size_t size() const { return rows.empty() ? n_rows : rows.size(); }
    std::uint32_t row(std::size_t i) const {
        return rows.empty() ? static_cast<std::uint32_t>(i) : rows[i];
    }
    std::int64_t weight(std::uint32_t row) const { return weights.empty() ? 1 : weights[row]; }
};

/// Derivatives of all rows, output behind output.
struct DrawDerivatives {
    std::span<const float> gradients;
    std::span<const float> hessians;  ///< empty: all 1
    std::span<const float> factors;   ///< of rows, multiply both; empty: all 1
};

/// Rows of a round and what their derivatives are multiplied by.
struct DrawnRows {
    std::vector<std::uint32_t> rows;  ///< increasing; at least one
    std::vector<float> factors;       ///< of all rows of the table; 1 where a row was not drawn
};

/// One-side sampling (Ke et al. 2017): rows with the largest sum of |gradient| over the outputs
/// stay, as many as weigh no more than top_rate of all; ties by row number. Every other row stays
/// with one probability, such that `share` of the weight is expected to, and is multiplied by its
/// inverse. 0 <= top_rate < share < 1.
DrawnRows draw_one_side(const DrawDerivatives& derivatives, const DrawCandidates& candidates,
                        double top_rate, double share, std::uint64_t seed, int n_threads);

/// Minimal variance sampling (Ibragimov and Gusev 2019): a row stays with probability
/// min(1, s / limit), where s^2 is the sum over the outputs of g^2 + lambda h^2, and is multiplied
/// by the inverse. `limit` is such that `share` of the weight is expected to stay; lambda is
/// (step_share * sum |g| / sum h)^2, the square of a step of leaves.
DrawnRows draw_minimal_variance(const DrawDerivatives& derivatives,
                                const DrawCandidates& candidates, double share, double step_share,
                                std::uint64_t seed, int n_threads);

/// How often each row of the table counts: a Poisson number with mean share * weight; 0 for rows
/// that are no candidates. At least one row counts.
std::vector<std::int64_t> draw_poisson(const DrawCandidates& candidates, double share,
                                       std::uint64_t seed, int n_threads);

/// A factor for each of n rows: an exponential variate to the power of `temperature`, times
/// `scale`.
std::vector<float> bayesian_factors(std::size_t n_rows, double temperature, double scale,
                                    std::uint64_t seed, int n_threads);

}  // namespace spinney
