#include "native/trees/gradient_grower.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "native/base/parallel.hpp"
#include "native/base/random.hpp"
#include "native/trees/allowed_features.hpp"
#include "native/trees/gradient_node.hpp"

namespace spinney {
namespace {

/// Cells and additions below which a second thread costs more than it saves.
constexpr std::size_t kWorthAThread = 2048;
/// Rows that are taken out of a histogram one by one sooner than by way of their own histogram.
constexpr std::size_t kFewRowsToTakeOut = 128;

}  // namespace

/// Nodes whose splits are searched together. Histograms may be still to be made: of the first from
/// rows, of the second as the difference of two others, or of its parent's and rows.
struct GradientGrower::Search {
    std::array<Node*, 2> nodes{};  ///< null: not searched
    GradientHistogram* parent = nullptr;
    GradientHistogram* child = nullptr;               ///< null: rows are taken out of the parent's
    RowRange rows_of_child{};                         ///< empty: the child's histogram is there
    std::array<std::optional<SplitTask>, 2> tasks{};  ///< of the nodes; none for levels
};

GradientGrower::GradientGrower(TrainingBins bins, int n_threads)
    : bins_(std::move(bins)),
      n_threads_(n_threads),
      builder_(bins_, n_threads),
      rows_(bins_.n_rows()),
      plain_shares_(make_shares(bins_.plain())),
      joint_shares_(make_shares(bins_.joint())) {}

GradientGrower::Shares GradientGrower::make_shares(const RowLayout& layout) const {
    return {divide(layout, layout.blocks, static_cast<std::size_t>(std::max(n_threads_, 1))),
            divide(layout, layout.blocks_of_one, 1)};
}

/// One share per thread, so that each keeps to its columns; of many columns several, so that a
/// thread that is held up leaves less to wait for, and that cells are searched while in a cache.
std::vector<GradientGrower::Share> GradientGrower::divide(const RowLayout& layout,
                                                          std::span<const ColumnBlock> blocks,
                                                          std::size_t n_threads) const {
    const bool are_many = blocks.size() > 4 * n_threads;
    const std::size_t n_shares = std::min(blocks.size(), are_many ? 4 * n_threads : n_threads);
    std::vector<Share> shares;
    for (std::size_t i = 0; i < n_shares; ++i) {
        const std::size_t first = blocks.size() * i / n_shares;
        const std::size_t last = blocks.size() * (i + 1) / n_shares;
        Share share = {&layout, blocks.subspan(first, last - first), {}};
        for (const ColumnBlock& block : share.blocks) {
            for (const JointColumn& column : layout.columns_of(block)) {
                for (const auto& member : column.members) {
                    const auto& features = bins_.bundle(member.bundle).features;
                    share.features.insert(share.features.end(), features.begin(), features.end());
                }
            }
        }
        std::sort(share.features.begin(), share.features.end());
        shares.push_back(std::move(share));
    }
    return shares;
}

GradientGrower::~GradientGrower() = default;

GrownTree GradientGrower::grow(const GradientInput& input, std::span<const std::uint32_t> rows,
                               const GradientTreeSettings& settings) {
    GrownTree tree;
    thread_choice_.run([&] {
        start(input, rows, settings);
        open_root();
        settings.symmetric ? grow_levels() : grow_leaves();
        tree = frozen();
        set_values(input, tree);
    });
    return tree;
}

void GradientGrower::grow_leaves() {
    std::int32_t n_leaves = 1;
    const std::int32_t most = settings_.max_leaf_nodes;
    while (!order_.empty() && (most == 0 || n_leaves < most)) {
        ++n_leaves;
        split_node(order_.pop().node, n_leaves == most);
    }
    prune();
}

void GradientGrower::start(const GradientInput& input, std::span<const std::uint32_t> rows,
                           const GradientTreeSettings& settings) {
    settings_ = settings;
    rows_.reset(rows);
    packed_.fill(input, rows, n_threads_, bins_.n_cells());
    objective_.scales = {packed_.gradient_scale(), packed_.hessian_scale(), input.weight_scale};
    objective_.l1 = settings.l1;
    objective_.l2 = settings.l2;
    nodes_.clear();
    order_ = GrowthOrder(true);
    tree_features_ = features_of_tree(bins_.n_features(), settings);
    in_tree_.assign(bins_.n_features(), 0);
    bundle_in_tree_.assign(bins_.n_bundles(), 0);
    for (const std::uint32_t feature : tree_features_) {
        in_tree_[feature] = 1;
        bundle_in_tree_[bins_.place(feature).bundle] = 1;
    }
}

bool GradientGrower::may_split(const Node& node) const {
    return objective_.weight(node.total) >= 2.0 * settings_.min_samples_leaf * (1.0 - 0x1p-40) &&
           node.n_rows() >= 2 && (settings_.max_depth == 0 || node.depth < settings_.max_depth);
}

std::unique_ptr<GradientHistogram> GradientGrower::take_histogram() {
    if (spare_.empty()) return std::make_unique<GradientHistogram>(bins_);
    auto histogram = std::move(spare_.back());
    spare_.pop_back();
    return histogram;
}

void GradientGrower::open_root() {
    nodes_.emplace_back();
    Node& root = nodes_.back();
    root.rows.last = rows_.size();
    root.bounds = ValueBounds::of_root(settings_);
    root.key = random_bits(settings_.seed, Stream::kThresholds, 0);
    root.histogram = take_histogram();
    const RowRange all = {rows_.in_order() ? nullptr : rows_.rows(root.rows).data(), 0,
                          rows_.size()};
    builder_.build(packed_, all, *root.histogram);
    root.total = builder_.total_of(packed_, all, *root.histogram);
    root.value = root.bounds.clip(objective_.value(root.total));
    if (!may_split(root)) return spare_.push_back(std::move(root.histogram));
    if (settings_.symmetric) return;
    allow_features(root, 0);
    Search search = {.nodes = {&root, nullptr}};
    choose_splits(search);
    open(0);
}

void GradientGrower::allow_features(Node& node, std::int32_t id) const {
    node.allowed = features_of_node(bins_.n_features(), tree_features_, node.used, id, settings_);
}

void GradientGrower::open(std::int32_t id) {
    Node& node = nodes_[static_cast<std::size_t>(id)];
    if (!node.histogram || settings_.symmetric) return;
    if (node.split.exists()) {
        order_.push({id, settings_.leaf_wise ? node.split.gain : -static_cast<double>(node.depth)});
    } else {
        spare_.push_back(std::move(node.histogram));
    }
}

void GradientGrower::split_node(std::int32_t id, bool is_last) {
    Node left;
    Node right;
    Node& parent = nodes_[static_cast<std::size_t>(id)];
    partition(parent, left, right);
    const auto left_id = static_cast<std::int32_t>(nodes_.size());
    parent.left = left_id;
    parent.right = left_id + 1;
    if (is_last) {  // no leaf will be split any more
        spare_.push_back(std::move(parent.histogram));
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

/// The bins that go left, as codes of their bundle: those of other features are in the usual bin.
RowPartition::GoesLeft GradientGrower::codes_that_go_left(const TrainingBins& bins,
                                                          const Split& split) {
    const auto feature = static_cast<std::size_t>(split.feature);
    const FeaturePlace& place = bins.place(feature);
    const auto missing_bin = static_cast<std::uint8_t>(bins.n_value_bins(feature));
    RowPartition::GoesLeft goes_left;
    if (!place.is_shared && !split.is_categorical) {  // most splits: two stretches of bytes
        goes_left.fill(0);
        std::fill_n(goes_left.begin(), split.bin + 1, std::uint8_t{1});
        goes_left[missing_bin] = split.missing_left ? 1 : 0;
        return goes_left;
    }
    goes_left.fill(split.sends_left(place.usual, missing_bin) ? 1 : 0);
    const std::size_t n = place.is_shared ? place.n_bins : goes_left.size();
    for (std::size_t bin = 0; bin < n; ++bin) {
        goes_left[place.code(bin)] =
            split.sends_left(static_cast<std::uint8_t>(bin), missing_bin) ? 1 : 0;
    }
    return goes_left;
}

void GradientGrower::partition(Node& parent, Node& left, Node& right) {
    const auto feature = static_cast<std::size_t>(parent.split.feature);
    const std::uint8_t* codes = bins_.codes(bins_.place(feature).bundle);
    const std::size_t middle =
        rows_.split(parent.rows, codes, codes_that_go_left(bins_, parent.split), n_threads_);
    const auto other_list = static_cast<std::uint8_t>(1 - parent.rows.list);
    left.rows = {parent.rows.first, middle, other_list};
    right.rows = {middle, parent.rows.last, other_list};
    left.depth = right.depth = parent.depth + 1;
    left.key = random_bits(parent.key, Stream::kNodes, 0);
    right.key = random_bits(parent.key, Stream::kNodes, 1);
    left.total = parent.split.left;
    right.total = parent.total - left.total;
    if (!settings_.interactions.empty()) {
        left.used = parent.used;
        left.used.push_back(static_cast<std::uint32_t>(feature));
        right.used = left.used;
    }
    if (!settings_.moves_values()) return;
    const int direction = parent.split.is_categorical ? 0 : settings_.direction(feature);
    for (Node* child : {&left, &right}) {
        child->value =
            child_value(objective_, settings_, child->total, parent.bounds, parent.value);
    }
    left.bounds = parent.bounds.of_child(true, direction, left.value, right.value);
    right.bounds = parent.bounds.of_child(false, direction, left.value, right.value);
}

/// Builds the histogram of the child with fewer rows; the other one's is the difference, in place
/// of the parent's unless it has become small enough to be packed.
void GradientGrower::fill_histograms(Node& parent, Node& left, Node& right) {
    std::unique_ptr<GradientHistogram> inherited = std::move(parent.histogram);
    const bool left_is_smaller = left.n_rows() <= right.n_rows();
    Node& smaller = left_is_smaller ? left : right;
    Node& larger = left_is_smaller ? right : left;
    if (!may_split(smaller) && may_split(larger) && inherited->is_packed() &&
        smaller.n_rows() <= kFewRowsToTakeOut) {
        const auto rows = rows_.rows(smaller.rows);
        larger.histogram = std::move(inherited);
        Search search = {.nodes = {nullptr, &larger},
                         .parent = larger.histogram.get(),
                         .rows_of_child = {rows.data(), 0, rows.size()}};
        return choose_splits(search);
    }
    if (may_split(smaller) || may_split(larger)) {
        const auto rows = rows_.rows(smaller.rows);
        smaller.histogram = take_histogram();
        smaller.histogram->reset(packed_, rows.size());
        Search search = {.nodes = {may_split(smaller) ? &smaller : nullptr, nullptr},
                         .child = smaller.histogram.get(),
                         .rows_of_child = {rows.data(), 0, rows.size()}};
        if (may_split(larger)) {
            search.nodes[1] = &larger;
            search.parent = inherited.get();
            larger.histogram = take_histogram();
            larger.histogram->reset(packed_, larger.n_rows());
            if (larger.histogram->is_packed() == inherited->is_packed()) {
                std::swap(larger.histogram, inherited);
            }
        }
        if (builder_.shares_rows(*smaller.histogram, rows.size())) {
            builder_.build_by_rows(packed_, search.rows_of_child, *smaller.histogram);
            search.rows_of_child = {};
        }
        choose_splits(search);
    }
    spare_.push_back(std::move(inherited));
    if (smaller.histogram && !may_split(smaller)) spare_.push_back(std::move(smaller.histogram));
}

void GradientGrower::choose_splits(Search& search) {
    const RowLayout& layout = bins_.layout_for(search.rows_of_child.size);
    const Shares& of_layout = &layout == &bins_.plain() ? plain_shares_ : joint_shares_;
    const bool alone =
        thread_choice_.is_alone() ||
        search.rows_of_child.size * layout.columns.size() + bins_.n_cells() < kWorthAThread;
    const std::vector<Share>& shares = alone ? of_layout.of_one : of_layout.of_threads;
    best_.assign(shares.size(), {});
    for (std::size_t k = 0; k < 2; ++k) {
        if (search.nodes[k] == nullptr || settings_.symmetric) continue;
        search.tasks[k].emplace(task_of(*search.nodes[k]));
    }
    parallel_for(alone ? 1 : n_threads_, shares.size(),
                 [&](std::size_t i) { work_on_share(shares[i], search, best_[i].splits); });
    for (std::size_t k = 0; k < 2; ++k) {
        if (search.nodes[k] == nullptr) continue;
        GradientSplit& winner = search.nodes[k]->split;
        for (const BestOfShare& of_share : best_) {
            const GradientSplit& split = of_share.splits[k];
            const bool is_tie = split.gain == winner.gain && split.feature < winner.feature;
            if (split.exists() && (split.gain > winner.gain || is_tie)) winner = split;
        }
    }
}

SplitTask GradientGrower::task_of(const Node& node) const {
    return {bins_,       *node.histogram, packed_.packing(),
            objective_,  settings_,       node.total,
            node.bounds, node.value,      SplitLimits(node.total, objective_, settings_),
            node.key};
}

/// Build, subtract, and search while the cells are in the cache.
void GradientGrower::work_on_share(const Share& share, const Search& search,
                                   std::array<GradientSplit, 2>& best) const {
    const std::size_t n_taken_out = search.child == nullptr ? search.rows_of_child.size : 0;
    const std::span<const std::uint32_t> taken_out(search.rows_of_child.listed, n_taken_out);
    if (search.child != nullptr && search.rows_of_child.size > 0) {
        builder_.build_blocks(packed_, search.rows_of_child, *share.layout, share.blocks,
                              *search.child);
    }
    for (const std::uint32_t feature : share.features) {
        const std::size_t bundle = bins_.place(feature).bundle;
        if (bundle_in_tree_[bundle] == 0) continue;
        if (bins_.bundle(bundle).features[0] != feature) {
            // The bundle is there already: its features are increasing, and so are the share's.
        } else if (n_taken_out > 0) {
            builder_.take_out(packed_, taken_out, *search.parent, bundle);
        } else if (search.parent != nullptr) {
            HistogramBuilder::subtract(packed_.packing(), *search.parent, *search.child,
                                       *search.nodes[1]->histogram, bundle, bins_.n_cells(bundle));
        }
        if (in_tree_[feature] == 0) continue;
        for (std::size_t k = 0; k < 2; ++k) {  // none for levels, which are searched as a whole
            if (search.tasks[k] && search.nodes[k]->allows(feature)) {
                search_feature(*search.tasks[k], feature, best[k]);
            }
        }
    }
}

}  // namespace spinney
