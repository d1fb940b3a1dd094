/// Growing the trees of a boosted sum on one set of bins.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "native/base/thread_choice.hpp"
#include "native/trees/gradient_split.hpp"
#include "native/trees/grown_tree.hpp"
#include "native/trees/growth_order.hpp"
#include "native/trees/level_split.hpp"
#include "native/trees/row_partition.hpp"

namespace spinney {

/// Grows one tree after another; keeps its buffers, so that a round allocates next to nothing.
///
/// The tree is the same for every number of threads: all sums are integers, ties have a total
/// order.
class GradientGrower {
  public:
    GradientGrower(TrainingBins bins, int n_threads);
    ~GradientGrower();
    GradientGrower(const GradientGrower&) = delete;
    GradientGrower& operator=(const GradientGrower&) = delete;

    /// Values of nodes are -G / (H + l2), from the gradients themselves, not from their packed
    /// form. rows: the ones to grow on, increasing; empty: all.
    GrownTree grow(const GradientInput& input, std::span<const std::uint32_t> rows,
                   const GradientTreeSettings& settings);

    /// Adds to the score of every row of the table the value of its leaf, also of rows that were
    /// not grown on; values: one per node of the tree that grow() returned last.
    void add_leaf_values(std::span<const double> values, std::span<double> scores) const;

    /// Makes of the values that the last tree's nodes would have by themselves those they have:
    /// drawn towards their parents', and within the bounds that make the tree monotone. Whatever
    /// the values, the tree that has them is monotone afterwards.
    void settle_values(std::span<double> values) const;

    /// The rows of every node of the last tree: ranges of one permutation of the rows grown on.
    struct NodeRanges {
        std::vector<std::uint32_t> rows;
        std::vector<std::int64_t> first, last;  ///< per node, in preorder
    };
    NodeRanges node_ranges() const;

    const TrainingBins& bins() const { return bins_; }

    /// Which codes of the bundle of a split's feature go left.
    static RowPartition::GoesLeft codes_that_go_left(const TrainingBins& bins, const Split& split);

  private:
    struct Node;
    struct Search;
    /// Blocks of columns that one thread builds, subtracts and searches: their cells stay in its
    /// cache from node to node.
    struct Share {
        const RowLayout* layout;
        std::span<const ColumnBlock> blocks;
        std::vector<std::uint32_t> features;  ///< increasing
    };
    /// One layout, divided among threads, or whole for one of them: that one reads the derivatives
    /// of rows once, and cuts of every feature have to be better than those of all before.
    struct Shares {
        std::vector<Share> of_threads;
        std::vector<Share> of_one;
    };
    /// What was found in a share, for both nodes. Threads compare with it feature after feature, so
    /// no two have theirs on one cache line, nor on two that are fetched together.
    struct alignas(128) BestOfShare {
        std::array<GradientSplit, 2> splits;
    };

    void start(const GradientInput& input, std::span<const std::uint32_t> rows,
               const GradientTreeSettings& settings);
    void open_root();
    void grow_leaves();
    void grow_levels();
    LevelSplit choose_level_split(const std::vector<std::int32_t>& level, Node& asked,
                                  std::int32_t depth) const;
    std::vector<std::int32_t> split_level(const std::vector<std::int32_t>& level,
                                          const LevelSplit& split, bool is_last);
    SplitTask task_of(const Node& node) const;
    void take_back(Node& node);
    void split_node(std::int32_t id, bool is_last);
    void partition(Node& parent, Node& left, Node& right);
    Shares make_shares(const RowLayout& layout) const;
    std::vector<Share> divide(const RowLayout& layout, std::span<const ColumnBlock> blocks,
                              std::size_t n_threads) const;
    void fill_histograms(Node& parent, Node& left, Node& right);
    void choose_splits(Search& search);
    void work_on_share(const Share& share, const Search& search,
                       std::array<GradientSplit, 2>& best) const;
    void allow_features(Node& node, std::int32_t id) const;
    void open(std::int32_t id);
    bool may_split(const Node& node) const;
    std::unique_ptr<GradientHistogram> take_histogram();
    void prune();
    GrownTree frozen();
    void set_values(const GradientInput& input, GrownTree& tree);
    std::int32_t leaf_of(std::uint32_t row) const;
    std::size_t n_row_ranges() const;
    template <class OfRows>
    void for_leaf_rows(const OfRows& of_rows) const;

    TrainingBins bins_;
    int n_threads_;
    HistogramBuilder builder_;
    RowPartition rows_;
    PackedGradients packed_;
    GradientTreeSettings settings_;
    GradientObjective objective_;
    Shares plain_shares_;
    Shares joint_shares_;
    std::vector<BestOfShare> best_;
    ThreadChoice thread_choice_;
    std::vector<std::uint32_t> tree_features_;  ///< the ones this tree may use, increasing
    std::vector<std::uint8_t> in_tree_;         ///< per feature: whether it is one of them
    std::vector<std::uint8_t> bundle_in_tree_;  ///< per bundle: whether one of its features is
    std::vector<Node> nodes_;
    std::vector<std::int32_t> preorder_;  ///< number of each node of the frozen tree
    std::vector<std::int32_t> places_;    ///< the inverse: place in the frozen tree
    std::vector<std::unique_ptr<GradientHistogram>> spare_;  ///< histograms no node needs now
    GrowthOrder order_{true};
};

}  // namespace spinney
