#include "native/explain/shapley.hpp"

#include <algorithm>

#include "native/base/parallel.hpp"
#include "native/explain/kernel_choice.hpp"
#include "native/explain/leaf_values.hpp"
#include "native/explain/path_walk.hpp"
#include "native/explain/quadrature.hpp"

namespace spinney {
namespace {

/// Rows that walk together: their answers along a path stay in the first-level cache.
constexpr std::size_t kBlockRows = 32;
constexpr std::size_t kTaskRows = 4 * kBlockRows;

/// Rules for the numbers of different players that paths have, each made when first needed: to
/// look for them beforehand would take as long as explaining a row.
class Rules {
  public:
    Points of_path(std::size_t d) {
        const std::size_t n_points = points_for(d);
        if (rules_.size() <= n_points) rules_.resize(n_points + 1);
        Quadrature& rule = rules_[n_points];
        if (rule.at.empty()) rule = gauss_legendre(n_points);
        return {rule.at.data(), rule.weight.data(), rule.at.size()};
    }

  private:
    /// n points are exact up to degree 2n - 1, and the product of the others has degree d - 1.
    static std::size_t points_for(std::size_t d) { return (d + 1) / 2; }

    std::vector<Quadrature> rules_;
};

/// What one task needs to explain blocks of rows.
class Explainer {
  public:
    Explainer(const ForestArrays& forest, const Players& players, bool with_pairs,
              std::size_t most_rows)
        : forest_(forest),
          rows_(forest, std::min(most_rows, kBlockRows), players),
          room_(rows_.room()),
          walk_(forest, rows_),
          with_pairs_(with_pairs),
          effects_kernel_(SPINNEY_PATH_KERNEL(path_effects)),
          pairs_kernel_(SPINNEY_PATH_KERNEL(path_pair_effects)),
          add_kernel_(SPINNEY_PATH_KERNEL(path_add)) {}

    void explain(const Columns& columns, std::size_t first, std::size_t n) {
        const std::size_t n_players = rows_.n_players();
        rows_.read(columns, first, n);
        sums_.assign(n_players * forest_.n_outputs * room_, 0.0);
        if (with_pairs_) pair_sums_.assign(pair(n_players, 0) * forest_.n_outputs * room_, 0.0);
        for (std::size_t tree = 0; tree < forest_.n_trees(); ++tree) {
            walk_.each_leaf(tree,
                            [&](std::size_t leaf) { add_leaf(LeafValues(forest_, tree, leaf)); });
        }
    }

    const FeatureRows& rows() const { return rows_; }

    double sum(std::size_t player, std::size_t output, std::size_t row) const {
        return sums_[(player * forest_.n_outputs + output) * room_ + row];
    }
    double pair_sum(std::size_t player, std::size_t other, std::size_t output,
                    std::size_t row) const {
        const std::size_t both = pair(std::max(player, other), std::min(player, other));
        return pair_sums_[(both * forest_.n_outputs + output) * room_ + row];
    }

  private:
    /// Pairs of players in the lower triangle, row by row.
    static std::size_t pair(std::size_t larger, std::size_t smaller) {
        return (larger * larger - larger) / 2 + smaller;
    }

    void add_leaf(const LeafValues& values) {
        const std::size_t d = walk_.size();
        const Points points = rules_.of_path(d);
        scratch_.resize(std::max(scratch_.size(), leaf_scratch(d, points.n)));
        const std::size_t n_effects = with_pairs_ ? std::max(d, pair(d, 0)) : d;
        effects_.resize(std::max(effects_.size(), n_effects * room_));
        const LeafTask task{walk_.meets(), walk_.shares().data(), d, points,
                            room_,         scratch_.data()};
        effects_kernel_(task, effects_.data());
        for (std::size_t k = 0; k < d; ++k) add(values, k, walk_.players()[k], sums_);
        if (!with_pairs_) return;
        pairs_kernel_(task, effects_.data());
        for (std::size_t j = 0, at = 0; j < d; ++j) {
            for (std::size_t k = j + 1; k < d; ++k, ++at) {
                const std::size_t one = walk_.players()[j];
                const std::size_t two = walk_.players()[k];
                add(values, at, pair(std::max(one, two), std::min(one, two)), pair_sums_);
            }
        }
    }

