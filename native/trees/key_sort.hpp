/// Sorting the rows of one node by rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace spinney {

/// A rank above, whatever goes along with it below.
using RankKey = std::uint64_t;

constexpr std::uint32_t rank_of(RankKey key) { return static_cast<std::uint32_t>(key >> 32); }
constexpr std::uint32_t payload_of(RankKey key) { return static_cast<std::uint32_t>(key); }
constexpr RankKey rank_key(std::uint32_t rank, std::uint32_t payload) {
    return static_cast<RankKey>(rank) << 32 | payload;
}

/// Sorts keys by rank. The order among equal ranks is not defined: sums over them do not see it.
///
/// Ranks of a node are spread over their range more or less evenly, so a key's place is nearly
/// known before any comparison: two buckets per key, filled in two passes, then mended. Buckets
/// that did come out full are sorted by comparison: never worse than O(n log n).
class KeySort {
  public:
    explicit KeySort(std::size_t most_keys) : spread_(most_keys), starts_(2 * most_keys + 1) {}

    /// keys: n >= 1 of them, at most `most_keys`; all ranks in [low, high]. Returns them sorted, in
    /// the same place or another.
    RankKey* sort(RankKey* keys, std::size_t n, std::uint32_t low, std::uint32_t high) {
        if (n <= kFew) {
            insert(keys, n);
            return keys;
        }
        const std::size_t n_buckets = 2 * n;
        const std::uint64_t scale = (static_cast<std::uint64_t>(n_buckets) << 32) /
                                    (static_cast<std::uint64_t>(high - low) + 1);
        const auto bucket = [low, scale](RankKey key) {
            return static_cast<std::size_t>((rank_of(key) - low) * scale >> 32);
        };
        std::uint32_t* starts = starts_.data();
        std::fill_n(starts, n_buckets, 0U);
        for (std::size_t i = 0; i < n; ++i) ++starts[bucket(keys[i])];
        std::uint32_t sum = 0;
        std::uint32_t largest = 0;
        for (std::size_t b = 0; b < n_buckets; ++b) {
            largest = std::max(largest, starts[b]);
            sum += starts[b];
            starts[b] = sum;
        }
        RankKey* spread = spread_.data();
        for (std::size_t i = 0; i < n; ++i) spread[--starts[bucket(keys[i])]] = keys[i];
        if (largest > kFew) sort_full_buckets(n_buckets, static_cast<std::uint32_t>(n));
        insert(spread, n);
        return spread;
    }

  private:
    static constexpr std::size_t kFew = 16;

    void sort_full_buckets(std::size_t n_buckets, std::uint32_t n) {
        for (std::size_t b = 0; b < n_buckets; ++b) {
            const std::uint32_t end = b + 1 < n_buckets ? starts_[b + 1] : n;
            if (end - starts_[b] > kFew) {
                std::sort(spread_.begin() + starts_[b], spread_.begin() + end);
            }
        }
    }

    static void insert(RankKey* keys, std::size_t n) {
        for (std::size_t i = 1; i < n; ++i) {
            const RankKey key = keys[i];
            std::size_t to = i;
            for (; to > 0 && rank_of(keys[to - 1]) > rank_of(key); --to) keys[to] = keys[to - 1];
            keys[to] = key;
        }
    }

    std::vector<RankKey> spread_;
    std::vector<std::uint32_t> starts_;
};

}  // namespace spinney
