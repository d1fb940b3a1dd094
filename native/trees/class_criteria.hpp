/// How splits are judged by the classes of the rows on either side.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "native/base/elementary.hpp"
#include "native/trees/forest_rows.hpp"

namespace spinney {

/// The weights of a label's classes left of a cut and in the node, and those of all rows, as
/// floats; those on the right are subtracted as integers, so that a side with no row of a class has
/// exactly none.
struct ClassNode {
    const std::int64_t* left_weights;
    const std::int64_t* total_weights;
    std::int64_t left_weight;
    std::int64_t total_weight;
    std::size_t n_classes;

    double left(std::size_t k) const { return static_cast<double>(left_weights[k]); }
    double right(std::size_t k) const {
        return static_cast<double>(total_weights[k] - left_weights[k]);
    }
    double total(std::size_t k) const { return static_cast<double>(total_weights[k]); }
    double left() const { return static_cast<double>(left_weight); }
    double right() const { return static_cast<double>(total_weight - left_weight); }
    double total() const { return static_cast<double>(total_weight); }
};

inline double gini_gain(const ClassNode& node) {
    constexpr double kRounding = 0x1p-50;
    double squares = 0.0;
    for (std::size_t k = 0; k < node.n_classes; ++k) {
        const double a = node.left(k) * node.right();
        const double b = node.right(k) * node.left();
        if (std::abs(a - b) > kRounding * (a + b)) squares += (a - b) * (a - b);
    }
    const double apart = squares / (node.left() * node.right());
    // Two classes in the order of BinaryNode::gain, so that both give the same bits.
    return node.n_classes == 2 ? apart * (1.0 / node.total()) : apart / node.total();
}

/// w log2 w, 0 at 0.
inline double weight_bits(double weight) {
    constexpr double kLog2E = 0x1.71547652b82fep+0;
    return weight > 0.0 ? weight * (exact_log(weight) * kLog2E) : 0.0;
}

/// The entropy of the split itself, times the weight of the node.
inline double split_bits(const ClassNode& node) {
    return weight_bits(node.total()) - weight_bits(node.left()) - weight_bits(node.right());
}

inline double entropy_gain(const ClassNode& node) {
    double decrease = split_bits(node);
    for (std::size_t k = 0; k < node.n_classes; ++k) {
        decrease +=
            weight_bits(node.left(k)) + weight_bits(node.right(k)) - weight_bits(node.total(k));
    }
    return decrease;
}

inline double error_gain(const ClassNode& node) {
    double left = 0.0;
    double right = 0.0;
    double total = 0.0;
    for (std::size_t k = 0; k < node.n_classes; ++k) {
        left = std::max(left, node.left(k));
        right = std::max(right, node.right(k));
        total = std::max(total, node.total(k));
    }
    return left + right - total;
}

inline double twoing_gain(const ClassNode& node) {
    double apart = 0.0;
    for (std::size_t k = 0; k < node.n_classes; ++k) {
        apart += std::abs(node.left(k) / node.left() - node.right(k) / node.right());
    }
    return node.left() * (node.right() / node.total()) * apart * apart / 4.0;
}

inline double hellinger_gain(const ClassNode& node) {
    const double left =
        std::sqrt(node.left(1) / node.total(1)) - std::sqrt(node.left(0) / node.total(0));
    const double right =
        std::sqrt(node.right(1) / node.total(1)) - std::sqrt(node.right(0) / node.total(0));
    return std::sqrt(left * left + right * right) * node.total();
}

/// What a split lowers the criterion by, or raises it, times the weight of the node.
inline double class_gain(NodeCriterion criterion, const ClassNode& node) {
    switch (criterion) {
        case NodeCriterion::kEntropy:
            return entropy_gain(node);
        case NodeCriterion::kError:
            return error_gain(node);
        case NodeCriterion::kTwoing:
            return twoing_gain(node);
        case NodeCriterion::kDkm:
            return 2.0 * (std::sqrt(node.total(0) * node.total(1)) -
                          std::sqrt(node.left(0) * node.left(1)) -
                          std::sqrt(node.right(0) * node.right(1)));
        case NodeCriterion::kHellinger:
            return hellinger_gain(node);
        case NodeCriterion::kGainRatio:
            return entropy_gain(node) / split_bits(node) * node.total();
        default:
            return gini_gain(node);
    }
}

}  // namespace spinney
