#include "native/trees/vector_grower.hpp"

#include <algorithm>
#include <array>

#include "native/base/parallel.hpp"
#include "native/base/random.hpp"
#include "native/trees/allowed_features.hpp"
#include "native/trees/vector_node.hpp"

namespace spinney {
namespace {

/// Cells of all outputs below which a second thread costs more than it saves.
constexpr std::size_t kWorthAThread = 2048;
/// Features that a thread takes at a time.
constexpr std::size_t kFeaturesAtOnce = 4;

}  // namespace

VectorGrower::VectorGrower(const TrainingBins& bins, int n_threads)
    : bins_(bins), n_threads_(n_threads), builder_(bins, n_threads), rows_(bins.n_rows()) {}

VectorGrower::~VectorGrower() = default;

GrownTree VectorGrower::grow(std::span<const GradientInput> inputs,
                             std::span<const std::uint32_t> rows,
                             const GradientTreeSettings& settings) {
    start(inputs, rows, settings);
    open_root();
    std::int32_t n_leaves = 1;
    const std::int32_t most = settings.max_leaf_nodes;
    while (!order_.empty() && (most == 0 || n_leaves < most)) {
        ++n_leaves;
        split_node(order_.pop().node, n_leaves == most);
    }
    prune();
    GrownTree tree = frozen();
    write_places();
    set_values(inputs, tree);
    return tree;
}

void VectorGrower::start(std::span<const GradientInput> inputs, std::span<const std::uint32_t> rows,
                         const GradientTreeSettings& settings) {
    settings_ = settings;
    rows_.reset(rows);
    if (outputs_.size() != inputs.size()) spare_.clear();
    outputs_.packed.resize(inputs.size());
    outputs_.objectives.resize(inputs.size());
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        PackedGradients& packed = outputs_.packed[k];
        packed.fill(inputs[k], rows, n_threads_, bins_.n_cells());
        outputs_.objectives[k] = {
            {packed.gradient_scale(), packed.hessian_scale(), inputs[k].weight_scale},
            settings.l1,
            settings.l2};
    }
    nodes_.clear();
    order_ = GrowthOrder(true);
    tree_features_ = features_of_tree(bins_.n_features(), settings);
    tree_bundles_.clear();
    for (const std::uint32_t feature : tree_features_) {
        tree_bundles_.push_back(bins_.place(feature).bundle);
    }
    std::sort(tree_bundles_.begin(), tree_bundles_.end());
    tree_bundles_.erase(std::unique(tree_bundles_.begin(), tree_bundles_.end()),
                        tree_bundles_.end());
}

bool VectorGrower::may_split(const Node& node) const {
    const double weight = outputs_.objectives[0].weight(node.totals[0]);
    return weight >= 2.0 * settings_.min_samples_leaf * (1.0 - 0x1p-40) && node.n_rows() >= 2 &&
           (settings_.max_depth == 0 || node.depth < settings_.max_depth);
}

std::unique_ptr<VectorGrower::Histograms> VectorGrower::take_histograms() {
    if (spare_.empty()) {
        return std::make_unique<Histograms>(outputs_.size(), GradientHistogram(bins_));
    }
    auto histograms = std::move(spare_.back());
    spare_.pop_back();
    return histograms;
}

RowRange VectorGrower::rows_of(const Node& node) const {
    const bool are_all = node.n_rows() == rows_.size() && rows_.in_order();
    return {are_all ? nullptr : rows_.rows(node.rows).data(), 0, node.n_rows()};
}

void VectorGrower::build(const Node& node, Histograms& to) {
    const RowRange rows = rows_of(node);
    for (std::size_t k = 0; k < to.size(); ++k) builder_.build(outputs_.packed[k], rows, to[k]);
}

void VectorGrower::open_root() {
    nodes_.emplace_back();
    Node& root = nodes_.back();
    root.rows.last = rows_.size();
    root.histograms = take_histograms();
    build(root, *root.histograms);
    root.totals.resize(outputs_.size());
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
        root.totals[k] =
            builder_.total_of(outputs_.packed[k], rows_of(root), (*root.histograms)[k]);
    }
    root.key = random_bits(settings_.seed, Stream::kThresholds, 0);
    if (settings_.moves_values()) root.values.assign(outputs_.size(), 0.0);
    for (std::size_t k = 0; k < root.values.size(); ++k) {
        root.values[k] = outputs_.root_value(k, root.totals[k], settings_);
    }
    if (!may_split(root)) return spare_.push_back(std::move(root.histograms));
    allow_features(root, 0);
    const std::array<Node*, 1> alone = {&root};
    choose_splits(alone);
    open(0);
}

void VectorGrower::allow_features(Node& node, std::int32_t id) const {
    node.allowed = features_of_node(bins_.n_features(), tree_features_, node.used, id, settings_);
}

void VectorGrower::open(std::int32_t id) {
    Node& node = nodes_[static_cast<std::size_t>(id)];
    if (!node.histograms) return;
    if (node.split.exists()) {
        order_.push({id, settings_.leaf_wise ? node.split.gain : -static_cast<double>(node.depth)});
    } else {
        spare_.push_back(std::move(node.histograms));
    }
}

