/// Which rows are in which node, for large nodes and several threads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace spinney {

/// The rows of every open node, as one permutation of the chosen rows.
///
/// Invariant: a node owns a range [first, last) of the permutation, no row is in two nodes, and
/// inside a node rows keep their input order, for every number of threads.
class RowPartition {
  public:
    /// Which bins go left: one byte per bin, 1 or 0. Covers numbers, categories and missing values.
    using GoesLeft = std::array<std::uint8_t, 256>;

    /// All rows of a table.
    explicit RowPartition(std::size_t n_rows);

    /// Starts again with these rows; empty: all.
    void reset(std::span<const std::uint32_t> rows);

    std::size_t size() const { return size_; }
    std::span<const std::uint32_t> rows(std::size_t first, std::size_t last) const {
        return {order_.data() + first, last - first};
    }

    /// Whether the rows of [0, size()) are 0, 1, 2, ...: nothing is written down yet.
    bool in_order() const { return in_order_; }
    /// Writes them down, for a tree whose root is not split.
    void write_order();

    /// Moves the rows that go left in front of the others; returns where the right child begins.
    std::size_t split(std::size_t first, std::size_t last, const std::uint8_t* column,
                      const GoesLeft& goes_left, int n_threads);

  private:
    void close_gaps(std::size_t first, std::size_t n, std::size_t total_left, int n_threads);

    std::size_t n_rows_;
    std::size_t size_ = 0;
    bool in_order_ = true;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> right_;  ///< rows that go right, before they are moved
    std::vector<std::size_t> n_left_;   ///< per chunk
};

}  // namespace spinney
