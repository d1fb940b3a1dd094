/// Weights of rows under exponential loss: exp(-margin), summed so that order is nothing.
#pragma once

#include <cstdint>
#include <limits>
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

/// What a vote adds to the margins of rows.
struct VoteStep {
    const std::uint8_t* right = nullptr;  ///< 0 or 1 per row; null: margins stay as they are
    double if_right = 0.0;
    double if_wrong = 0.0;
};

/// Rows of one call. Shares are exp(least - margin) * factor; cells are their first 30 bits with
/// the sign of the row.
struct WeighTask {
    double* margins;  ///< moved by the vote, if there is one
    VoteStep step;
    const double* factors;       ///< in [0, 1], multiply the shares; null: 1
    const std::int64_t* counts;  ///< repetitions of the row, for the sum; null: 1
    const std::int8_t* signs;    ///< 1 or -1 per row; null where there are no cells
    double least;                ///< the smallest margin of all rows, moved: the share there is 1
    double* shares;              ///< out
    std::int32_t* cells;         ///< out; null: nobody asks for them
    std::size_t n;
};

/// Moves the margins, fills the outputs of all rows and sums the shares, with their repetitions:
/// one pass over the rows. The same bits for every number of threads and instruction set; a row
/// three times is a row of 3 repetitions.
ShareSum weigh_rows(const WeighTask& task, int n_threads);

/// A vote, and the rows as they were weighed before it.
struct JudgeTask {
    const double* shares;
    const std::int64_t* counts;  ///< null: 1
    const std::uint8_t* right;   ///< 0 or 1 per row
    const double* margins;       ///< null: nobody asks for the least of them
    std::size_t n;
};

/// Weight of the rows that a vote gets wrong, and the least margins of both kinds of rows, infinite
/// where there are none. Adding a number keeps what is least, so the least margin after the vote
/// follows without another pass.
struct Verdict {
    ShareSum wrong;
    double least_right = std::numeric_limits<double>::infinity();
    double least_wrong = std::numeric_limits<double>::infinity();

    void add(const Verdict& other);
};

Verdict judge_vote(const JudgeTask& task, int n_threads);

/// A kernel passes over its rows several times; so many stay in the nearest cache. None gets more.
inline constexpr std::size_t kPiece = 1024;
using WeighKernel = ShareSum(const WeighTask& task);
WeighKernel weigh_portable, weigh_avx2, weigh_avx512;
using JudgeKernel = Verdict(const JudgeTask& task);
JudgeKernel judge_portable, judge_avx2, judge_avx512;

}  // namespace spinney
