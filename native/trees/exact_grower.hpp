/// Growing one tree on sorted rows: every cut between two different values is tried.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "native/trees/exact_rows.hpp"
#include "native/trees/grown_tree.hpp"
#include "native/trees/settings.hpp"
#include "native/trees/sorted_columns.hpp"

namespace spinney {

struct ExactTree {
    GrownTree nodes;  ///< without `bin`
    std::vector<double> threshold;
    std::vector<std::int32_t> leaf_of_row;  ///< number of the leaf each training row is in
};

/// O(rows * features) per level of the tree; sorting was paid for before. The same tree for every
/// number of threads: all sums are exact, and ties go to the lowest feature, then the lowest
/// threshold, then missing values to the right.
ExactTree grow_exact_tree(const SortedColumns& columns, const ExactRows& rows,
                          const TreeSettings& settings, int n_threads);

/// What the leaf of each row says, of what all nodes say.
std::vector<std::int8_t> say_of_rows(std::span<const std::int8_t> said,
                                     std::span<const std::int32_t> leaf_of_row, int n_threads);

}  // namespace spinney
