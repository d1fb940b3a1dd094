/// Grown trees until all are there, and all of them together.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "native/base/large_pages.hpp"
#include "native/trees/grown_tree.hpp"

namespace spinney {

/// A grown tree with the thresholds of its nodes.
struct ForestTree {
    GrownTree nodes;
    std::vector<double> threshold;
};

/// Trees behind each other, as a forest stores them.
struct GrownForest {
    GrownNodes<UnsetVector> nodes;  ///< without `bin`; category sets are numbered through
    UnsetVector<double> threshold;
    std::vector<std::int64_t> tree_start = {0};
};

/// The trees of one thread, in the order they came. They are copied to blocks that hold many:
/// memory of its own for each, grown node by node, would be given back and taken again, and that
/// costs more than the copy.
class TreeStore {
  public:
    /// number: of the tree in the forest.
    void add(const ForestTree& tree, std::size_t number);

    /// All trees of all stores, by number; the stores are empty afterwards.
    static GrownForest join(std::vector<TreeStore> stores, int n_threads);

  private:
    static constexpr std::size_t kArrays = 10;

    struct Block {
        GrownForest forest;                ///< category sets are numbered by tree
        std::vector<std::size_t> numbers;  ///< of its trees
        /// By array, in the order of `each_array`: where each tree begins, and the end.
        std::array<std::vector<std::size_t>, kArrays> starts;
        std::size_t room = 0;  ///< nodes
    };

    Block& block_for(const ForestTree& tree);

    std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace spinney
