/// A walk to every leaf of a tree that carries, for a block of rows, what it demands of each player
/// on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "native/explain/feature_rows.hpp"
#include "native/explain/path_kernels.hpp"
#include "native/model/forest.hpp"

namespace spinney {

/// The path has one entry per different player, in the order in which they first occur: two nodes
/// on features of the same player make one condition. Entries are put up and taken back as the walk
/// goes, so it costs two passes over the rows per node and memory in proportion to the depth.
class PathWalk {
  public:
    /// Borrows both. Without rows (room 0) the walk still gives players and shares.
    PathWalk(const ForestArrays& forest, const FeatureRows& rows);

    /// Calls visit(node) at every leaf of a tree, in order; the path is then that of the leaf.
    template <class Visit>
    void each_leaf(std::size_t tree, const Visit& visit) {
        const auto first = static_cast<std::size_t>(forest_.tree_start[tree]);
        waiting_.assign(1, {first, first, first, 0});
        while (!waiting_.empty()) {
            const Step step = waiting_.back();
            waiting_.pop_back();
            go_back(step.depth);
            if (step.depth > 0) enter(step);
            if (forest_.feature[step.node] < 0) {
                visit(step.node);
                continue;
            }
            const std::size_t right = first + static_cast<std::size_t>(forest_.right[step.node]);
            const std::size_t left = step.node + 1;
            waiting_.push_back({right, left, step.node, step.depth + 1});
            waiting_.push_back({left, right, step.node, step.depth + 1});
        }
    }

    std::size_t size() const { return player_.size(); }
    std::span<const std::size_t> players() const { return player_; }  ///< as FeatureRows has them
    std::span<const double> shares() const { return share_; }
    const std::int64_t* const* meets() const { return meets_.data(); }

  private:
    struct Step {
        std::size_t node;
        std::size_t sibling;
        std::size_t parent;
        std::size_t depth;  ///< of the node; the root's is 0

        bool is_left() const { return node < sibling; }
    };

    /// What an entry was before a step changed it.
    struct Change {
        std::size_t place;
        double share;
        const std::int64_t* meets;
        bool is_new;
    };

    void go_back(std::size_t depth);
    void enter(const Step& step);
    void fill(const Step& step, std::size_t slot, const std::int64_t* before, std::int64_t* meets);
    double share_of(const Step& step) const;

    const ForestArrays& forest_;
    const FeatureRows& rows_;
    SplitKernel* split_;
    std::vector<std::size_t> player_;
    std::vector<double> share_;
    std::vector<const std::int64_t*> meets_;
    std::vector<std::size_t> place_;  ///< of each player on the path; n_players: not there
    std::vector<Change> changes_;
    std::vector<Step> waiting_;
    std::vector<std::vector<std::int64_t>> words_;  ///< one per depth; those of the root are ones
};

}  // namespace spinney
