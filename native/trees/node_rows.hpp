/// Which rows are in which node.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace spinney {

/// The rows of every open node, as one permutation of all rows.
///
/// Invariant: a node owns a range [first, last) of the permutation, no row is in two nodes, and
/// inside a node rows keep their input order.
class NodeRows {
  public:
    explicit NodeRows(std::size_t n_rows) : order_(n_rows), right_(n_rows) {
        std::iota(order_.begin(), order_.end(), 0U);
    }

    std::span<const std::uint32_t> rows(std::size_t first, std::size_t last) const {
        return std::span(order_).subspan(first, last - first);
    }

    /// Moves the rows that go left in front of the others; returns where the right child begins.
    /// O(rows of the node), stable, no branch on the outcome.
    template <std::predicate<std::uint32_t> GoesLeft>
    std::size_t split(std::size_t first, std::size_t last, GoesLeft goes_left) {
        std::size_t n_left = first;
        std::size_t n_right = 0;
        for (std::size_t i = first; i < last; ++i) {
            const std::uint32_t row = order_[i];
            const bool left = goes_left(row);
            order_[n_left] = row;
            right_[n_right] = row;
            n_left += left ? 1 : 0;
            n_right += left ? 0 : 1;
        }
        std::copy_n(right_.begin(), n_right, order_.begin() + static_cast<std::ptrdiff_t>(n_left));
        return n_left;
    }

  private:
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> right_;
};

}  // namespace spinney
