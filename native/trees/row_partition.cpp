#include "native/trees/row_partition.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "native/base/isa.hpp"
#include "native/base/parallel.hpp"

namespace spinney {
namespace {

/// Rows a thread sorts at a time; a multiple of 64. Boundaries do not depend on the number of
/// threads.
constexpr std::size_t kChunk = 2048;
/// Entries the kernel may write too many.
constexpr std::size_t kSlack = 16;

#if defined(__x86_64__) && defined(__GNUC__)
SplitRows* active_split_rows() {
    return pick<SplitRows>(split_rows_portable, split_rows_avx2, split_rows_avx512);
}
#else
SplitRows* active_split_rows() { return split_rows_portable; }
#endif

/// The sides of up to 64 rows as bits. Of 64, as usual, the loop unrolls.
template <class BinAt>
std::uint64_t sides_of(std::size_t n, const BinAt& bin_at,
                       const RowPartition::GoesLeft& goes_left) {
    std::uint64_t sides = 0;
    if (n == 64) {
        for (std::size_t i = 0; i < 64; i += 8) {
            std::uint64_t eight = 0;
            for (std::size_t k = 0; k < 8; ++k) {
                eight |= std::uint64_t{goes_left[bin_at(i + k)]} << k;
            }
            sides |= eight << i;
        }
        return sides;
    }
    for (std::size_t i = 0; i < n; ++i) sides |= std::uint64_t{goes_left[bin_at(i)]} << i;
    return sides;
}

}  // namespace

void split_rows_portable(const std::uint32_t* rows, const std::uint64_t* sides, std::size_t n,
                         std::uint32_t* left, std::uint32_t* right) {
    // Every row is written to both sides and moved on only where it belongs: no branch depends on
    // the data, so none is mispredicted.
    std::size_t n_left = 0;
    for (std::size_t i = 0; i < n; ++i) {
        left[n_left] = rows[i];
        right[i - n_left] = rows[i];
        n_left += (sides[i / 64] >> (i % 64)) & 1;
    }
}

RowPartition::RowPartition(std::size_t n_rows)
    : n_rows_(n_rows),
      size_(n_rows),
      lists_{LargeVector<std::uint32_t>(n_rows), LargeVector<std::uint32_t>(n_rows)},
      sides_(n_rows / 64 + 1) {}

void RowPartition::reset(std::span<const std::uint32_t> rows) {
    in_order_ = rows.empty();
    size_ = rows.empty() ? n_rows_ : rows.size();
    std::copy(rows.begin(), rows.end(), lists_[0].begin());
}

void RowPartition::write_order() {
    if (in_order_) std::iota(lists_[0].begin(), lists_[0].end(), 0U);
    in_order_ = false;
}

/// Two passes: find sides and count, then move; so that every chunk knows where its rows go.
std::size_t RowPartition::split(const Range& range, const std::uint8_t* column,
                                const GoesLeft& goes_left, int n_threads) {
    const std::size_t n = range.size();
    const std::uint32_t* rows = lists_[range.list].data() + range.first;
    std::uint32_t* to = lists_[1 - range.list].data() + range.first;
    n_left_.assign((n + kChunk - 1) / kChunk, 0);
    parallel_blocks(n_threads, n, kChunk, [&](std::size_t begin, std::size_t end) {
        std::size_t n_left = 0;
        for (std::size_t i = begin; i < end; i += 64) {
            const std::size_t some = std::min<std::size_t>(64, end - i);
            const std::uint64_t sides =
                in_order_
                    ? sides_of(
                          some, [=](std::size_t k) { return column[i + k]; }, goes_left)
                    : sides_of(some, [=](std::size_t k) { return column[rows[i + k]]; }, goes_left);
            sides_[i / 64] = sides;
            n_left += static_cast<std::size_t>(std::popcount(sides));
        }
        n_left_[begin / kChunk] = n_left;
    });
    const std::size_t total_left = std::accumulate(n_left_.begin(), n_left_.end(), std::size_t{0});
    std::size_t before = 0;  // rows that go left in the chunks before
    for (std::size_t& count : n_left_) before += std::exchange(count, before);
    SplitRows* split_rows = active_split_rows();
    parallel_blocks(n_threads, n, kChunk, [&](std::size_t begin, std::size_t end) {
        // Through buffers of its own: the kernel writes too much, and neighbours are others'.
        std::array<std::uint32_t, kChunk + kSlack> left;
        std::array<std::uint32_t, kChunk + kSlack> right;
        std::array<std::uint32_t, kChunk> numbers;
        if (in_order_) std::iota(numbers.begin(), numbers.end(), static_cast<std::uint32_t>(begin));
        const std::uint32_t* from = in_order_ ? numbers.data() : rows + begin;
        split_rows(from, sides_.data() + begin / 64, end - begin, left.data(), right.data());
        const std::size_t chunk = begin / kChunk;
        const std::size_t left_before = n_left_[chunk];
        const std::size_t left_after = chunk + 1 < n_left_.size() ? n_left_[chunk + 1] : total_left;
        const std::size_t n_left = left_after - left_before;
        std::copy_n(left.begin(), n_left, to + left_before);
        std::copy_n(right.begin(), (end - begin) - n_left, to + total_left + (begin - left_before));
    });
    in_order_ = in_order_ && n == 0;
    return range.first + total_left;
}

RowPartition::Range RowPartition::join(const Range& left, const Range& right) {
    std::vector<std::uint32_t> joined(left.size() + right.size());
    const auto a = rows(left);
    const auto b = rows(right);
    std::merge(a.begin(), a.end(), b.begin(), b.end(), joined.begin());
    std::copy(joined.begin(), joined.end(),
              lists_[left.list].begin() + static_cast<std::ptrdiff_t>(left.first));
    return {left.first, right.last, left.list};
}

}  // namespace spinney
