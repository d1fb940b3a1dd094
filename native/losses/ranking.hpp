/// Learning to rank: rows of a query are compared with each other, never with those of another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "native/losses/derivatives.hpp"

namespace spinney {

/// What a pair of rows of different relevance is worth.
enum class RankingKind {
    kNdcg,      ///< the change of NDCG if they changed places
    kMap,       ///< the change of average precision
    kPairwise,  ///< one, for all pairs
};

struct RankingLoss {
    RankingKind kind = RankingKind::kNdcg;
    /// A pair counts if one of its rows is among so many first ones; pairwise looks at all.
    std::size_t truncation = 30;
    /// Whether pairs far apart count less, and queries of many pairs do not outweigh the others.
    bool normalize = true;
};

/// Throws Failure(kInvalidParameter) for a name that does not exist.
RankingKind parse_ranking(std::string_view name);

/// A number for every row that depends on its bins alone, (n_rows, n_features): it puts rows of
/// equal scores into an order that has nothing to do with the order of the table.
std::vector<std::uint64_t> tie_keys(std::span<const std::uint8_t> bins, std::size_t n_rows,
                                    int n_threads);

/// The rows of some queries. Each query is worked on by one thread, in the order of its rows by
/// score; equal scores by their keys, then by label, then by number. So neither the threads nor
/// the order of the table change a bit.
class RankedQueries {
  public:
    /// Query q has rows[first[q]] to rows[first[q + 1] - 1]; labels, gains and keys are of all rows
    /// of the table, also of those in no query.
    RankedQueries(std::span<const double> labels, std::span<const double> gains,
                  std::span<const std::uint64_t> keys, std::span<const std::uint32_t> rows,
                  std::span<const std::int64_t> first);

    /// Gradients and hessians of all rows by their scores; 0 for rows in no query. A query with a
    /// score that is not finite has NaN.
    DerivativeLimits fill_derivatives(const RankingLoss& loss, std::span<const double> scores,
                                      std::span<float> gradients, std::span<float> hessians,
                                      int n_threads) const;

    /// NDCG or average precision of each query, of its first k places (0: all); of rows with equal
    /// scores the mean over all their orders. 1 where every order is a best one.
    std::vector<double> measure(RankingKind metric, std::size_t k, std::span<const double> scores,
                                int n_threads) const;

    std::size_t n_queries() const { return first_.size() - 1; }

  private:
    struct Room;
    struct Query;

    Query query(std::size_t number) const;
    void arrange(const Query& query, std::span<const double> scores, bool by_label,
                 Room& room) const;
    void derive(const RankingLoss& loss, const Query& query, Room& room) const;
    double ideal(const Query& query, std::size_t k) const;
    double ndcg(const Query& query, std::size_t k, const Room& room) const;
    double average_precision(const Query& query, std::size_t k, const Room& room) const;
    template <class Work>
    void for_queries(int n_threads, const Work& work) const;

    std::size_t n_rows_;
    std::vector<std::uint32_t> rows_;
    std::vector<std::size_t> first_;
    std::vector<double> labels_;  ///< in the order of rows_, as are gains and keys
    std::vector<double> gains_;
    std::vector<std::uint64_t> keys_;
    std::vector<double> best_gains_;   ///< of each query, from the largest on
    std::vector<double> discounts_;    ///< of the places of the longest query
    std::vector<std::size_t> shares_;  ///< queries shares_[i] to shares_[i + 1] - 1 are one task
};

}  // namespace spinney
