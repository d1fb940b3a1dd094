#include "native/trees/histogram_grower.hpp"

#include <algorithm>
#include <memory>

#include "native/trees/growth_order.hpp"
#include "native/trees/histogram.hpp"
#include "native/trees/node_rows.hpp"
#include "native/trees/split_finder.hpp"

namespace spinney {
namespace {

/// A node while the tree grows; numbered in order of creation.
struct GrowingNode {
    explicit GrowingNode(std::size_t n_outputs) : total(n_outputs) {}

    std::size_t first = 0;  ///< rows [first, last) of NodeRows
    std::size_t last = 0;
    std::int32_t depth = 0;
    std::int32_t left = -1;
    std::int32_t right = -1;
    Sums total;
    Split split;                           ///< applied once the node has children
    std::unique_ptr<Histogram> histogram;  ///< held while the node is open

    std::size_t n_rows() const { return last - first; }
};

class Grower {
  public:
    Grower(const BinnedRows& data, const TreeSettings& settings, int n_threads)
        : data_(data),
          settings_(settings),
          n_threads_(n_threads),
          rows_(data.n_rows),
          order_(settings.max_leaf_nodes > 0) {}

    GrownTree grow() {
        open_root();
        std::int32_t n_leaves = 1;
        while (!order_.empty() && has_room_for(n_leaves + 1)) {
            split_node(order_.pop().node);
            ++n_leaves;
        }
        return frozen();
    }

  private:
    bool has_room_for(std::int32_t n_leaves) const {
        return settings_.max_leaf_nodes == 0 || n_leaves <= settings_.max_leaf_nodes;
    }

    bool may_split(const GrowingNode& node) const {
        const double weight = static_cast<double>(node.total.weight) * data_.weight_scale;
        const double enough = std::max(settings_.min_samples_split, 2 * settings_.min_samples_leaf);
        return node.n_rows() >= 2 && weight >= enough * (1.0 - 0x1p-40) &&
               (settings_.max_depth == 0 || node.depth < settings_.max_depth);
    }

    void open_root() {
        GrowingNode root(data_.n_outputs);
        root.last = data_.n_rows;
        root.total = sums_of(root);
        if (may_split(root)) {
            root.histogram = std::make_unique<Histogram>(data_);
            root.histogram->build(data_, rows_.rows(root.first, root.last), n_threads_);
        }
        nodes_.push_back(std::move(root));
        open(0);
    }

    /// Looks for a split and queues the node if there is one; a node without stays a leaf.
    void open(std::int32_t id) {
        GrowingNode& node = nodes_[static_cast<std::size_t>(id)];
        if (!node.histogram) return;
        const auto features = draw_features(data_.n_features, settings_, id);
        node.split =
            find_split(data_, *node.histogram, node.total, settings_, features, n_threads_);
        if (node.split.exists()) {
            order_.push({id, node.split.gain});
        } else {
            node.histogram.reset();
        }
    }

    Sums sums_of(const GrowingNode& node) const {
        Sums total(data_.n_outputs);
        for (const std::uint32_t row : rows_.rows(node.first, node.last)) {
            for (std::size_t k = 0; k < data_.n_outputs; ++k) {
                total.targets[k] += data_.targets[row * data_.n_outputs + k];
            }
            total.weight += data_.weights[row];
        }
        total.count = static_cast<std::int64_t>(node.n_rows());
        return total;
    }

    void split_node(std::int32_t id) {
        GrowingNode left(data_.n_outputs);
        GrowingNode right(data_.n_outputs);
        GrowingNode& parent = nodes_[static_cast<std::size_t>(id)];
        const std::size_t middle = partition(parent);
        left.first = parent.first;
        left.last = right.first = middle;
        right.last = parent.last;
        left.depth = right.depth = parent.depth + 1;
        left.total = sums_of(left);
        right.total = parent.total;
        right.total.subtract(left.total);
        fill_histograms(parent, left, right);
        parent.left = static_cast<std::int32_t>(nodes_.size());
        parent.right = parent.left + 1;
        const std::int32_t left_id = parent.left;
        nodes_.push_back(std::move(left));  // `parent` may dangle from here on
        nodes_.push_back(std::move(right));
        open(left_id);
        open(left_id + 1);
    }

