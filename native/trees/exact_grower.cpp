#include "native/trees/exact_grower.hpp"

#include <algorithm>
#include <atomic>
#include <optional>

#include "native/base/failure.hpp"
#include "native/base/parallel.hpp"
#include "native/trees/exact_split.hpp"
#include "native/trees/exact_vectors.hpp"
#include "native/trees/feature_draw.hpp"
#include "native/trees/growth_order.hpp"
#include "native/trees/node_rows.hpp"

namespace spinney {
namespace {

/// Weights stand on a grid: ten rows of weight 0.1 may weigh a hair less than 1 there.
constexpr double kGridSlack = 1.0 - 0x1p-40;
/// A scan of fewer entries than this is not worth waking another thread for.
constexpr std::size_t kEntriesPerThread = 16384;

template <class Rows>
struct ExactGrowingNode {
    std::size_t first = 0;  ///< the node's rows: [first, last) of every order
    std::size_t last = 0;
    std::vector<std::uint32_t> n_present;  ///< per feature: rows with a value stand in front
    std::int32_t depth = 0;
    std::int32_t left = -1;
    std::int32_t right = -1;
    typename Rows::Sums total;
    ExactSplit<Rows> best;  ///< applied once the node has children

    std::size_t n_rows() const { return last - first; }
};

/// Invariant: a node owns the range [first, last) of its rows and of the order of every feature;
/// inside it rows keep the order they had in the whole table.
template <class Rows>
class ExactGrower {
  public:
    ExactGrower(const SortedColumns& columns, const ExactRows& data, const Rows& rows,
                const TreeSettings& settings, int n_threads)
        : columns_(columns),
          data_(data),
          rows_(rows),
          settings_(settings),
          n_threads_(n_threads),
          open_(settings.max_leaf_nodes > 0),
          node_of_row_(columns.n_rows(), 0) {}

    ExactTree grow() {
        open_root();
        std::int32_t n_leaves = 1;
        while (!open_.empty() &&
               (settings_.max_leaf_nodes == 0 || n_leaves < settings_.max_leaf_nodes)) {
            split_node(open_.pop().node);
            ++n_leaves;
        }
        return frozen();
    }

  private:
    using Node = ExactGrowingNode<Rows>;

    bool may_split(const Node& node) const {
        const double weight = static_cast<double>(node.total.weight) * data_.weight_scale;
        const double enough = std::max(settings_.min_samples_split, 2 * settings_.min_samples_leaf);
        return node.n_rows() >= 2 && weight >= enough * kGridSlack &&
               (settings_.max_depth == 0 || node.depth < settings_.max_depth);
    }

    void open_root() {
        Node root;
        root.last = columns_.n_rows();
        root.total = rows_.total();
        root.n_present.resize(columns_.n_features());
        for (std::size_t f = 0; f < columns_.n_features(); ++f) {
            root.n_present[f] = static_cast<std::uint32_t>(columns_.feature(f).n_present);
        }
        nodes_.push_back(std::move(root));
        open(0);
    }

    /// The order of a feature: the one all trees share, until this tree has split its root.
    std::span<const OrderedRow> order(std::size_t f, const Node& node) const {
        const std::vector<OrderedRow>& all =
            orders_.empty() ? columns_.feature(f).order : orders_[f];
        return std::span(all).subspan(node.first, node.n_rows());
    }

    /// The rows of a node. A stump of numbers never asks: putting rows in order costs as much as
    /// looking at two features.
    std::span<const std::uint32_t> members(const Node& node) const {
        return members_->rows(node.first, node.last);
    }
    NodeRows& all_members() {
        if (!members_) members_.emplace(columns_.n_rows());
        return *members_;
    }

