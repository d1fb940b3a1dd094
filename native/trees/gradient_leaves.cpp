// What becomes of a tree when its splits are made: pruning, preorder, values, scores.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "native/base/parallel.hpp"
#include "native/trees/gradient_grower.hpp"
#include "native/trees/gradient_node.hpp"

namespace spinney {
namespace {

/// Rows whose scores and gradients stay in the cache while leaf after leaf takes its own.
constexpr std::size_t kTileRows = 2048;
/// But so many per leaf at least: going from leaf to leaf costs as much as a few rows.
constexpr std::size_t kTileRowsPerLeaf = 64;

/// The first row that is not below `end`, which is near: by eights, then by ones.
const std::uint32_t* first_from(std::size_t end, const std::uint32_t* row,
                                const std::uint32_t* last) {
    while (last - row >= 8 && row[7] < end) row += 8;
    while (row != last && *row < end) ++row;
    return row;
}

}  // namespace

/// From the leaves up: a weak split stays where a strong one is below it.
void GradientGrower::prune() {
    const auto is_leaf = [this](std::int32_t id) {
        return nodes_[static_cast<std::size_t>(id)].left < 0;
    };
    for (std::size_t i = nodes_.size(); i-- > 0;) {  // children are younger than their parents
        Node& node = nodes_[i];
        if (node.left < 0 || node.split.gain >= settings_.prune_gain) continue;
        if (!is_leaf(node.left) || !is_leaf(node.right)) continue;
        take_back(node);
    }
}

/// Makes a leaf of a node whose children are leaves.
void GradientGrower::take_back(Node& node) {
    node.rows = rows_.join(nodes_[static_cast<std::size_t>(node.left)].rows,
                           nodes_[static_cast<std::size_t>(node.right)].rows);
    node.left = node.right = -1;
}

GrownTree GradientGrower::frozen() {
    GrownTree tree;
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
        }
        if (node.histogram) spare_.push_back(std::move(node.histogram));
    }
    return tree;
}

/// Calls of_rows(range, place of a leaf, some of its rows) until every row of every leaf was given.
///
/// Threads take ranges of row numbers, not leaves: leaves are interleaved, and two threads that
/// write to neighbouring rows would wait for each other's cache lines. Within a range all leaves go
/// through the rows side by side, tile by tile.
template <class OfRows>
void GradientGrower::for_leaf_rows(const OfRows& of_rows) const {
    struct Leaf {
        std::size_t place;
        std::span<const std::uint32_t> rows;  ///< increasing
    };
    std::vector<Leaf> leaves;
    for (std::size_t place = 0; place < preorder_.size(); ++place) {
        const Node& node = nodes_[static_cast<std::size_t>(preorder_[place])];
        if (node.left < 0) leaves.push_back({place, rows_.rows(node.rows)});
    }
    const std::size_t tile = std::max(kTileRows, kTileRowsPerLeaf * leaves.size());
    parallel_for(n_threads_, n_row_ranges(), [&](std::size_t range) {
        const std::size_t begin = bins_.n_rows() * range / n_row_ranges();
        const std::size_t end = bins_.n_rows() * (range + 1) / n_row_ranges();
        std::vector<const std::uint32_t*> next;  // row of each leaf
        for (const Leaf& leaf : leaves) {
            next.push_back(
                std::to_address(std::lower_bound(leaf.rows.begin(), leaf.rows.end(), begin)));
        }
        for (std::size_t tile_begin = begin; tile_begin < end; tile_begin += tile) {
            const std::size_t tile_end = std::min(tile_begin + tile, end);
            for (std::size_t i = 0; i < leaves.size(); ++i) {
                const std::uint32_t* first = next[i];
                const std::uint32_t* last = leaves[i].rows.data() + leaves[i].rows.size();
                next[i] = first_from(tile_end, first, last);
                of_rows(range, leaves[i].place, std::span<const std::uint32_t>(first, next[i]));
            }
        }
    });
}

/// Some for every thread, so that one that is held up leaves less to wait for.
std::size_t GradientGrower::n_row_ranges() const {
    const auto threads = static_cast<std::size_t>(std::max(n_threads_, 1));
    return std::clamp<std::size_t>(bins_.n_rows() / kTileRows, 1, 4 * threads);
}

