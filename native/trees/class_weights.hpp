/// Nodes of any number of classes, with any weights, by any criterion.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "native/base/elementary.hpp"
#include "native/trees/forest_rows.hpp"

namespace spinney {

/// A sum is the weight of every class, then the weight of all.
class ClassWeights {
  public:
    using Sums = std::vector<std::int64_t>;
    static constexpr bool kSmall = false;
    static constexpr bool kPlaces = true;
    static constexpr bool kVectors = false;

    explicit ClassWeights(const ForestRows& rows) : rows_(rows), n_classes_(rows.n_outputs) {}

    std::size_t width() const { return n_classes_ + 1; }
    Sums no_sums() const { return Sums(width()); }
    void add_if(bool counts, std::uint32_t payload, std::int64_t* cell) const {
        if (counts) add(payload, cell);
    }
    static std::uint32_t mark(std::uint32_t /*row*/, std::uint32_t repetitions) {
        return repetitions;
    }
    void load(std::span<const TreeRow> items) {
        here_.resize(std::max(here_.size(), items.size()));
        for (std::size_t i = 0; i < items.size(); ++i) {
            const std::uint32_t row = row_of(items[i]);
            here_[i] = {rows_.weight(row) * static_cast<std::int64_t>(mark_of(items[i])),
                        rows_.classes[row]};
        }
    }
    void begin() {}
    void visit(std::uint32_t payload, std::int64_t* total) const { add(payload, total); }
    static std::uint32_t payload(TreeRow /*item*/, std::size_t position) {
        return static_cast<std::uint32_t>(position);
    }
    void add(std::uint32_t payload, std::int64_t* cell) const {
        cell[here_[payload].own_class] += here_[payload].weight;
        cell[n_classes_] += here_[payload].weight;
    }

    bool is_pure(const std::int64_t* total) const {
        return std::find(total, total + n_classes_, total[n_classes_]) != total + n_classes_;
    }
    /// Whether no split of the node can gain more.
    static bool is_perfect(double /*gain*/, std::size_t n_rows) { return n_rows == 2; }
    bool has_rows(const std::int64_t* cell) const { return cell[n_classes_] != 0; }
    double weight(const std::int64_t* total) const {
        return static_cast<double>(total[n_classes_]) * rows_.weight_scale;
    }
    /// Two classes mirror each other: the order of one is the order of both.
    std::size_t n_orders() const { return n_classes_ == 2 ? 1 : n_classes_; }
    double mean(const std::int64_t* cell, std::size_t k) const {
        const std::size_t own = n_classes_ == 2 ? 1 : k;
        return static_cast<double>(cell[own]) / static_cast<double>(cell[n_classes_]);
    }
    void values(const std::int64_t* total, double* into) const {
        const auto all = static_cast<double>(total[n_classes_]);
        for (std::size_t k = 0; k < n_classes_; ++k) into[k] = static_cast<double>(total[k]) / all;
    }

    void focus(const std::int64_t* total) { total_ = total; }
    double gain(const std::int64_t* left) const {
        const Node node = {left, total_, n_classes_};
        return std::max(units(node), 0.0) * rows_.weight_scale;
    }

  private:
    struct Own {
        std::int64_t weight;
        std::uint32_t own_class;
    };

    /// Weights as floats; those on the right are subtracted as integers, so that a side with no
    /// row of a class has exactly none.
    struct Node {
        const std::int64_t* left_weights;
        const std::int64_t* total_weights;
        std::size_t n_classes;

        double left(std::size_t k) const { return static_cast<double>(left_weights[k]); }
        double right(std::size_t k) const {
            return static_cast<double>(total_weights[k] - left_weights[k]);
        }
        double total(std::size_t k) const { return static_cast<double>(total_weights[k]); }
        double left() const { return left(n_classes); }
        double right() const { return right(n_classes); }
        double total() const { return total(n_classes); }
    };

    double units(const Node& node) const {
        switch (rows_.criterion) {
            case NodeCriterion::kEntropy:
                return entropy(node);
            case NodeCriterion::kError:
                return error(node);
            case NodeCriterion::kTwoing:
                return twoing(node);
            case NodeCriterion::kDkm:
                return 2.0 * (std::sqrt(node.total(0) * node.total(1)) -
                              std::sqrt(node.left(0) * node.left(1)) -
                              std::sqrt(node.right(0) * node.right(1)));
            case NodeCriterion::kHellinger:
                return hellinger(node);
            case NodeCriterion::kGainRatio:
                return gain_ratio(node);
            default:
                return gini(node);
        }
    }

