#include <algorithm>
#include <bit>

#include "native/base/failure.hpp"
#include "native/base/parallel.hpp"
#include "native/explain/answer_groups.hpp"
#include "native/explain/leaf_values.hpp"
#include "native/explain/path_walk.hpp"
#include "native/explain/shapley.hpp"

namespace spinney {
namespace {

/// Rows per task: at most these, because their answers are kept along the path; and not much
/// fewer, because every task asks the background anew.
constexpr std::size_t kMostRows = 2048;
constexpr std::size_t kFewestRows = 16;

/// What one of `own` players gets that the row alone satisfies, when the background alone
/// satisfies `other` ones: the share of orders in which it comes last of the own and before all
/// of the other, (own - 1)! other! / (own + other)!.
class OrderShares {
  public:
    double operator()(std::size_t own, std::size_t other) {
        while (rows_.size() <= own) rows_.emplace_back(1, 1.0 / static_cast<double>(rows_.size()));
        std::vector<double>& row = rows_[own];
        while (row.size() <= other) {
            const auto k = static_cast<double>(row.size());
            row.push_back(row.back() * k / (static_cast<double>(own) + k));
        }
        return row[other];
    }

  private:
    std::vector<std::vector<double>> rows_ = {{0.0}};  ///< of own = 0 nothing is asked
};

class Comparison {
  public:
    Comparison(const ForestArrays& forest, const Background& background, const Players& players,
               std::size_t most_rows)
        : forest_(forest),
          background_(background),
          n_players_(players.n),
          rows_(forest, most_rows + background.columns.n_rows, players),
          walk_(forest, rows_) {}

    /// Adds the values of n rows, which must be 0; values: those of the first of them.
    void explain(const Columns& columns, std::size_t first, std::size_t n, double* values) {
        n_background_ = background_.columns.n_rows;
        rows_.read(background_.columns, 0, n_background_);
        rows_.read(columns, first, n, n_background_);
        for (std::size_t tree = 0; tree < forest_.n_trees(); ++tree) {
            walk_.each_leaf(tree, [&](std::size_t leaf) {
                compare(n);
                add(LeafValues(forest_, tree, leaf), n, values);
            });
        }
    }

  private:
    /// Fills effects_ for every group of rows: what each player of the path adds, for a leaf of 1.
    void compare(std::size_t n) {
        const std::size_t d = walk_.size();
        there_.build(walk_.meets(), d, 0, n_background_);
        here_.build(walk_.meets(), d, n_background_, n);
        weight_.assign(there_.size(), 0.0);
        for (std::size_t i = 0; i < n_background_; ++i) {
            weight_[there_.group(i)] += background_.share[i];
        }
        effects_.assign(here_.size() * d, 0.0);
        for (std::size_t own = 0; own < here_.size(); ++own) {
            for (std::size_t other = 0; other < there_.size(); ++other) {
                add_pair(here_.answers(own), there_.answers(other), weight_[other],
                         effects_.data() + own * d);
            }
        }
    }

    /// A mixture of the two rows reaches the leaf if it takes every player that only one of them
    /// satisfies from that one; a player that neither satisfies keeps all mixtures away.
    void add_pair(std::span<const std::uint64_t> own, std::span<const std::uint64_t> other,
                  double weight, double* effects) {
        std::size_t n_own = 0;
        std::size_t n_other = 0;
        std::size_t n_either = 0;
        for (std::size_t w = 0; w < own.size(); ++w) {
            n_either += static_cast<std::size_t>(std::popcount(own[w] | other[w]));
            n_own += static_cast<std::size_t>(std::popcount(own[w] & ~other[w]));
            n_other += static_cast<std::size_t>(std::popcount(other[w] & ~own[w]));
        }
        if (n_either < walk_.size()) return;
        const double gain = n_own == 0 ? 0.0 : weight * order_share_(n_own, n_other);
        const double loss = n_other == 0 ? 0.0 : weight * order_share_(n_other, n_own);
        for (std::size_t w = 0; w < own.size(); ++w) {
            for (std::uint64_t rest = own[w] & ~other[w]; rest != 0; rest &= rest - 1) {
                effects[64 * w + static_cast<std::size_t>(std::countr_zero(rest))] += gain;
            }
            for (std::uint64_t rest = other[w] & ~own[w]; rest != 0; rest &= rest - 1) {
                effects[64 * w + static_cast<std::size_t>(std::countr_zero(rest))] -= loss;
            }
        }
    }

    void add(const LeafValues& leaf, std::size_t n, double* values) const {
        const std::size_t d = walk_.size();
        const std::size_t width = n_players_ * forest_.n_outputs;
        for (std::size_t i = 0; i < n; ++i) {
            const double* effects = effects_.data() + here_.group(i) * d;
            double* to = values + i * width + leaf.first_output();
            for (std::size_t j = 0; j < d; ++j) {
                double* player = to + rows_.given(walk_.players()[j]) * forest_.n_outputs;
                for (std::size_t k = 0; k < leaf.size(); ++k) player[k] += leaf[k] * effects[j];
            }
        }
    }

    const ForestArrays& forest_;
    const Background& background_;
    std::size_t n_players_;
    std::size_t n_background_ = 0;
    FeatureRows rows_;
    PathWalk walk_;
    AnswerGroups there_;  ///< of the background
    AnswerGroups here_;   ///< of the rows to explain
    OrderShares order_share_;
    std::vector<double> weight_;
    std::vector<double> effects_;
};

}  // namespace

void interventional_values(const ForestArrays& forest, const Columns& columns,
                           const Background& background, const Players& players,
                           std::span<double> values, int n_threads) {
    if (background.share.size() != background.columns.n_rows) {
        throw Failure(FailureKind::kInvalidInput, "the background has another number of shares");
    }
    const std::size_t width = players.n * forest.n_outputs;
    const auto threads = static_cast<std::size_t>(std::max(1, n_threads));
    // What a row gets does not depend on its company, so tasks may be of any size.
    const std::size_t fair = (columns.n_rows + threads - 1) / threads;
    const std::size_t task_rows = std::clamp(fair, kFewestRows, kMostRows);
    parallel_blocks(n_threads, columns.n_rows, task_rows, [&](std::size_t begin, std::size_t end) {
        Comparison comparison(forest, background, players, end - begin);
        comparison.explain(columns, begin, end - begin, values.data() + begin * width);
    });
}

}  // namespace spinney
