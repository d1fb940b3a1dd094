/// Weights of rows under exponential loss: exp(-margin), summed so that order is nothing.
#pragma once

#include <cstdint>
#include <span>

namespace spinney {

/// A sum of shares in units of 2^-60: 2^30 * high + low. Exact for fewer than 2^31 repetitions.
struct ShareSum {
    std::int64_t high = 0;
    std::int64_t low = 0;

    void add(const ShareSum& other) {
        high += other.high;
        low += other.low;
    }
};

/// Rows of one call.
struct WeighTask {
    const double* margins;
    const double* factors;       ///< in [0, 1], multiply the shares; null: 1
    const std::int64_t* counts;  ///< repetitions of the row; null: 1
    double least;                ///< the smallest margin of all rows: the share there is 1
    double* shares;              ///< out: exp(least - margin) * factor
    std::int64_t* whole;         ///< out: repetitions times the first 30 bits of the share
    std::size_t n;
};

/// Fills the outputs of all rows and sums the shares, with their repetitions. The same bits for
/// every number of threads and instruction set; a row three times is a row of 3 repetitions.
ShareSum weigh_rows(const WeighTask& task, int n_threads);

/// The sum over some rows only; chosen: 0 or 1 per row.
ShareSum sum_shares(std::span<const double> shares, std::span<const std::int64_t> counts,
                    std::span<const std::uint8_t> chosen);

/// Adds one of two steps to every margin; right: 0 or 1 per row. Returns the least margin then.
double move_margins(std::span<double> margins, std::span<const std::uint8_t> right, double if_right,
                    double if_wrong);

using WeighKernel = ShareSum(const WeighTask& task);
WeighKernel weigh_portable, weigh_avx2, weigh_avx512;

}  // namespace spinney
