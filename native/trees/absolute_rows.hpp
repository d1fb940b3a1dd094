/// Rows of a tree that lowers absolute error, in the orders of their targets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "native/trees/forest_rows.hpp"
#include "native/trees/joint_medians.hpp"

namespace spinney {

/// Invariant: a node owns the same range of items for every output, no row is in two nodes, and
/// inside a node rows are in the order of the output's targets.
class AbsoluteRows {
  public:
    explicit AbsoluteRows(const ForestRows& rows)
        : rows_(rows),
          sorted_(rows.n_outputs),
          items_(rows.n_outputs),
          orders_(rows.n_outputs),
          right_(rows.n_rows) {
        for (std::size_t k = 0; k < rows.n_outputs; ++k) sort(k);
        if (rows.n_outputs > 1) place_of_row_.resize(rows.n_rows);
    }

    /// How often the next tree counts each row.
    void start(std::span<const std::uint32_t> repetitions) {
        repetitions_ = repetitions;
        for (std::size_t k = 0; k < sorted_.size(); ++k) {
            items_[k].clear();
            for (const std::uint32_t row : sorted_[k]) {
                if (repetitions[row] > 0) items_[k].push_back(row);
            }
        }
    }

    std::size_t size() const { return items_[0].size(); }

    /// The node that is asked about next.
    void enter(std::size_t first, std::size_t last) {
        for (std::size_t k = 0; k < orders_.size(); ++k) fill(k, first, last);
        for (std::size_t k = 1; k < orders_.size(); ++k) find_places(k);
        weight_ = 0;
        for (const WeightedSum& own : orders_[0].own) weight_ += own.weight;
    }

    std::span<const OutputOrder> orders() const { return orders_; }
    double weight() const { return static_cast<double>(weight_) * rows_.weight_scale; }

    /// Whether targets of the node differ.
    bool varies() const {
        return std::any_of(orders_.begin(), orders_.end(), [](const OutputOrder& order) {
            return order.values.front() != order.values.back();
        });
    }

    /// Where half of the weight is reached; the middle of two targets where it is reached between.
    double median(std::size_t k) const {
        const OutputOrder& order = orders_[k];
        std::int64_t up_to = 0;
        std::size_t i = 0;
        for (; i < order.own.size(); ++i) {
            up_to += order.own[i].weight;
            if (2 * up_to >= weight_) break;
        }
        if (2 * up_to > weight_) return order.values[i];
        return order.values[i] / 2 + order.values[i + 1] / 2;
    }

    /// Puts rows that go left in front, and returns where the others begin. Stable: rows stay in
    /// the order of their targets. goes_left: asked once per output.
    template <class GoesLeft>
    std::size_t partition(std::size_t first, std::size_t last, GoesLeft goes_left) {
        std::size_t middle = first;
        for (std::vector<std::uint32_t>& items : items_) {
            std::size_t n_left = first;
            std::size_t n_right = 0;
            for (std::size_t i = first; i < last; ++i) {
                const std::uint32_t row = items[i];
                if (goes_left(row)) {
                    items[n_left++] = row;
                } else {
                    right_[n_right++] = row;
                }
            }
            std::copy_n(right_.begin(), n_right,
                        items.begin() + static_cast<std::ptrdiff_t>(n_left));
            middle = n_left;
        }
        return middle;
    }

  private:
    double target(std::uint32_t row, std::size_t k) const {
        return rows_.targets[row * rows_.n_outputs + k];
    }

    void sort(std::size_t k) {
        sorted_[k].resize(rows_.n_rows);
        std::iota(sorted_[k].begin(), sorted_[k].end(), 0U);
        // Products were rounded: equal targets stand in the order of theirs, or the last bit of an
        // error would tell in which order rows were given.
        const auto key = [&](std::uint32_t row) {
            return std::tuple(target(row, k), rows_.weight(row),
                              rows_.numbers[row * rows_.n_outputs + k]);
        };
        std::stable_sort(sorted_[k].begin(), sorted_[k].end(),
                         [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    }

    void fill(std::size_t k, std::size_t first, std::size_t last) {
        OutputOrder& order = orders_[k];
        order.rows = std::span<const std::uint32_t>(items_[k]).subspan(first, last - first);
        order.own.clear();
        order.targets.clear();
        order.values.clear();
        const double unit = rows_.weight_scale / rows_.number_scale;
        for (const std::uint32_t row : order.rows) {
            const auto times = static_cast<std::int64_t>(repetitions_[row]);
            const std::int64_t number = rows_.numbers[row * rows_.n_outputs + k];
            order.own.push_back({rows_.weight(row) * times, number * times});
            order.values.push_back(target(row, k));
            order.targets.push_back(rows_.whole ? static_cast<double>(number / rows_.weight(row))
                                                : (target(row, k) - rows_.centre[k]) * unit);
        }
    }

    void find_places(std::size_t k) {
        OutputOrder& order = orders_[k];
        for (std::uint32_t i = 0; i < order.rows.size(); ++i) place_of_row_[order.rows[i]] = i;
        order.place.clear();
        for (const std::uint32_t row : orders_[0].rows) order.place.push_back(place_of_row_[row]);
    }

    const ForestRows& rows_;
    std::vector<std::vector<std::uint32_t>> sorted_;  ///< by output: all rows
    std::vector<std::vector<std::uint32_t>> items_;   ///< by output: those the tree counts
    std::vector<OutputOrder> orders_;                 ///< of the node entered last
    std::vector<std::uint32_t> right_;
    std::vector<std::uint32_t> place_of_row_;
    std::span<const std::uint32_t> repetitions_;
    std::int64_t weight_ = 0;
};

}  // namespace spinney
