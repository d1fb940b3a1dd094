/// Growing trees whose leaves are vectors: one tree for several outputs of a boosted sum.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "native/trees/gradient_grower.hpp"
#include "native/trees/vector_split.hpp"

namespace spinney {

/// Grows one tree after another, each for several outputs at once.
///
/// Every output has packed gradients and histograms of its own, exactly as where it has trees of
/// its own; they share the rows of nodes and the splits. Splits are chosen by the sum of the gains.
/// The tree is the same for every number of threads: all sums over rows are integers, and gains
/// are added in the order of outputs.
class VectorGrower {
  public:
    /// bins must outlive this.
    VectorGrower(const TrainingBins& bins, int n_threads);
    ~VectorGrower();
    VectorGrower(const VectorGrower&) = delete;
    VectorGrower& operator=(const VectorGrower&) = delete;

    /// inputs: one per output; they have the same weights. rows: the ones to grow on, increasing;
    /// empty: all. Values are vectors, node by node. Monotone settings are not looked at.
    GrownTree grow(std::span<const GradientInput> inputs, std::span<const std::uint32_t> rows,
                   const GradientTreeSettings& settings);

    /// Adds to the scores of every row the vector of its leaf, also of rows that were not grown
    /// on. values: of the nodes of the last tree; scores: output by output.
    void add_leaf_values(std::span<const double> values, std::span<double> scores) const;

    /// Makes of the values that the last tree's nodes would have by themselves those they have:
    /// drawn towards their parents', and no larger than a step may be.
    void settle_values(std::span<double> values) const;

    GradientGrower::NodeRanges node_ranges() const;

  private:
    struct Node;
    using Histograms = std::vector<GradientHistogram>;  ///< one per output

    void start(std::span<const GradientInput> inputs, std::span<const std::uint32_t> rows,
               const GradientTreeSettings& settings);
    void open_root();
    void split_node(std::int32_t id, bool is_last);
    void partition(Node& parent, Node& left, Node& right);
    void fill_histograms(Node& parent, Node& left, Node& right);
    void choose_splits(std::span<Node* const> nodes);
    void subtract(Histograms& parent, Histograms& child, Histograms& to);
    RowRange rows_of(const Node& node) const;
    void build(const Node& node, Histograms& to);
    void allow_features(Node& node, std::int32_t id) const;
    void open(std::int32_t id);
    bool may_split(const Node& node) const;
    std::unique_ptr<Histograms> take_histograms();
    void prune();
    GrownTree frozen();
    void set_values(std::span<const GradientInput> inputs, GrownTree& tree) const;
    void set_values_of(std::size_t output, const GradientInput& input, GrownTree& tree) const;
    void write_places();
    std::int32_t leaf_of(std::size_t row) const;

    const TrainingBins& bins_;
    int n_threads_;
    HistogramBuilder builder_;
    RowPartition rows_;
    OutputSet outputs_;
    GradientTreeSettings settings_;
    std::vector<std::uint32_t> tree_features_;  ///< the ones this tree may use, increasing
    std::vector<std::uint32_t> tree_bundles_;   ///< those they are in, increasing
    std::vector<Node> nodes_;
    std::vector<std::int32_t> preorder_;              ///< number of each node of the frozen tree
    std::vector<std::int32_t> places_;                ///< the inverse: place in the frozen tree
    std::vector<std::int32_t> leaf_place_;            ///< of every row of the table
    std::vector<std::unique_ptr<Histograms>> spare_;  ///< histograms no node needs now
    GrowthOrder order_{true};
};

}  // namespace spinney