    /// Looks for a split and queues the node if there is one; a node without stays a leaf.
    void open(std::int32_t id) {
        Node& node = nodes_[static_cast<std::size_t>(id)];
        if (!may_split(node)) return;
        const auto features = draw_features(columns_.n_features(), settings_, id);
        for (const std::uint32_t f : features) {
            if (columns_.feature(f).is_categorical) all_members();  // before threads ask for it
        }
        const double least_gain = least_gain_of(node);
        const ExactNode<Rows> task{node.total,
                                   settings_.min_samples_leaf / data_.weight_scale * kGridSlack,
                                   least_gain, least_gain};
        std::vector<ExactSplit<Rows>> best(features.size());
        parallel_for(threads_for(node), features.size(), [&](std::size_t i) {
            const std::size_t f = features[i];
            ExactSearch<Rows> search(rows_, columns_, f, task);
            best[i] = columns_.feature(f).is_categorical
                          ? search.categories(members(node))
                          : search.numbers(order(f, node), node.n_present[f]);
        });
        for (ExactSplit<Rows>& found : best) {
            if (!found.split.exists()) continue;
            if (!node.best.split.exists() || found.split.gain > node.best.split.gain) {
                node.best = std::move(found);
            }
        }
        if (node.best.split.exists()) open_.push({id, node.best.split.gain});
    }

    /// Classes that no single split tells apart may be told apart by two: where children can be
    /// split again, a mixed node takes a split that gains nothing (XOR is four such points).
    double least_gain_of(const Node& node) const {
        const bool goes_deeper = settings_.max_depth == 0 || node.depth + 1 < settings_.max_depth;
        if (settings_.min_gain == 0.0 && goes_deeper && rows_.is_mixed(node.total)) return -1.0;
        return settings_.min_gain / gain_unit();
    }

    int threads_for(const Node& node) const {
        return node.n_rows() * columns_.n_features() >= kEntriesPerThread ? n_threads_ : 1;
    }

    /// What a unit of gain is worth: squares of sums over weights, or weights.
    double gain_unit() const {
        return data_.criterion == Criterion::kSquared
                   ? data_.target_scale * (data_.target_scale / data_.weight_scale)
                   : data_.weight_scale;
    }

    void split_node(std::int32_t id) {
        Node left;
        Node right;
        Node& parent = nodes_[static_cast<std::size_t>(id)];
        left.depth = right.depth = parent.depth + 1;
        left.total = parent.best.left;
        right.total = Rows::difference(parent.total, left.total);
        parent.left = static_cast<std::int32_t>(nodes_.size());
        parent.right = parent.left + 1;
        const std::int32_t left_id = parent.left;
        left.first = parent.first;
        right.last = parent.last;
        left.last = right.first = parent.first + send_rows(parent);
        if (may_split(left) || may_split(right)) {
            all_members().split(parent.first, parent.last,
                                [&](std::uint32_t row) { return node_of_row_[row] == left_id; });
            move_orders(parent, left, right);
        }
        nodes_.push_back(std::move(left));  // `parent` may dangle from here on
        nodes_.push_back(std::move(right));
        open(left_id);
        open(left_id + 1);
    }

    /// Notes for every row of a node to which child it goes; returns how many go left.
    std::size_t send_rows(const Node& parent) {
        const Split& split = parent.best.split;
        const auto f = static_cast<std::size_t>(split.feature);
        const SortedFeature& feature = columns_.feature(f);
        if (!feature.is_categorical) return send_numbers(parent, order(f, parent));
        const auto missing = static_cast<std::uint8_t>(feature.n_bins);
        std::size_t n_left = 0;
        for (const std::uint32_t row : members(parent)) {
            const bool left = split.sends_left(feature.bins[row], missing);
            node_of_row_[row] = left ? parent.left : parent.right;
            n_left += left ? 1 : 0;
        }
        return n_left;
    }

