#include "native/trees/gradient_grower.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "native/base/parallel.hpp"
#include "native/trees/growth_order.hpp"
#include "native/trees/split_finder.hpp"

namespace spinney {
namespace {

/// Rows whose gradients are summed by one thread at a time.
constexpr std::size_t kChunk = 16384;

}  // namespace

struct GradientGrower::Node {
    std::size_t first = 0;  ///< rows [first, last) of the partition
    std::size_t last = 0;
    std::int32_t depth = 0;
    std::int32_t left = -1;
    std::int32_t right = -1;
    GradientSums total;
    Split split;
    std::unique_ptr<GradientHistogram> histogram;

    std::size_t n_rows() const { return last - first; }
};

class GradientGrower::Order : public GrowthOrder {
    using GrowthOrder::GrowthOrder;
};

GradientGrower::GradientGrower(FeatureBlocks data, int n_threads)
    : data_(std::move(data)), n_threads_(n_threads), rows_(data_.n_rows()) {}

GradientGrower::~GradientGrower() = default;

GrownTree GradientGrower::grow(const GradientInput& input, std::span<const std::uint32_t> rows,
                               const GradientTreeSettings& settings) {
    settings_ = settings;
    rows_.reset(rows);
    packed_.fill(input, n_threads_);
    objective_.scales = {packed_.gradient_scale(), packed_.hessian_scale(), input.weight_scale};
    objective_.l1 = settings.l1;
    objective_.l2 = settings.l2;
    nodes_.clear();
    order_ = std::make_unique<Order>(settings.leaf_wise);
    open_root();
    std::int32_t n_leaves = 1;
    while (!order_->empty() &&
           (settings.max_leaf_nodes == 0 || n_leaves < settings.max_leaf_nodes)) {
        split_node(order_->pop().node);
        ++n_leaves;
    }
    GrownTree tree = frozen();
    set_values(input, tree);
    return tree;
}

bool GradientGrower::may_split(const Node& node) const {
    return objective_.weight(node.total) >= 2.0 * settings_.min_samples_leaf * (1.0 - 0x1p-40) &&
           node.n_rows() >= 2 && (settings_.max_depth == 0 || node.depth < settings_.max_depth);
}

std::unique_ptr<GradientHistogram> GradientGrower::take_histogram() {
    if (spare_.empty()) return std::make_unique<GradientHistogram>(data_);
    auto histogram = std::move(spare_.back());
    spare_.pop_back();
    return histogram;
}

GradientSums GradientGrower::packed_sums(std::size_t first, std::size_t last) const {
    const auto rows = rows_.rows(first, last);
    std::vector<GradientSums> of_chunk((rows.size() + kChunk - 1) / kChunk);
    parallel_blocks(n_threads_, rows.size(), kChunk, [&](std::size_t begin, std::size_t end) {
        GradientSums sums;
        for (std::size_t i = begin; i < end; ++i) {
            sums += packed_.of_row(rows[i]);
        }
        of_chunk[begin / kChunk] = sums;
    });
    GradientSums total;
    for (const GradientSums& sums : of_chunk) total += sums;
    return total;
}

void GradientGrower::open_root() {
    Node root;
    root.last = rows_.size();
    root.total = packed_sums(root.first, root.last);
    if (may_split(root)) {
        root.histogram = take_histogram();
        const bool is_whole = rows_.size() == data_.n_rows();
        const auto rows =
            is_whole ? std::span<const std::uint32_t>{} : rows_.rows(root.first, root.last);
        root.histogram->build(packed_, rows, n_threads_);
    }
    nodes_.push_back(std::move(root));
    open(0);
}

void GradientGrower::open(std::int32_t id) {
    Node& node = nodes_[static_cast<std::size_t>(id)];
    if (!node.histogram) return;
    const TreeSettings drawing = {.max_features = settings_.max_features, .seed = settings_.seed};
    const auto features = draw_features(data_.n_features(), drawing, id);
    node.split = find_gradient_split(data_, *node.histogram, packed_.packing(), node.total,
                                     objective_, settings_, features, n_threads_);
    if (node.split.exists()) {
        order_->push({id, node.split.gain});
    } else {
        spare_.push_back(std::move(node.histogram));
    }
}

void GradientGrower::split_node(std::int32_t id) {
    Node left;
    Node right;
    Node& parent = nodes_[static_cast<std::size_t>(id)];
    const auto feature = static_cast<std::size_t>(parent.split.feature);
    const auto missing_bin = static_cast<std::uint8_t>(data_.n_value_bins(feature));
    RowPartition::GoesLeft goes_left;
    for (std::size_t bin = 0; bin < goes_left.size(); ++bin) {
        goes_left[bin] = parent.split.sends_left(static_cast<std::uint8_t>(bin), missing_bin);
    }
    const std::size_t middle =
        rows_.split(parent.first, parent.last, data_.column(feature), goes_left, n_threads_);
    left.first = parent.first;
    left.last = right.first = middle;
    right.last = parent.last;
    left.depth = right.depth = parent.depth + 1;
    left.total = packed_sums(left.first, left.last);
    right.total = parent.total - left.total;
    fill_histograms(parent, left, right);
    parent.left = static_cast<std::int32_t>(nodes_.size());
    parent.right = parent.left + 1;
    const std::int32_t left_id = parent.left;
    nodes_.push_back(std::move(left));  // `parent` may dangle from here on
    nodes_.push_back(std::move(right));
    open(left_id);
    open(left_id + 1);
}

void GradientGrower::fill_histograms(Node& parent, Node& left, Node& right) {
    std::unique_ptr<GradientHistogram> inherited = std::move(parent.histogram);
    const bool left_is_smaller = left.n_rows() <= right.n_rows();
    Node& smaller = left_is_smaller ? left : right;
    Node& larger = left_is_smaller ? right : left;
    if (may_split(smaller) || may_split(larger)) {
        smaller.histogram = take_histogram();
        smaller.histogram->build(packed_, rows_.rows(smaller.first, smaller.last), n_threads_);
    }
    if (may_split(larger)) {
        larger.histogram = std::move(inherited);
        larger.histogram->subtract(*smaller.histogram, packed_.packing(), n_threads_);
    } else {
        spare_.push_back(std::move(inherited));
    }
    if (smaller.histogram && !may_split(smaller)) spare_.push_back(std::move(smaller.histogram));
}

GrownTree GradientGrower::frozen() {
    GrownTree tree;
    leaves_.clear();
    preorder_.clear();
    places_.assign(nodes_.size(), -1);
    struct Visit {
        std::int32_t id;
        std::int32_t parent;  ///< place whose `right` this node is; -1: none
    };
    std::vector<Visit> stack = {{0, -1}};
    while (!stack.empty()) {
        const Visit visit = stack.back();
        stack.pop_back();
        Node& node = nodes_[static_cast<std::size_t>(visit.id)];
        const auto place = static_cast<std::int32_t>(tree.feature.size());
        if (visit.parent >= 0) tree.right[static_cast<std::size_t>(visit.parent)] = place;
        preorder_.push_back(visit.id);
        places_[static_cast<std::size_t>(visit.id)] = place;
        tree.append(node.left >= 0 ? &node.split : nullptr);
        tree.count.push_back(static_cast<std::int64_t>(node.n_rows()));
        tree.weight.push_back(objective_.weight(node.total));
        tree.gain.push_back(node.left >= 0 ? node.split.gain : 0.0);
        if (node.left >= 0) {
            stack.push_back({node.right, place});
            stack.push_back({node.left, -1});
        } else {
            leaves_.push_back({node.first, node.last, place});
        }
        if (node.histogram) spare_.push_back(std::move(node.histogram));
    }
    return tree;
}

/// Sums of the gradients themselves, on a grid as fine as 62 bits allow for the total weight: the
/// same for every order of rows, and for a row of weight 3 or three rows.
void GradientGrower::set_values(const GradientInput& input, GrownTree& tree) const {
    const double repeats =
        input.weights_repeat ? input.total_weight : static_cast<double>(rows_.size());
    const int bits = 61 - static_cast<int>(std::ceil(std::log2(repeats + 1.0)));
    const Packing& packing = packed_.packing();
    const double gradient_step =
        std::ldexp(packed_.gradient_scale(), packing.gradient_bits - 1 - bits);
    const double hessian_step =
        input.hessians.empty() ? 1.0
                               : std::ldexp(packed_.hessian_scale(), packing.hessian_bits - bits);
    std::vector<GradientSums> sums(tree.feature.size());
    parallel_for(n_threads_, leaves_.size(), [&](std::size_t i) {
        const Leaf& leaf = leaves_[i];
        GradientSums total;
        for (const std::uint32_t row : rows_.rows(leaf.first, leaf.last)) {
            const std::int64_t w = input.repeats(row);
            total.gradient += w * std::llrint(input.gradients[row] / gradient_step);
            total.hessian +=
                input.hessians.empty() ? w : w * std::llrint(input.hessians[row] / hessian_step);
        }
        sums[static_cast<std::size_t>(leaf.place)] = total;
    });
    tree.values.resize(sums.size());
    GradientObjective exact = objective_;
    exact.scales.gradient = gradient_step;
    exact.scales.hessian = hessian_step;
    for (std::size_t i = sums.size(); i-- > 0;) {  // children stand behind their parents
        if (tree.right[i] >= 0) {
            sums[i] = sums[i + 1];
            sums[i] += sums[static_cast<std::size_t>(tree.right[i])];
        }
        const double curvature = exact.hessian(sums[i]) + exact.l2;
        tree.values[i] = curvature > 0.0 ? -exact.shrunk(exact.gradient(sums[i])) / curvature : 0.0;
    }
}

void GradientGrower::add_leaf_values(std::span<const double> values, std::span<double> scores,
                                     std::size_t stride) const {
    parallel_for(n_threads_, leaves_.size(), [&](std::size_t i) {
        const Leaf& leaf = leaves_[i];
        const double value = values[static_cast<std::size_t>(leaf.place)];
        for (const std::uint32_t row : rows_.rows(leaf.first, leaf.last)) {
            scores[row * stride] += value;
        }
    });
    if (rows_.size() == data_.n_rows()) return;
    std::vector<std::uint8_t> grown_on(data_.n_rows(), 0);
    for (const std::uint32_t row : rows_.rows(0, rows_.size())) grown_on[row] = 1;
    parallel_blocks(n_threads_, data_.n_rows(), kChunk, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            if (grown_on[row] != 0) continue;
            const std::int32_t id = leaf_of(static_cast<std::uint32_t>(row));
            const std::int32_t place = places_[static_cast<std::size_t>(id)];
            scores[row * stride] += values[static_cast<std::size_t>(place)];
        }
    });
}

std::int32_t GradientGrower::leaf_of(std::uint32_t row) const {
    std::int32_t id = 0;
    for (;;) {
        const Node& node = nodes_[static_cast<std::size_t>(id)];
        if (node.left < 0) return id;
        const auto feature = static_cast<std::size_t>(node.split.feature);
        const auto missing_bin = static_cast<std::uint8_t>(data_.n_value_bins(feature));
        const std::uint8_t bin = data_.column(feature)[row];
        id = node.split.sends_left(bin, missing_bin) ? node.left : node.right;
    }
}

GradientGrower::NodeRanges GradientGrower::node_ranges() const {
    NodeRanges ranges = {rows_.rows(0, rows_.size()), {}, {}};
    for (const std::int32_t id : preorder_) {
        const Node& node = nodes_[static_cast<std::size_t>(id)];
        ranges.first.push_back(static_cast<std::int64_t>(node.first));
        ranges.last.push_back(static_cast<std::int64_t>(node.last));
    }
    return ranges;
}

}  // namespace spinney