    std::size_t partition(const GrowingNode& parent) {
        const Split& split = parent.split;
        const auto feature = static_cast<std::size_t>(split.feature);
        const auto missing_bin = static_cast<std::uint8_t>(data_.n_value_bins[feature]);
        const std::uint8_t* bins = data_.bins.data() + feature;
        return rows_.split(parent.first, parent.last, [&](std::uint32_t row) {
            return split.sends_left(bins[row * data_.n_features], missing_bin);
        });
    }

    /// Builds the smaller child's histogram from its rows; the larger one's is the parent's less
    /// that.
    void fill_histograms(GrowingNode& parent, GrowingNode& left, GrowingNode& right) {
        std::unique_ptr<Histogram> inherited = std::move(parent.histogram);
        const bool left_is_smaller = left.n_rows() <= right.n_rows();
        GrowingNode& smaller = left_is_smaller ? left : right;
        GrowingNode& larger = left_is_smaller ? right : left;
        if (!may_split(smaller) && !may_split(larger)) return;
        smaller.histogram = std::make_unique<Histogram>(data_);
        smaller.histogram->build(data_, rows_.rows(smaller.first, smaller.last), n_threads_);
        if (may_split(larger)) {
            larger.histogram = std::move(inherited);
            larger.histogram->subtract(*smaller.histogram);
        }
        if (!may_split(smaller)) smaller.histogram.reset();
    }

    GrownTree frozen() const {
        GrownTree tree;
        // Preorder with an explicit stack: a chain of a million nodes must not end the process.
        struct Visit {
            std::int32_t id;
            std::int32_t parent;  ///< place whose `right` this node is; -1: none
        };
        std::vector<Visit> stack = {{0, -1}};
        while (!stack.empty()) {
            const Visit visit = stack.back();
            stack.pop_back();
            const GrowingNode& node = nodes_[static_cast<std::size_t>(visit.id)];
            const auto place = static_cast<std::int32_t>(tree.feature.size());
            if (visit.parent >= 0) tree.right[static_cast<std::size_t>(visit.parent)] = place;
            append(tree, node);
            if (node.left >= 0) {
                stack.push_back({node.right, place});
                stack.push_back({node.left, -1});
            }
        }
        return tree;
    }

    void append(GrownTree& tree, const GrowingNode& node) const {
        const bool is_split = node.left >= 0;
        tree.append(is_split ? &node.split : nullptr);
        const double weight = static_cast<double>(node.total.weight) * data_.weight_scale;
        for (const std::int64_t target : node.total.targets) {
            tree.values.push_back(static_cast<double>(target) * data_.target_scale / weight);
        }
        tree.count.push_back(node.total.count);
        tree.weight.push_back(weight);
        tree.gain.push_back(is_split ? data_.real_gain(node.split.gain) : 0.0);
    }

    const BinnedRows& data_;
    const TreeSettings& settings_;
    int n_threads_;
    NodeRows rows_;
    GrowthOrder order_;
    std::vector<GrowingNode> nodes_;
};

}  // namespace

void GrownTree::append(const Split* split) {
    const bool by_category = split != nullptr && split->is_categorical;
    feature.push_back(split != nullptr ? split->feature : -1);
    bin.push_back(split != nullptr && !by_category ? split->bin : -1);
    right.push_back(-1);
    missing_left.push_back(split != nullptr && split->missing_left ? 1 : 0);
    category_set.push_back(
        by_category ? static_cast<std::int32_t>(category_sets.size() / kCategorySetBytes) : -1);
    if (by_category) {
        category_sets.insert(category_sets.end(), split->left_bins.begin(), split->left_bins.end());
    }
}

GrownTree grow_histogram_tree(const BinnedRows& data, const TreeSettings& settings, int n_threads) {
    return Grower(data, settings, n_threads).grow();
}

}  // namespace spinney
