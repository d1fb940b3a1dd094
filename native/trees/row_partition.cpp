#include "native/trees/row_partition.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "native/base/parallel.hpp"

namespace spinney {
namespace {

/// Rows a thread sorts at a time. Boundaries do not depend on the number of threads.
constexpr std::size_t kChunk = 4096;

/// Left rows go to `left`, the others to `right`; every row is written to both sides and moved on
/// only where it belongs: no branch depends on the data, so none is mispredicted. `left` may be
/// where the rows come from: it never overtakes them. Some rows are read before any is written, so
/// that reads do not wait for writes.
template <class RowAt>
std::size_t split_chunk(std::size_t n, const RowAt& row_at, const std::uint8_t* column,
                        const RowPartition::GoesLeft& goes_left, std::uint32_t* left,
                        std::uint32_t* right) {
    constexpr std::size_t kTogether = 8;
    std::size_t n_left = 0;
    std::size_t i = 0;
    for (; i + kTogether <= n; i += kTogether) {
        std::array<std::uint32_t, kTogether> rows;
        std::array<std::size_t, kTogether> is_left;
        for (std::size_t k = 0; k < kTogether; ++k) rows[k] = row_at(i + k);
        for (std::size_t k = 0; k < kTogether; ++k) is_left[k] = goes_left[column[rows[k]]];
        for (std::size_t k = 0; k < kTogether; ++k) {
            left[n_left] = rows[k];
            right[i + k - n_left] = rows[k];
            n_left += is_left[k];
        }
    }
    for (; i < n; ++i) {
        const std::uint32_t row = row_at(i);
        const std::size_t is_left = goes_left[column[row]];
        left[n_left] = row;
        right[i - n_left] = row;
        n_left += is_left;
    }
    return n_left;
}

}  // namespace

RowPartition::RowPartition(std::size_t n_rows)
    : n_rows_(n_rows), size_(n_rows), order_(n_rows), right_(n_rows) {}

void RowPartition::reset(std::span<const std::uint32_t> rows) {
    in_order_ = rows.empty();
    size_ = rows.empty() ? n_rows_ : rows.size();
    std::copy(rows.begin(), rows.end(), order_.begin());
}

void RowPartition::write_order() {
    if (in_order_) std::iota(order_.begin(), order_.end(), 0U);
    in_order_ = false;
}

std::size_t RowPartition::split(std::size_t first, std::size_t last, const std::uint8_t* column,
                                const GoesLeft& goes_left, int n_threads) {
    const std::size_t n = last - first;
    const std::size_t n_chunks = (n + kChunk - 1) / kChunk;
    n_left_.assign(n_chunks, 0);
    parallel_blocks(n_threads, n, kChunk, [&](std::size_t begin, std::size_t end) {
        std::uint32_t* left = order_.data() + first + begin;
        std::uint32_t* right = right_.data() + first + begin;
        const auto in_order = [&](std::size_t i) { return static_cast<std::uint32_t>(begin + i); };
        const auto listed = [&](std::size_t i) { return left[i]; };
        n_left_[begin / kChunk] =
            in_order_ ? split_chunk(end - begin, in_order, column, goes_left, left, right)
                      : split_chunk(end - begin, listed, column, goes_left, left, right);
    });
    in_order_ = false;
    const std::size_t total_left = std::accumulate(n_left_.begin(), n_left_.end(), std::size_t{0});
    if (n_chunks > 1) close_gaps(first, n, total_left, n_threads);
    std::copy_n(right_.data() + first, n_chunks == 1 ? n - total_left : 0,
                order_.data() + first + total_left);
    return first + total_left;
}

/// Left rows move to the front, chunk by chunk; right rows follow them. A chunk's left rows may
/// land where an earlier chunk's are still read, so they move in order, and only right rows in
/// parallel.
void RowPartition::close_gaps(std::size_t first, std::size_t n, std::size_t total_left,
                              int n_threads) {
    std::size_t before = 0;  // rows that go left in the chunks before
    for (std::size_t chunk = 0; chunk < n_left_.size(); ++chunk) {
        const std::uint32_t* from = order_.data() + first + chunk * kChunk;
        std::copy_n(from, n_left_[chunk], order_.data() + first + before);
        before += std::exchange(n_left_[chunk], before);
    }
    parallel_blocks(n_threads, n, kChunk, [&](std::size_t begin, std::size_t end) {
        const std::size_t chunk = begin / kChunk;
        const std::size_t left_after = chunk + 1 < n_left_.size() ? n_left_[chunk + 1] : total_left;
        const std::size_t n_right = (end - begin) - (left_after - n_left_[chunk]);
        std::copy_n(right_.data() + first + begin, n_right,
                    order_.data() + first + total_left + (begin - n_left_[chunk]));
    });
}

}  // namespace spinney