    std::size_t send_numbers(const Node& parent, std::span<const OrderedRow> entries) {
        const auto f = static_cast<std::size_t>(parent.best.split.feature);
        const bool missing_left = parent.best.split.missing_left;
        const std::size_t n_present = parent.n_present[f];
        const std::size_t n_left =
            parent.best.n_left + (missing_left ? entries.size() - n_present : 0);
        // In the order of values rows lie anywhere in memory: of all rows only the fewer are sent.
        const bool is_all = entries.size() == node_of_row_.size();
        const std::int32_t most = 2 * n_left < entries.size() ? parent.right : parent.left;
        if (is_all) std::fill(node_of_row_.begin(), node_of_row_.end(), most);
        const auto send = [&](std::span<const OrderedRow> some, std::int32_t child) {
            if (is_all && child == most) return;
            parallel_blocks(n_threads_, some.size(), kEntriesPerThread,
                            [&](std::size_t first, std::size_t last) {
                                for (const OrderedRow& entry : some.subspan(first, last - first)) {
                                    node_of_row_[entry.row()] = child;
                                }
                            });
        };
        send(entries.first(parent.best.n_left), parent.left);
        send(entries.subspan(parent.best.n_left, n_present - parent.best.n_left), parent.right);
        send(entries.subspan(n_present), missing_left ? parent.left : parent.right);
        return n_left;
    }

    /// Splits the order of every numeric feature between the children, keeping it.
    void move_orders(const Node& parent, Node& left, Node& right) {
        if (orders_.empty()) {
            orders_.resize(columns_.n_features());
            for (std::size_t f = 0; f < orders_.size(); ++f) {
                orders_[f].resize(columns_.feature(f).order.size());
            }
            is_first_move_ = true;
        }
        left.n_present.resize(columns_.n_features());
        right.n_present.resize(columns_.n_features());
        parallel_for(threads_for(parent), columns_.n_features(), [&](std::size_t f) {
            if (columns_.feature(f).is_categorical) return;
            left.n_present[f] = move_order(f, parent);
            right.n_present[f] = parent.n_present[f] - left.n_present[f];
        });
        is_first_move_ = false;
    }

    /// Returns how many rows with a value go left. An entry starts a value in its child when any
    /// entry since the one before it there started one.
    std::uint32_t move_order(std::size_t f, const Node& parent) {
        const std::vector<OrderedRow>& all =
            is_first_move_ ? columns_.feature(f).order : orders_[f];
        const auto from = std::span(all).subspan(parent.first, parent.n_rows());
        OrderedRow* to_left = orders_[f].data() + parent.first;
        std::vector<OrderedRow> to_right(parent.n_rows());
        std::size_t n_left = 0;
        std::size_t n_right = 0;
        bool starts_left = false;
        bool starts_right = false;
        std::size_t present_left = 0;
        for (std::size_t i = 0; i < from.size(); ++i) {
            if (i == parent.n_present[f]) present_left = n_left;
            const std::uint32_t row = from[i].row();
            const bool left = node_of_row_[row] == parent.left;
            starts_left = starts_left || from[i].starts_value();
            starts_right = starts_right || from[i].starts_value();
            to_left[n_left] = OrderedRow(row, starts_left && n_left > 0);
            to_right[n_right] = OrderedRow(row, starts_right && n_right > 0);
            n_left += left ? 1 : 0;
            n_right += left ? 0 : 1;
            starts_left = starts_left && !left;
            starts_right = starts_right && left;
        }
        if (parent.n_present[f] == from.size()) present_left = n_left;
        std::copy_n(to_right.begin(), n_right, to_left + n_left);
        return static_cast<std::uint32_t>(present_left);
    }

    ExactTree frozen() {
        ExactTree tree;
        struct Visit {
            std::int32_t id;
            std::int32_t parent;  ///< place whose `right` this node is; -1: none
        };
        std::vector<Visit> stack = {{0, -1}};
        std::vector<std::int32_t> places(nodes_.size());  // in preorder, by order of creation
        while (!stack.empty()) {
            const Visit visit = stack.back();
            stack.pop_back();
            const Node& node = nodes_[static_cast<std::size_t>(visit.id)];
            const auto place = static_cast<std::int32_t>(tree.threshold.size());
            if (visit.parent >= 0) tree.nodes.right[static_cast<std::size_t>(visit.parent)] = place;
            append(tree, node);
            places[static_cast<std::size_t>(visit.id)] = place;
            if (node.left >= 0) {
                stack.push_back({node.right, place});
                stack.push_back({node.left, -1});
            }
        }
        if (!std::is_sorted(places.begin(), places.end())) {  // or they are 0, 1, 2, ...
            for (std::int32_t& node : node_of_row_) node = places[static_cast<std::size_t>(node)];
        }
        tree.leaf_of_row = std::move(node_of_row_);
        return tree;
    }

