/// Trees while a sum of them grows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "native/trees/grown_tree.hpp"

namespace spinney {

/// Turns the values of nodes into steps: values times the learning rate. Failure if a value
/// (kInvalidInput) or a step (kInvalidParameter) is not a finite number.
void take_steps(std::span<double> values, double learning_rate);

/// Trees behind each other, as a forest stores them: all of scalar values, or all of vectors.
///
/// Adding one costs no more than its nodes: a small tree is grown in less time than it would take
/// to hand its arrays to Python one by one.
class GrownTrees {
  public:
    explicit GrownTrees(std::size_t width = 1) : width_(width) {}

    std::size_t size() const { return starts_.size() - 1; }
    /// Numbers in the value of a node.
    std::size_t width() const { return width_; }
    const GrownTree& nodes() const { return nodes_; }
    std::span<const double> thresholds() const { return thresholds_; }
    std::span<const std::int64_t> starts() const { return starts_; }

    /// threshold: per node, as model/forest.hpp describes it.
    void append(const GrownTree& tree, std::span<const double> threshold);
    /// Several trees in the form of this class.
    void append_all(const GrownTree& nodes, std::span<const double> thresholds,
                    std::span<const std::int64_t> starts);
    /// Forgets all trees but the first n; n <= size().
    void truncate(std::size_t n);
    /// The values of the tree appended last; empty if there is none.
    std::span<double> last_values();

  private:
    void put_behind(const GrownTree& nodes, std::span<const double> thresholds);

    std::size_t width_;
    GrownTree nodes_;  ///< without `bin`; category sets are numbered through
    std::vector<double> thresholds_;
    std::vector<std::int64_t> starts_ = {0};
};

}  // namespace spinney