/// Sums of the gradients themselves, on a grid as fine as 50 bits allow for the number of rows:
/// the same for every order of rows, and for a row of weight 3 or three rows.
void GradientGrower::set_values(const GradientInput& input, GrownTree& tree) {
    rows_.write_order();
    const int room = 50 - static_cast<int>(std::ceil(std::log2(packed_.n_repeats() + 1.0)));
    GradientObjective exact = objective_;
    exact.scales.gradient = packed_.gradient_step(room);
    exact.scales.hessian = input.hessians.empty() ? 1.0 : packed_.hessian_step(room);
    const double per_gradient = 1.0 / exact.scales.gradient;
    const double per_hessian = 1.0 / exact.scales.hessian;
    // The low bits of 1.5 * 2^52 + x hold the integer nearest to x.
    const auto nearest = [](double x) {
        return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(x + 0x1.8p52) -
                                         0x4338000000000000U);
    };
    const std::size_t n_nodes = tree.feature.size();
    std::vector<GradientSums> of_range(n_row_ranges() * n_nodes);
    for_leaf_rows([&](std::size_t range, std::size_t place, std::span<const std::uint32_t> rows) {
        GradientSums total;
        for (const std::uint32_t row : rows) {
            const std::int64_t w = input.repeats(row);
            total.gradient += w * nearest(input.gradients[row] * per_gradient);
            total.hessian +=
                input.hessians.empty() ? w : w * nearest(input.hessians[row] * per_hessian);
        }
        of_range[range * n_nodes + place] += total;
    });
    std::vector<GradientSums> sums(n_nodes);
    for (std::size_t i = 0; i < of_range.size(); ++i) sums[i % n_nodes] += of_range[i];
    tree.values.resize(sums.size());
    const double longest = settings_.longest_step > 0.0 ? settings_.longest_step
                                                        : std::numeric_limits<double>::infinity();
    for (std::size_t i = sums.size(); i-- > 0;) {  // children stand behind their parents
        if (tree.right[i] >= 0) {
            sums[i] = sums[i + 1];
            sums[i] += sums[static_cast<std::size_t>(tree.right[i])];
        }
        tree.values[i] = std::clamp(exact.value(sums[i]), -longest, longest);
    }
    settle_values(tree.values);
}

void GradientGrower::settle_values(std::span<double> values) const {
    if (!settings_.moves_values()) return;
    std::vector<ValueBounds> bounds(values.size());
    bounds[0] = ValueBounds::of_root(settings_);
    for (std::size_t place = 0; place < preorder_.size(); ++place) {
        const Node& node = nodes_[static_cast<std::size_t>(preorder_[place])];
        values[place] = bounds[place].clip(values[place]);
        if (node.left < 0) continue;
        const auto left = static_cast<std::size_t>(places_[static_cast<std::size_t>(node.left)]);
        const auto right = static_cast<std::size_t>(places_[static_cast<std::size_t>(node.right)]);
        const int direction =
            node.split.is_categorical
                ? 0
                : settings_.direction(static_cast<std::size_t>(node.split.feature));
        for (const std::size_t child : {left, right}) {
            const Node& below = nodes_[static_cast<std::size_t>(preorder_[child])];
            values[child] = settings_.smoothed(bounds[place].clip(values[child]),
                                               objective_.weight(below.total), values[place]);
        }
        bounds[left] = bounds[place].of_child(true, direction, values[left], values[right]);
        bounds[right] = bounds[place].of_child(false, direction, values[left], values[right]);
    }
}

void GradientGrower::add_leaf_values(std::span<const double> values,
                                     std::span<double> scores) const {
    const auto add = [&](std::size_t, std::size_t place, std::span<const std::uint32_t> rows) {
        const double value = values[place];
        for (const std::uint32_t row : rows) scores[row] += value;
    };
    thread_choice_.again([&] { for_leaf_rows(add); });
    if (rows_.size() == bins_.n_rows()) return;
    std::vector<std::uint8_t> grown_on(bins_.n_rows(), 0);
    for_leaf_rows([&](std::size_t, std::size_t, std::span<const std::uint32_t> rows) {
        for (const std::uint32_t row : rows) grown_on[row] = 1;
    });
    parallel_blocks(n_threads_, bins_.n_rows(), kTileRows, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            if (grown_on[row] != 0) continue;
            const std::int32_t id = leaf_of(static_cast<std::uint32_t>(row));
            const std::int32_t place = places_[static_cast<std::size_t>(id)];
            scores[row] += values[static_cast<std::size_t>(place)];
        }
    });
}

std::int32_t GradientGrower::leaf_of(std::uint32_t row) const {
    std::int32_t id = 0;
    for (;;) {
        const Node& node = nodes_[static_cast<std::size_t>(id)];
        if (node.left < 0) return id;
        const auto feature = static_cast<std::size_t>(node.split.feature);
        const auto missing_bin = static_cast<std::uint8_t>(bins_.n_value_bins(feature));
        const FeaturePlace& place = bins_.place(feature);
        const std::uint8_t bin = place.bin(bins_.codes(place.bundle)[row]);
        id = node.split.sends_left(bin, missing_bin) ? node.left : node.right;
    }
}

GradientGrower::NodeRanges GradientGrower::node_ranges() const {
    NodeRanges ranges;
    ranges.rows.resize(rows_.size());
    for (const std::int32_t id : preorder_) {
        const Node& node = nodes_[static_cast<std::size_t>(id)];
        ranges.first.push_back(static_cast<std::int64_t>(node.rows.first));
        ranges.last.push_back(static_cast<std::int64_t>(node.rows.last));
        if (node.left >= 0) continue;
        const auto rows = rows_.rows(node.rows);  // the leaves together hold every row once
        std::copy(rows.begin(), rows.end(),
                  ranges.rows.begin() + static_cast<std::ptrdiff_t>(node.rows.first));
    }
    return ranges;
}

}  // namespace spinney