    void append(ExactTree& tree, const Node& node) const {
        const bool is_split = node.left >= 0;
        tree.nodes.append(is_split ? &node.best.split : nullptr);
        tree.threshold.push_back(is_split && !node.best.split.is_categorical ? node.best.threshold
                                                                             : 0.0);
        rows_.values(node.total, tree.nodes.values);
        tree.nodes.count.push_back(static_cast<std::int64_t>(node.n_rows()));
        tree.nodes.weight.push_back(static_cast<double>(node.total.weight) * data_.weight_scale);
        tree.nodes.gain.push_back(is_split ? node.best.split.gain * gain_unit() : 0.0);
    }

    const SortedColumns& columns_;
    const ExactRows& data_;
    const Rows& rows_;
    const TreeSettings& settings_;
    int n_threads_;
    std::optional<NodeRows> members_;  ///< made when somebody asks for the rows of a node
    GrowthOrder open_;
    std::vector<Node> nodes_;
    std::vector<std::vector<OrderedRow>> orders_;  ///< of this tree; empty before its first split
    bool is_first_move_ = false;
    std::vector<std::int32_t> node_of_row_;  ///< by order of creation; the deepest so far
};

}  // namespace

ExactTree grow_exact_tree(const SortedColumns& columns, const ExactRows& rows,
                          const TreeSettings& settings, int n_threads) {
    const auto grow = [&]<class Rows>(const Rows& stored) {
        return ExactGrower<Rows>(columns, rows, stored, settings, n_threads).grow();
    };
    using Short = SignedRows<std::int32_t>;
    using Long = SignedRows<std::int64_t>;
    if (!rows.cells.empty()) {
        if (const auto signs = Short::of(rows, rows.cells)) return grow(*signs);
    } else if (are_signs(rows)) {
        const std::vector<std::int32_t> cells = short_cells(rows);
        if (!cells.empty()) {
            if (const auto signs = Short::of(rows, cells)) return grow(*signs);
        }
        if (const auto signs = Long::of(rows, rows.targets)) return grow(*signs);
    }
    if (rows.n_outputs == 1) return grow(NumberRows(rows));
    return grow(VectorRows(rows));
}

std::vector<std::int8_t> say_of_rows(std::span<const std::int8_t> said,
                                     std::span<const std::int32_t> leaf_of_row, int n_threads) {
    if (said.empty()) throw Failure(FailureKind::kInvalidInput, "a tree has no nodes");
    std::vector<std::int8_t> answers(leaf_of_row.size());
    std::atomic<bool> is_odd = false;
    parallel_blocks(n_threads, answers.size(), kEntriesPerThread,
                    [&](std::size_t first, std::size_t last) {
                        // Local: a byte that is written might be part of anything else.
                        const std::int8_t* __restrict of_leaf = said.data();
                        const std::size_t n_leaves = said.size();
                        const std::int32_t* __restrict leaves = leaf_of_row.data();
                        std::int8_t* __restrict to = answers.data();
                        std::size_t largest = 0;
                        for (std::size_t row = first; row < last; ++row) {
                            const auto leaf = static_cast<std::size_t>(leaves[row]);
                            largest = leaf > largest ? leaf : largest;
                            to[row] = of_leaf[leaf < n_leaves ? leaf : 0];
                        }
                        if (largest >= n_leaves) is_odd = true;
                    });
    if (is_odd) throw Failure(FailureKind::kInvalidInput, "a row is in a leaf that is not there");
    return answers;
}

}  // namespace spinney
