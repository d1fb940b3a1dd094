/// Which rows are in which node.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "native/base/large_pages.hpp"

namespace spinney {

/// The rows of every node, as ranges of two lists: the children of a node whose rows are in one
/// list have theirs in the other.
///
/// Invariant: a node owns a range [first, last) of one list, no row is in two nodes without
/// children, and inside a node rows are increasing, for every number of threads.
class RowPartition {
  public:
    /// Which bins go left: one byte per bin, 1 or 0. Covers numbers, categories and missing values.
    using GoesLeft = std::array<std::uint8_t, 256>;

    /// The rows of a node: entries [first, last) of a list.
    struct Range {
        std::size_t first = 0;
        std::size_t last = 0;
        std::uint8_t list = 0;

        std::size_t size() const { return last - first; }
    };

    /// All rows of a table.
    explicit RowPartition(std::size_t n_rows);

    /// Starts again with these rows; empty: all. The range of the root is {0, size(), 0}.
    void reset(std::span<const std::uint32_t> rows);

    std::size_t size() const { return size_; }
    std::span<const std::uint32_t> rows(const Range& range) const {
        return {lists_[range.list].data() + range.first, range.size()};
    }

    /// Whether the rows of the root are 0, 1, 2, ...: nothing is written down yet.
    bool in_order() const { return in_order_; }
    /// Writes them down, for a tree whose root is not split.
    void write_order();

    /// Puts the rows of a node's children into the other list; returns where the right one begins.
    std::size_t split(const Range& range, const std::uint8_t* column, const GoesLeft& goes_left,
                      int n_threads);

    /// The rows of two neighbours, increasing: the parent's again, for a split that is taken back.
    Range join(const Range& left, const Range& right);

  private:
    std::size_t n_rows_;
    std::size_t size_ = 0;
    bool in_order_ = true;
    std::array<LargeVector<std::uint32_t>, 2> lists_;
    std::vector<std::uint64_t> sides_;  ///< of 64 rows each: a bit is 1 where a row goes left
    std::vector<std::size_t> n_left_;   ///< per chunk
};

/// The kernel: rows whose bit is 1 to `left`, the others to `right`, in their order. Both may be
/// written up to sixteen entries beyond what belongs there.
using SplitRows = void(const std::uint32_t* rows, const std::uint64_t* sides, std::size_t n,
                       std::uint32_t* left, std::uint32_t* right);
SplitRows split_rows_portable, split_rows_avx2, split_rows_avx512;

}  // namespace spinney