    /// Effect number `at`, times the values of the leaf, to the sums number `to`.
    void add(const LeafValues& values, std::size_t at, std::size_t to, std::vector<double>& sums) {
        for (std::size_t k = 0; k < values.size(); ++k) {
            const std::size_t place = to * forest_.n_outputs + values.first_output() + k;
            add_kernel_(values[k], effects_.data() + at * room_, sums.data() + place * room_,
                        room_);
        }
    }

    const ForestArrays& forest_;
    Rules rules_;
    FeatureRows rows_;
    std::size_t room_;  ///< rows of a block: a single row need not pay for many
    PathWalk walk_;
    bool with_pairs_;
    EffectKernel* effects_kernel_;
    EffectKernel* pairs_kernel_;
    AddKernel* add_kernel_;
    std::vector<double> sums_;
    std::vector<double> pair_sums_;
    std::vector<double> effects_;
    std::vector<double> scratch_;
};

/// Calls give(explainer, row of the table, row of the block) for every row, on all threads.
template <class Give>
void each_row(const ForestArrays& forest, const Columns& columns, const Players& players,
              bool with_pairs, int n_threads, const Give& give) {
    parallel_blocks(n_threads, columns.n_rows, kTaskRows, [&](std::size_t begin, std::size_t end) {
        Explainer explainer(forest, players, with_pairs, end - begin);
        for (std::size_t first = begin; first < end; first += kBlockRows) {
            const std::size_t n = std::min(kBlockRows, end - first);
            explainer.explain(columns, first, n);
            for (std::size_t i = 0; i < n; ++i) give(explainer, first + i, i);
        }
    });
}

}  // namespace

std::vector<double> shapley_base(const ForestArrays& forest) {
    std::vector<double> base(forest.baseline.begin(), forest.baseline.end());
    const FeatureRows no_rows(forest, 0, Players::each_feature(forest));
    PathWalk walk(forest, no_rows);
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        walk.each_leaf(tree, [&](std::size_t leaf) {
            double share = 1.0;
            for (const double of_feature : walk.shares()) share *= of_feature;
            const LeafValues values(forest, tree, leaf);
            for (std::size_t k = 0; k < values.size(); ++k) {
                base[values.first_output() + k] += share * values[k];
            }
        });
    }
    return base;
}

void shapley_values(const ForestArrays& forest, const Columns& columns, const Players& players,
                    std::span<double> values, int n_threads) {
    const std::size_t width = players.n * forest.n_outputs;
    each_row(forest, columns, players, false, n_threads,
             [&](const Explainer& explainer, std::size_t row, std::size_t i) {
                 for (std::size_t player = 0; player < explainer.rows().n_players(); ++player) {
                     double* to = values.data() + row * width +
                                  explainer.rows().given(player) * forest.n_outputs;
                     for (std::size_t k = 0; k < forest.n_outputs; ++k) {
                         to[k] = explainer.sum(player, k, i);
                     }
                 }
             });
}

void shapley_interactions(const ForestArrays& forest, const Columns& columns,
                          const Players& players, std::span<double> values, int n_threads) {
    const auto give = [&](const Explainer& explainer, std::size_t row, std::size_t i,
                          std::size_t player, std::size_t k) {
        const FeatureRows& rows = explainer.rows();
        const std::size_t matrix_row = row * players.n + rows.given(player);
        double rest = explainer.sum(player, k, i);
        const auto place = [&](std::size_t other) {
            const std::size_t at = matrix_row * players.n + rows.given(other);
            return values.data() + at * forest.n_outputs + k;
        };
        for (std::size_t other = 0; other < rows.n_players(); ++other) {
            if (other == player) continue;
            const double both = explainer.pair_sum(player, other, k, i);
            *place(other) = both;
            rest -= both;
        }
        *place(player) = rest;
    };
    each_row(forest, columns, players, true, n_threads,
             [&](const Explainer& explainer, std::size_t row, std::size_t i) {
                 for (std::size_t player = 0; player < explainer.rows().n_players(); ++player) {
                     for (std::size_t k = 0; k < forest.n_outputs; ++k) {
                         give(explainer, row, i, player, k);
                     }
                 }
             });
}

}  // namespace spinney
