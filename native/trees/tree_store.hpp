/// The trees of a forest while they are grown, by several threads.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "native/trees/grown_tree.hpp"

namespace spinney {

/// A grown tree with the thresholds of its nodes.
struct ForestTree {
    GrownTree nodes;
    std::vector<double> threshold;

    std::size_t n_nodes() const { return threshold.size(); }
};

/// Trees behind each other, as a forest stores them.
struct GrownForest {
    GrownNodes<PlainVector> nodes;  ///< without `bin`; category sets are numbered through
    std::vector<double> threshold;
    std::vector<std::int64_t> tree_start = {0};
};

/// Puts trees where they stay, in the order of their numbers. Those that come before their turn
/// wait: about one per thread, since threads take trees in that order, too.
///
/// Fresh memory is dear: a page is cleared at a tenth of the speed at which it is filled. So there
/// are no trees of their own memory that are joined at the end, and room for all is made when the
/// first has told how large they are; what trees do not need of it is never touched. Nor are large
/// pages asked for: arrays are written once, and in virtual machines fits were slower with them by
/// a third, in the system's time, where memory was not warm (and faster by a tenth where it was).
class TreeStore {
  public:
    explicit TreeStore(std::size_t n_trees) : n_trees_(n_trees) {}

    /// number: of the tree in the forest. The tree stays the caller's.
    void add(const ForestTree& tree, std::size_t number);

    /// All trees, once they are there.
    GrownForest take() { return std::move(forest_); }

  private:
    void put(const ForestTree& tree);
    void make_room(const ForestTree& tree);

    std::size_t n_trees_;
    std::mutex lock_;  ///< of everything below
    GrownForest forest_;
    std::int32_t n_sets_ = 0;
    std::map<std::size_t, ForestTree> waiting_;
    std::vector<ForestTree> spare_;  ///< their memory serves the next that wait
};

}  // namespace spinney
