/// Nodes of rows with several labels each, every label with classes of its own.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "native/trees/class_criteria.hpp"
#include "native/trees/forest_rows.hpp"

namespace spinney {

/// A sum is the weight of every class of the first label, of the second and so on, then the weight
/// of all: a row adds once per label. What a split gains is the sum over the labels.
class LabelWeights {
  public:
    using Sums = std::vector<std::int64_t>;
    static constexpr bool kSmall = false;
    static constexpr bool kPlaces = true;
    static constexpr bool kVectors = false;

    explicit LabelWeights(const ForestRows& rows)
        : rows_(rows), n_labels_(rows.n_labels()), n_outputs_(rows.n_outputs) {}

    std::size_t width() const { return n_outputs_ + 1; }
    Sums no_sums() const { return Sums(width()); }
    void add_if(bool counts, std::uint32_t payload, std::int64_t* cell) const {
        if (counts) add(payload, cell);
    }
    static std::uint32_t mark(std::uint32_t /*row*/, std::uint32_t repetitions) {
        return repetitions;
    }
    void load(std::span<const TreeRow> items) { items_ = items; }
    void begin() {}
    void visit(std::uint32_t payload, std::int64_t* total) const { add(payload, total); }
    static std::uint32_t payload(TreeRow /*item*/, std::size_t position) {
        return static_cast<std::uint32_t>(position);
    }
    void add(std::uint32_t payload, std::int64_t* cell) const {
        const TreeRow item = items_[payload];
        const std::int64_t weight =
            rows_.weight(row_of(item)) * static_cast<std::int64_t>(mark_of(item));
        const std::uint32_t* classes = rows_.classes.data() + row_of(item) * n_labels_;
        for (std::size_t label = 0; label < n_labels_; ++label) {
            cell[rows_.label_starts[label] + classes[label]] += weight;
        }
        cell[n_outputs_] += weight;
    }

    bool is_pure(const std::int64_t* total) const {
        for (std::size_t label = 0; label < n_labels_; ++label) {
            if (!is_pure(total, label)) return false;
        }
        return true;
    }
    /// Whether no split of the node can gain more.
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
        for (std::size_t k = 0; k < n_outputs_; ++k) into[k] = mean(total, k);
    }

    void focus(const std::int64_t* total) {
        total_ = total;
        mixed_.clear();
        for (std::size_t label = 0; label < n_labels_; ++label) {
            if (!is_pure(total, label)) mixed_.push_back(label);
        }
    }
    double gain(const std::int64_t* left) const {
        double units = 0.0;
        for (const std::size_t label : mixed_) {
            const std::size_t first = rows_.label_starts[label];
            const std::size_t n_classes = rows_.label_starts[label + 1] - first;
            const ClassNode node = {left + first, total_ + first, left[n_outputs_],
                                    total_[n_outputs_], n_classes};
            units += std::max(class_gain(rows_.criterion, node), 0.0);
        }
        return units * rows_.weight_scale;
    }

  private:
    bool is_pure(const std::int64_t* total, std::size_t label) const {
        const std::int64_t* end = total + rows_.label_starts[label + 1];
        return std::find(total + rows_.label_starts[label], end, total[n_outputs_]) != end;
    }

    const ForestRows& rows_;
    std::size_t n_labels_;
    std::size_t n_outputs_;
    std::span<const TreeRow> items_;
    std::vector<std::size_t> mixed_;  ///< labels of more than one class in the node
    const std::int64_t* total_ = nullptr;
};

}  // namespace spinney