    static double gini(const Node& node) {
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
    static double bits(double weight) {
        constexpr double kLog2E = 0x1.71547652b82fep+0;
        return weight > 0.0 ? weight * (exact_log(weight) * kLog2E) : 0.0;
    }

    static double entropy(const Node& node) {
        double decrease = bits(node.total()) - bits(node.left()) - bits(node.right());
        for (std::size_t k = 0; k < node.n_classes; ++k) {
            decrease += bits(node.left(k)) + bits(node.right(k)) - bits(node.total(k));
        }
        return decrease;
    }

    static double gain_ratio(const Node& node) {
        const double of_split = bits(node.total()) - bits(node.left()) - bits(node.right());
        return entropy(node) / of_split * node.total();
    }

    static double error(const Node& node) {
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

    static double twoing(const Node& node) {
        double apart = 0.0;
        for (std::size_t k = 0; k < node.n_classes; ++k) {
            apart += std::abs(node.left(k) / node.left() - node.right(k) / node.right());
        }
        return node.left() * (node.right() / node.total()) * apart * apart / 4.0;
    }

    static double hellinger(const Node& node) {
        const double left =
            std::sqrt(node.left(1) / node.total(1)) - std::sqrt(node.left(0) / node.total(0));
        const double right =
            std::sqrt(node.right(1) / node.total(1)) - std::sqrt(node.right(0) / node.total(0));
        return std::sqrt(left * left + right * right) * node.total();
    }

    const ForestRows& rows_;
    std::size_t n_classes_;
    std::vector<Own> here_;
    const std::int64_t* total_ = nullptr;
};

/// Several numbers per row, judged by the sum of their squared errors. A sum is that of every
/// output, then the weight.
class VectorSum {
  public:
    using Sums = std::vector<std::int64_t>;
    static constexpr bool kSmall = false;
    static constexpr bool kPlaces = true;
    static constexpr bool kVectors = false;

    explicit VectorSum(const ForestRows& rows) : rows_(rows), n_outputs_(rows.n_outputs) {}

    std::size_t width() const { return n_outputs_ + 1; }
    Sums no_sums() const { return Sums(width()); }
    void add_if(bool counts, std::uint32_t payload, std::int64_t* cell) const {
        if (counts) add(payload, cell);
    }
    static std::uint32_t mark(std::uint32_t /*row*/, std::uint32_t repetitions) {
        return repetitions;
    }
    void load(std::span<const TreeRow> items) { items_ = items; }
    void begin() { n_different_ = 0; }
    void visit(std::uint32_t payload, std::int64_t* total) {
        const std::uint32_t row = row_of(items_[payload]);
        if (n_different_ == 0) {
            first_ = row;
            n_different_ = 1;
        } else if (n_different_ == 1 && !is_same(row, first_)) {
            n_different_ = 2;
        }
        add(payload, total);
    }
    static std::uint32_t payload(TreeRow /*item*/, std::size_t position) {
        return static_cast<std::uint32_t>(position);
    }
    void add(std::uint32_t payload, std::int64_t* cell) const {
        const TreeRow item = items_[payload];
        const auto repetitions = static_cast<std::int64_t>(mark_of(item));
        const std::int64_t* numbers = rows_.numbers.data() + row_of(item) * n_outputs_;
        for (std::size_t k = 0; k < n_outputs_; ++k) cell[k] += numbers[k] * repetitions;
        cell[n_outputs_] += rows_.weight(row_of(item)) * repetitions;
    }

    bool is_pure(const std::int64_t* /*total*/) const { return n_different_ < 2; }
    static bool is_perfect(double /*gain*/, std::size_t n_rows) { return n_rows == 2; }
    bool has_rows(const std::int64_t* cell) const { return cell[n_outputs_] != 0; }
    double weight(const std::int64_t* total) const {
        return static_cast<double>(total[n_outputs_]) * rows_.weight_scale;
    }
    std::size_t n_orders() const { return n_outputs_; }
    double mean(const std::int64_t* cell, std::size_t k) const {
        return static_cast<double>(cell[k]) / static_cast<double>(cell[n_outputs_]);
    }
    void values(const std::int64_t* total, double* into) const {
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            into[k] = static_cast<double>(total[k]) * rows_.number_scale / weight(total) +
                      rows_.centre[k];
        }
    }

    void focus(const std::int64_t* total) { total_ = total; }
    double gain(const std::int64_t* left) const {
        const std::int64_t* total = total_;
        constexpr double kRounding = 0x1p-50;
        const auto own = static_cast<double>(left[n_outputs_]);
        const auto rest = static_cast<double>(total[n_outputs_] - left[n_outputs_]);
        double squares = 0.0;
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            const double a = static_cast<double>(left[k]) / own;
            const double b = static_cast<double>(total[k] - left[k]) / rest;
            if (std::abs(a - b) > kRounding * (std::abs(a) + std::abs(b))) {
                squares += (a - b) * (a - b);
            }
        }
        return squares * own * (rest / (own + rest)) * rows_.number_scale * rows_.number_scale /
               rows_.weight_scale;
    }

  private:
    bool is_same(std::uint32_t a, std::uint32_t b) const {
        const auto weight_a = static_cast<double>(rows_.weight(a));
        const auto weight_b = static_cast<double>(rows_.weight(b));
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            const auto number_a = static_cast<double>(rows_.numbers[a * n_outputs_ + k]);
            const auto number_b = static_cast<double>(rows_.numbers[b * n_outputs_ + k]);
            if (number_a / weight_a != number_b / weight_b) return false;
        }
        return true;
    }

    const ForestRows& rows_;
    std::size_t n_outputs_;
    std::span<const TreeRow> items_;
    std::uint32_t first_ = 0;
    int n_different_ = 0;  ///< targets seen in the node: none, one, several
    const std::int64_t* total_ = nullptr;
};

}  // namespace spinney