void VectorGrower::split_node(std::int32_t id, bool is_last) {
    Node left;
    Node right;
    Node& parent = nodes_[static_cast<std::size_t>(id)];
    partition(parent, left, right);
    const auto left_id = static_cast<std::int32_t>(nodes_.size());
    parent.left = left_id;
    parent.right = left_id + 1;
    if (is_last) {  // no leaf will be split any more
        spare_.push_back(std::move(parent.histograms));
    } else {
        allow_features(left, left_id);
        allow_features(right, left_id + 1);
        fill_histograms(parent, left, right);
    }
    nodes_.push_back(std::move(left));  // `parent` may dangle from here on
    nodes_.push_back(std::move(right));
    open(left_id);
    open(left_id + 1);
}

void VectorGrower::partition(Node& parent, Node& left, Node& right) {
    const auto feature = static_cast<std::size_t>(parent.split.feature);
    const std::size_t n_values = bins_.n_value_bins(feature);
    const std::uint8_t* codes = bins_.codes(bins_.place(feature).bundle);
    const RowPartition::GoesLeft goes_left =
        GradientGrower::codes_that_go_left(bins_, parent.split);
    const std::size_t middle = rows_.split(parent.rows, codes, goes_left, n_threads_);
    const auto other_list = static_cast<std::uint8_t>(1 - parent.rows.list);
    left.rows = {parent.rows.first, middle, other_list};
    right.rows = {middle, parent.rows.last, other_list};
    left.depth = right.depth = parent.depth + 1;
    left.key = random_bits(parent.key, Stream::kNodes, 0);
    right.key = random_bits(parent.key, Stream::kNodes, 1);
    left.totals.resize(outputs_.size());
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
        std::array<GradientSums, kMostCells> of_bin;
        read_bins(bins_, feature, outputs_.packed[k].packing(), parent.totals[k],
                  (*parent.histograms)[k], of_bin.data());
        for (std::size_t bin = 0; bin <= n_values; ++bin) {
            const bool goes = parent.split.sends_left(static_cast<std::uint8_t>(bin),
                                                      static_cast<std::uint8_t>(n_values));
            if (goes) left.totals[k] += of_bin[bin];
        }
        right.totals.push_back(parent.totals[k] - left.totals[k]);
    }
    for (std::size_t k = 0; k < parent.values.size(); ++k) {
        for (Node* child : {&left, &right}) {
            child->values.push_back(
                outputs_.child_value(k, child->totals[k], settings_, parent.values[k]));
        }
    }
    if (settings_.interactions.empty()) return;
    left.used = parent.used;
    left.used.push_back(static_cast<std::uint32_t>(feature));
    right.used = left.used;
}

/// Builds the histograms of the child with fewer rows; the other one's are the differences.
void VectorGrower::fill_histograms(Node& parent, Node& left, Node& right) {
    std::unique_ptr<Histograms> inherited = std::move(parent.histograms);
    const bool left_is_smaller = left.n_rows() <= right.n_rows();
    Node& smaller = left_is_smaller ? left : right;
    Node& larger = left_is_smaller ? right : left;
    std::vector<Node*> searched;
    if (may_split(smaller) || may_split(larger)) {
        smaller.histograms = take_histograms();
        build(smaller, *smaller.histograms);
        if (may_split(smaller)) searched.push_back(&smaller);
        if (may_split(larger)) {
            larger.histograms = take_histograms();
            for (std::size_t k = 0; k < outputs_.size(); ++k) {
                (*larger.histograms)[k].reset(outputs_.packed[k], larger.n_rows());
            }
            subtract(*inherited, *smaller.histograms, *larger.histograms);
            searched.push_back(&larger);
        }
        choose_splits(searched);
    }
    spare_.push_back(std::move(inherited));
    if (smaller.histograms && !may_split(smaller)) spare_.push_back(std::move(smaller.histograms));
}

/// `to` has the rows of the parent that the child has not, and the form for so many.
void VectorGrower::subtract(Histograms& parent, Histograms& child, Histograms& to) {
    const bool alone = bins_.n_cells() * to.size() < kWorthAThread;
    const auto subtract_some = [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t bundle = tree_bundles_[i];
            for (std::size_t k = 0; k < to.size(); ++k) {
                HistogramBuilder::subtract(outputs_.packed[k].packing(), parent[k], child[k], to[k],
                                           bundle, bins_.n_cells(bundle));
            }
        }
    };
    parallel_blocks(alone ? 1 : n_threads_, tree_bundles_.size(), kFeaturesAtOnce, subtract_some);
}

void VectorGrower::choose_splits(std::span<Node* const> nodes) {
    std::vector<VectorTask> tasks;
    for (Node* node : nodes) {
        tasks.push_back({bins_, outputs_, settings_, *node->histograms, node->totals, node->values,
                         node->key, outputs_.least_gain(node->totals, settings_)});
    }
    const std::size_t n_features = tree_features_.size();
    std::vector<Split> found(nodes.size() * n_features);
    const bool alone = bins_.n_cells() * outputs_.size() < kWorthAThread;
    const auto search_some = [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t feature = tree_features_[i % n_features];
            const std::size_t n = i / n_features;
            if (nodes[n]->allows(feature)) search_vector_feature(tasks[n], feature, found[i]);
        }
    };
    parallel_blocks(alone ? 1 : n_threads_, found.size(), kFeaturesAtOnce, search_some);
    for (std::size_t i = 0; i < found.size(); ++i) {  // ties go to the lowest feature
        Split& winner = nodes[i / n_features]->split;
        if (found[i].exists() && found[i].gain > winner.gain) winner = found[i];
    }
}

}  // namespace spinney
