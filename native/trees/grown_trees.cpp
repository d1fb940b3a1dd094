#include "native/trees/grown_trees.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "native/base/failure.hpp"

namespace spinney {
namespace {

template <class Number, class Numbers>
void insert(std::vector<Number>& all, const Numbers& more) {
    all.insert(all.end(), more.begin(), more.end());
}

/// As Python prints it, for messages.
std::string text_of(double number) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    return {text.data(), end};
}

}  // namespace

void take_steps(std::span<double> values, double learning_rate) {
    for (double& value : values) {
        const double step = value * learning_rate;
        if (!std::isfinite(value)) {
            throw Failure(FailureKind::kInvalidInput,
                          "The best value of a leaf is not a finite number: targets and scores are "
                          "too far apart. Divide y by a constant, or lower learning_rate.");
        }
        if (!std::isfinite(step)) {
            throw Failure(FailureKind::kInvalidParameter,
                          "learning_rate=" + text_of(learning_rate) +
                              ": times the value of a leaf, " + text_of(value) +
                              ", it is beyond every number. Lower learning_rate: 1.0 takes the "
                              "whole step, and less is usual.");
        }
        value = step;
    }
}

void GrownTrees::append(const GrownTree& tree, std::span<const double> threshold) {
    put_behind(tree, threshold);
    starts_.push_back(static_cast<std::int64_t>(nodes_.feature.size()));
}

void GrownTrees::append_all(const GrownTree& nodes, std::span<const double> thresholds,
                            std::span<const std::int64_t> starts) {
    const auto before = static_cast<std::int64_t>(nodes_.feature.size());
    put_behind(nodes, thresholds);
    for (std::size_t t = 1; t < starts.size(); ++t) starts_.push_back(before + starts[t]);
}

void GrownTrees::put_behind(const GrownTree& tree, std::span<const double> threshold) {
    const auto n_sets = static_cast<std::int32_t>(nodes_.category_sets.size() / kCategorySetBytes);
    insert(nodes_.feature, tree.feature);
    insert(nodes_.right, tree.right);
    insert(nodes_.missing_left, tree.missing_left);
    for (const std::int32_t set : tree.category_set) {
        nodes_.category_set.push_back(set < 0 ? set : n_sets + set);
    }
    insert(nodes_.category_sets, tree.category_sets);
    insert(nodes_.values, tree.values);
    insert(nodes_.count, tree.count);
    insert(nodes_.weight, tree.weight);
    insert(nodes_.gain, tree.gain);
    insert(thresholds_, threshold);
}

void GrownTrees::truncate(std::size_t n) {
    starts_.resize(n + 1);
    const auto n_nodes = static_cast<std::size_t>(starts_.back());
    nodes_.feature.resize(n_nodes);
    nodes_.right.resize(n_nodes);
    nodes_.missing_left.resize(n_nodes);
    nodes_.category_set.resize(n_nodes);
    nodes_.values.resize(n_nodes * width_);
    nodes_.count.resize(n_nodes);
    nodes_.weight.resize(n_nodes);
    nodes_.gain.resize(n_nodes);
    thresholds_.resize(n_nodes);
    const auto& sets = nodes_.category_set;
    const auto last = std::max_element(sets.begin(), sets.end());
    const std::int32_t n_sets = last == sets.end() ? 0 : *last + 1;
    nodes_.category_sets.resize(static_cast<std::size_t>(n_sets) * kCategorySetBytes);
}

std::span<double> GrownTrees::last_values() {
    if (size() == 0) return {};
    return std::span(nodes_.values).subspan(width_ * static_cast<std::size_t>(starts_[size() - 1]));
}

}  // namespace spinney
