/// Nodes of rows with one label each: any number of classes, any weights, any criterion.
#pragma once

#include <algorithm>

#include "native/trees/class_criteria.hpp"
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
        const ClassNode node = {left, total_, left[n_classes_], total_[n_classes_], n_classes_};
        return std::max(class_gain(rows_.criterion, node), 0.0) * rows_.weight_scale;
    }

  private:
    struct Own {
        std::int64_t weight;
        std::uint32_t own_class;
    };

    const ForestRows& rows_;
    std::size_t n_classes_;
    std::vector<Own> here_;
    const std::int64_t* total_ = nullptr;
};

}  // namespace spinney
