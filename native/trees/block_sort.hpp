/// Sorting the rows of a block by one feature.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "native/trees/few_rows.hpp"
#include "native/trees/forest_rows.hpp"
#include "native/trees/key_sort.hpp"
#include "native/trees/ranked_columns.hpp"
#include "native/trees/word_sort.hpp"

namespace spinney {

/// A rank within a block above, the row's place in the block below.
using BlockKey = std::uint32_t;

class BlockSort {
  public:
    static constexpr std::uint32_t kMissing = kNoRank;  ///< the rank of rows without a value

    explicit BlockSort(std::size_t most_rows) : wide_keys_(most_rows), sort_(most_rows) {}

    /// Writes the keys of all rows in order, rows without a value last; false if the feature is
    /// the same for all rows: then there may be anything.
    bool sort(const RankedFeature& feature, std::span<const TreeRow> items, BlockKey* into) {
        return feature.with_ranks([&]<class Rank>(const Rank* ranks) {
            if constexpr (sizeof(Rank) * 2 == sizeof(BlockKey)) {
                if (sort_words_ != nullptr && items.size() <= kMostWords) {
                    return sort_short_ranks(feature, ranks, items, into);
                }
            }
            return sort_ranks(feature, ranks, items, into);
        });
    }

  private:
    /// Hands over the rank and the place of each row with a value, and puts the others at the end.
    /// Returns how many have one.
    template <class Rank, class Take>
    static std::size_t gather(const RankedFeature& feature, const Rank* ranks,
                              std::span<const TreeRow> items, BlockKey* into, Take take) {
        const std::uint32_t missing = feature.missing_rank();
        std::size_t n = items.size();
        for (std::size_t at = 0; at < items.size(); ++at) {
            const std::uint32_t rank = ranks[row_of(items[at])];
            const auto id = static_cast<std::uint32_t>(at);
            if (rank == missing) {
                into[--n] = kMissing << 16 | id;
            } else {
                take(rank, id);
            }
        }
        return n;
    }

    /// Ranks and rows fit words, and all words the registers.
    bool sort_short_ranks(const RankedFeature& feature, const std::uint16_t* ranks,
                          std::span<const TreeRow> items, BlockKey* into) {
        std::uint32_t* words = words_.data();
        const std::size_t n = gather(feature, ranks, items, into, [&](std::uint32_t rank, auto id) {
            *words++ = rank << 16 | id;
        });
        if (n == 0) return false;
        const std::uint32_t highest = sort_words_(words_.data(), n, into);
        return highest > 0 || n < items.size();
    }

    template <class Rank>
    bool sort_ranks(const RankedFeature& feature, const Rank* ranks, std::span<const TreeRow> items,
                    BlockKey* into) {
        std::uint32_t low = feature.missing_rank();
        std::uint32_t high = 0;
        RankKey* keys = wide_keys_.data();
        const std::size_t n = gather(feature, ranks, items, into, [&](std::uint32_t rank, auto id) {
            *keys++ = rank_key(rank, id);
            low = std::min(low, rank);
            high = std::max(high, rank);
        });
        if (n == 0 || (low == high && n == items.size())) return false;
        const RankKey* sorted = sort_.sort(wide_keys_.data(), n, low, high);
        std::uint32_t own = 0;
        for (std::size_t i = 0; i < n; ++i) {
            own += i > 0 && rank_of(sorted[i]) != rank_of(sorted[i - 1]) ? 1U : 0U;
            into[i] = own << 16 | payload_of(sorted[i]);
        }
        return true;
    }

    SortWords* sort_words_ = SPINNEY_WORD_KERNEL;
    alignas(64) std::array<std::uint32_t, kMostWords> words_;
    std::vector<RankKey> wide_keys_;
    KeySort sort_;
};

}  // namespace spinney
