/// Which rows of a tree are in which node.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "native/trees/random_cuts.hpp"
#include "native/trees/row_ranks.hpp"
#include "native/trees/split_judge.hpp"

namespace spinney {

/// The rows a tree counts, as one permutation.
///
/// Invariant: a node owns a range of it, no row is in two nodes, and inside a node rows keep their
/// input order.
class TreeItems {
  public:
    explicit TreeItems(std::size_t most_rows) : right_(most_rows) { items_.reserve(most_rows); }

    void clear() { items_.clear(); }
    void add(std::uint32_t row, std::uint32_t mark) {
        items_.push_back(static_cast<TreeRow>(mark) << 32 | row);
    }
    std::size_t size() const { return items_.size(); }
    std::span<const TreeRow> of_node(std::size_t first, std::size_t last) const {
        return std::span(items_).subspan(first, last - first);
    }

    /// A split of a node by rank: where the right child begins, and the neighbouring ranks of the
    /// node between which the cut is.
    struct Applied {
        std::size_t middle = 0;
        std::uint32_t last_left = 0;
        std::uint32_t first_right = 0;  ///< that of missing values: all others are on the left
    };

    /// Moves the rows of a node that go left in front of the others. row_ranks: null if there are
    /// none.
    Applied apply(std::size_t first, std::size_t last, const RankSplit& split,
                  const RankedFeature& feature, const RowRanks* row_ranks) {
        if (split.is_categorical) return {apply_categories(first, last, split, feature)};
        const bool is_known = split.next_rank != RankSplit::kUnknown;
        if (is_known && row_ranks != nullptr) {
            return row_ranks->with_ranks(
                static_cast<std::size_t>(split.feature),
                [&](auto rank_at) { return apply_known_ranks(first, last, split, rank_at); });
        }
        return feature.with_ranks([&](const auto* ranks) {
            if (!is_known) return apply_ranks(first, last, split, feature.missing_rank(), ranks);
            return apply_known_ranks(first, last, split,
                                     [ranks](std::uint32_t row) { return ranks[row]; });
        });
    }

    /// The same by a drawn threshold; returns where the right child begins.
    std::size_t apply(std::size_t first, std::size_t last, const RankSplit& split,
                      const RowValues& values) {
        const std::size_t n_features = values.n_features();
        return values.with_values([&]<class Value>(const Value* by_row) {
            const Value* column = by_row + split.feature;
            const auto cut = static_cast<Value>(split.threshold);
            if (split.missing_left) {  // NaN is neither below nor above
                return partition(first, last, [=](std::uint32_t row) {
                    return !(column[row * n_features] > cut);
                });
            }
            return partition(first, last,
                             [=](std::uint32_t row) { return column[row * n_features] <= cut; });
        });
    }

  private:
    template <class Rank>
    Applied apply_ranks(std::size_t first, std::size_t last, const RankSplit& split,
                        std::uint32_t missing, const Rank* ranks) {
        const std::uint32_t last_rank = split.last_rank;
        const bool missing_left = split.missing_left;
        std::uint32_t last_left = 0;
        std::uint32_t first_right = missing;
        const std::size_t middle = partition(first, last, [&](std::uint32_t row) {
            const std::uint32_t rank = ranks[row];
            const bool is_low = rank <= last_rank;
            const std::uint32_t low_bits = -static_cast<std::uint32_t>(is_low);
            last_left = std::max(last_left, rank & low_bits);  // masks, not branches
            first_right = std::min(first_right, rank | low_bits);
            return is_low | (missing_left & (rank == missing));
        });
        return {middle, last_left, first_right};
    }

    /// The same where no value is missing and the search has seen the ranks.
    template <class RankAt>
    Applied apply_known_ranks(std::size_t first, std::size_t last, const RankSplit& split,
                              RankAt rank_at) {
        const std::uint32_t last_rank = split.last_rank;
        const std::size_t middle =
            partition(first, last, [=](std::uint32_t row) { return rank_at(row) <= last_rank; });
        return {middle, last_rank, split.next_rank};
    }

    std::size_t apply_categories(std::size_t first, std::size_t last, const RankSplit& split,
                                 const RankedFeature& feature) {
        const std::uint8_t* bins = feature.bins.data();
        return partition(first, last, [&](std::uint32_t row) {
            const std::size_t bin = bins[row];
            return bin == feature.n_bins ? split.missing_left : split.has_left(bin);
        });
    }

    /// Stable, and no branch on the outcome.
    template <class GoesLeft>
    std::size_t partition(std::size_t first, std::size_t last, GoesLeft goes_left) {
        TreeRow* items = items_.data();
        TreeRow* right = right_.data();
        std::size_t n_left = first;
        std::size_t n_right = 0;
        for (std::size_t i = first; i < last; ++i) {
            const TreeRow item = items[i];
            std::size_t left = goes_left(row_of(item)) ? 1 : 0;
#if defined(__GNUC__)
            __asm__("" : "+r"(left));  // a number: compilers would make branches of a condition
#endif
            items[n_left] = item;
            right[n_right] = item;
            n_left += left;
            n_right += 1 - left;
        }
        std::copy_n(right, n_right, items + n_left);
        return n_left;
    }

    std::vector<TreeRow> items_;
    std::vector<TreeRow> right_;
};

}  // namespace spinney
