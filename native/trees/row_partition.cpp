#include "native/trees/row_partition.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "native/base/parallel.hpp"

namespace spinney {
namespace {

/// Rows a thread sorts at a time. Boundaries do not depend on the number of threads.
constexpr std::size_t kChunk = 16384;

}  // namespace

RowPartition::RowPartition(std::size_t n_rows)
    : n_rows_(n_rows), order_(n_rows), left_(n_rows), right_(n_rows) {
    reset({});
}

void RowPartition::reset(std::span<const std::uint32_t> rows) {
    size_ = rows.empty() ? n_rows_ : rows.size();
    if (rows.empty()) {
        std::iota(order_.begin(), order_.end(), 0U);
    } else {
        std::copy(rows.begin(), rows.end(), order_.begin());
    }
}

std::size_t RowPartition::split(std::size_t first, std::size_t last, const std::uint8_t* column,
                                const GoesLeft& goes_left, int n_threads) {
    const std::size_t n = last - first;
    const std::size_t n_chunks = (n + kChunk - 1) / kChunk;
    n_left_.assign(n_chunks, 0);
    // Each chunk writes every row to both sides and moves on only where it belongs: no branch
    // depends on the data, so none is mispredicted.
    parallel_blocks(n_threads, n, kChunk, [&](std::size_t begin, std::size_t end) {
        std::uint32_t* left = left_.data() + first + begin;
        std::uint32_t* right = right_.data() + first + begin;
        for (std::size_t i = first + begin; i < first + end; ++i) {
            const std::uint32_t row = order_[i];
            const std::size_t is_left = goes_left[column[row]];
            *left = row;
            *right = row;
            left += is_left;
            right += 1 - is_left;
        }
        n_left_[begin / kChunk] = static_cast<std::size_t>(left - (left_.data() + first + begin));
    });
    const std::size_t total_left = std::accumulate(n_left_.begin(), n_left_.end(), std::size_t{0});
    std::size_t before = 0;  // rows that go left in the chunks before
    for (std::size_t& count : n_left_) before += std::exchange(count, before);
    parallel_blocks(n_threads, n, kChunk, [&](std::size_t begin, std::size_t end) {
        const std::size_t chunk = begin / kChunk;
        const std::size_t left_before = n_left_[chunk];
        const std::size_t left_after = chunk + 1 < n_chunks ? n_left_[chunk + 1] : total_left;
        const std::size_t n_left = left_after - left_before;
        std::copy_n(left_.data() + first + begin, n_left, order_.data() + first + left_before);
        std::copy_n(right_.data() + first + begin, (end - begin) - n_left,
                    order_.data() + first + total_left + (begin - left_before));
    });
    return first + total_left;
}

}  // namespace spinney
