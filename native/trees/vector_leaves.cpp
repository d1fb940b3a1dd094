// What becomes of a tree of vector leaves when its splits are made: pruning, values, scores.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "native/base/parallel.hpp"
#include "native/trees/vector_grower.hpp"
#include "native/trees/vector_node.hpp"

namespace spinney {
namespace {

/// Rows that a thread takes at a time.
constexpr std::size_t kBlockRows = 4096;

}  // namespace

/// From the leaves up: a weak split stays where a strong one is below it.
void VectorGrower::prune() {
    const auto is_leaf = [this](std::int32_t id) {
        return nodes_[static_cast<std::size_t>(id)].left < 0;
    };
    for (std::size_t i = nodes_.size(); i-- > 0;) {  // children are younger than their parents
        Node& node = nodes_[i];
        if (node.left < 0 || node.split.gain >= settings_.prune_gain) continue;
        if (!is_leaf(node.left) || !is_leaf(node.right)) continue;
        node.rows = rows_.join(nodes_[static_cast<std::size_t>(node.left)].rows,
                               nodes_[static_cast<std::size_t>(node.right)].rows);
        node.left = node.right = -1;
    }
}

GrownTree VectorGrower::frozen() {
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
        tree.weight.push_back(outputs_.objectives[0].weight(node.totals[0]));
        tree.gain.push_back(node.left >= 0 ? node.split.gain : 0.0);
        if (node.left >= 0) {
            stack.push_back({node.right, place});
            stack.push_back({node.left, -1});
        }
    }
    for (Node& node : nodes_) {
        if (node.histograms) spare_.push_back(std::move(node.histograms));
    }
    return tree;
}

/// The place of the leaf of every row, of those that were not grown on by way of their bins.
void VectorGrower::write_places() {
    rows_.write_order();
    leaf_place_.assign(bins_.n_rows(), -1);
    parallel_for(n_threads_, preorder_.size(), [&](std::size_t place) {
        const Node& node = nodes_[static_cast<std::size_t>(preorder_[place])];
        if (node.left >= 0) return;
        for (const std::uint32_t row : rows_.rows(node.rows)) {
            leaf_place_[row] = static_cast<std::int32_t>(place);
        }
    });
    if (rows_.size() == bins_.n_rows()) return;
    parallel_blocks(n_threads_, bins_.n_rows(), kBlockRows,
                    [&](std::size_t begin, std::size_t end) {
                        for (std::size_t row = begin; row < end; ++row) {
                            if (leaf_place_[row] >= 0) continue;
                            const auto id = static_cast<std::size_t>(leaf_of(row));
                            leaf_place_[row] = places_[id];
                        }
                    });
}

std::int32_t VectorGrower::leaf_of(std::size_t row) const {
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

void VectorGrower::set_values(std::span<const GradientInput> inputs, GrownTree& tree) const {
    tree.values.resize(tree.feature.size() * inputs.size());
    for (std::size_t k = 0; k < inputs.size(); ++k) set_values_of(k, inputs[k], tree);
    settle_values(tree.values);
}

/// Sums of the gradients themselves, on a grid as fine as 50 bits allow for the number of rows: as
/// GradientGrower::set_values has them.
void VectorGrower::set_values_of(std::size_t output, const GradientInput& input,
                                 GrownTree& tree) const {
    const PackedGradients& packed = outputs_.packed[output];
    const int room = 50 - static_cast<int>(std::ceil(std::log2(packed.n_repeats() + 1.0)));
    GradientObjective exact = outputs_.objectives[output];
    exact.scales.gradient = packed.gradient_step(room);
    exact.scales.hessian = input.hessians.empty() ? 1.0 : packed.hessian_step(room);
    const double per_gradient = 1.0 / exact.scales.gradient;
    const double per_hessian = 1.0 / exact.scales.hessian;
    // The low bits of 1.5 * 2^52 + x hold the integer nearest to x.
    const auto nearest = [](double x) {
        return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(x + 0x1.8p52) -
                                         0x4338000000000000U);
    };
    std::vector<GradientSums> sums(tree.feature.size());
    parallel_for(n_threads_, sums.size(), [&](std::size_t place) {
        const Node& node = nodes_[static_cast<std::size_t>(preorder_[place])];
        if (node.left >= 0) return;
        GradientSums total;
        for (const std::uint32_t row : rows_.rows(node.rows)) {
            const std::int64_t w = input.repeats(row);
            total.gradient += w * nearest(input.gradients[row] * per_gradient);
            total.hessian +=
                input.hessians.empty() ? w : w * nearest(input.hessians[row] * per_hessian);
        }
        sums[place] = total;
    });
    const double least = settings_.min_child_weight * (1.0 - 0x1p-40);
    const double longest = settings_.longest_step > 0.0 ? settings_.longest_step
                                                        : std::numeric_limits<double>::infinity();
    for (std::size_t i = sums.size(); i-- > 0;) {  // children stand behind their parents
        if (tree.right[i] >= 0) {
            sums[i] = sums[i + 1];
            sums[i] += sums[static_cast<std::size_t>(tree.right[i])];
        }
        // An output that takes no part here stays where it is: see OutputTerms.
        const bool takes_part = exact.hessian(sums[i]) >= least;
        tree.values[i * outputs_.size() + output] =
            takes_part ? std::clamp(exact.value(sums[i]), -longest, longest) : 0.0;
    }
}

void VectorGrower::settle_values(std::span<double> values) const {
    if (!settings_.moves_values()) return;
    const std::size_t n_outputs = outputs_.size();
    const ValueBounds bounds = ValueBounds::of_root(settings_);
    for (std::size_t k = 0; k < n_outputs; ++k) values[k] = bounds.clip(values[k]);
    for (std::size_t place = 0; place < preorder_.size(); ++place) {
        const Node& node = nodes_[static_cast<std::size_t>(preorder_[place])];
        if (node.left < 0) continue;
        for (const std::int32_t id : {node.left, node.right}) {
            const auto child = static_cast<std::size_t>(places_[static_cast<std::size_t>(id)]);
            const double weight =
                outputs_.objectives[0].weight(nodes_[static_cast<std::size_t>(id)].totals[0]);
            for (std::size_t k = 0; k < n_outputs; ++k) {
                double& value = values[child * n_outputs + k];
                value = bounds.clip(
                    settings_.smoothed(bounds.clip(value), weight, values[place * n_outputs + k]));
            }
        }
    }
}

void VectorGrower::add_leaf_values(std::span<const double> values, std::span<double> scores) const {
    const std::size_t n_outputs = outputs_.size();
    const std::size_t n_rows = bins_.n_rows();
    parallel_blocks(n_threads_, n_rows, kBlockRows, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = 0; k < n_outputs; ++k) {
            double* of_output = scores.data() + k * n_rows;
            for (std::size_t row = begin; row < end; ++row) {
                of_output[row] +=
                    values[static_cast<std::size_t>(leaf_place_[row]) * n_outputs + k];
            }
        }
    });
}

GradientGrower::NodeRanges VectorGrower::node_ranges() const {
    GradientGrower::NodeRanges ranges;
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
