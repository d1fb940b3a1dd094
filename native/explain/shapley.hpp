/// Exact Shapley values of the raw scores of a forest.
///
/// Path-dependent: a feature that is not known is averaged over by the weights of the training
/// rows at each node. Interventional: it is taken from the rows of a background table. In both, a
/// leaf of value v is a product of one factor per player on its path, which turns the average over
/// all orders of the players into a polynomial's integral, or into a formula of two counts. Players
/// are features, or several features that become known together.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "native/data/columns.hpp"
#include "native/explain/feature_rows.hpp"
#include "native/model/forest.hpp"

namespace spinney {

/// The raw score of each output when no feature is known; (n_outputs).
std::vector<double> shapley_base(const ForestArrays& forest);

/// values: (n_rows, n_players, n_outputs). With shapley_base they add up to the raw scores. For
/// every leaf the time grows with d * d / 2, d being the different players on its path.
void shapley_values(const ForestArrays& forest, const Columns& columns, const Players& players,
                    std::span<double> values, int n_threads);

/// values: (n_rows, n_players, n_players, n_outputs), symmetric; a row of the matrix adds up to the
/// Shapley value of its player. Time: d * d * d / 4 per leaf.
void shapley_interactions(const ForestArrays& forest, const Columns& columns,
                          const Players& players, std::span<double> values, int n_threads);

/// Rows that stand for what is not known; each counts by its share, and the shares add up to 1.
struct Background {
    const Columns& columns;
    std::span<const double> share;
};

/// As shapley_values, but interventional: with the mean raw scores of the background they add up.
/// Rows that decide a leaf's conditions alike share the work: a leaf takes time in proportion to
/// the rows, and to the pairs of different answers, of which there are at most 2^d in each table.
void interventional_values(const ForestArrays& forest, const Columns& columns,
                           const Background& background, const Players& players,
                           std::span<double> values, int n_threads);

}  // namespace spinney
