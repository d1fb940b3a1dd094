/// Which rows of a tree are in which node.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "native/trees/random_cuts.hpp"
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

    /// Moves the rows of a node that go left in front of the others and finds the threshold, the
    /// middle between the neighbouring values of the node; returns where the right child begins.
    std::size_t apply(std::size_t first, std::size_t last, const RankSplit& split,
                      const RankedFeature& feature, double& threshold) {
        if (split.is_categorical) return apply_categories(first, last, split, feature);
        const Applied applied = feature.with_ranks([&](const auto* ranks) {
            return split.next_rank == RankSplit::kUnknown
                       ? apply_ranks(first, last, split, feature.missing_rank(), ranks)
                       : apply_known_ranks(first, last, split, ranks);
        });
        threshold = applied.first_right == feature.missing_rank()
                        ? std::numeric_limits<double>::infinity()
                        : RankedColumns::threshold_between(feature.values[applied.last_left],
                                                           feature.values[applied.first_right]);
        return applied.middle;
    }

    /// The same by a drawn threshold.
    std::size_t apply(std::size_t first, std::size_t last, const RankSplit& split,
                      const RowValues& values, double& threshold) {
        threshold = split.threshold;
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
    /// Where the right child begins, and the ranks between which the threshold lies.
    struct Applied {
        std::size_t middle;
        std::uint32_t last_left;
        std::uint32_t first_right;
    };

    template <class Rank>
    Applied apply_ranks(std::size_t first, std::size_t last, const RankSplit& split,
                        std::uint32_t missing, const Rank* ranks) {
        Applied applied = {0, 0, missing};
        applied.middle = partition(first, last, [&](std::uint32_t row) {
            const std::uint32_t rank = ranks[row];
            const bool is_low = rank <= split.last_rank;
            applied.last_left = std::max(applied.last_left, is_low ? rank : 0U);
            applied.first_right = std::min(applied.first_right, is_low ? missing : rank);
            return (rank == missing) ? split.missing_left : is_low;
        });
        return applied;
    }

    /// The same where no value is missing and the search has seen the ranks.
    template <class Rank>
    Applied apply_known_ranks(std::size_t first, std::size_t last, const RankSplit& split,
                              const Rank* ranks) {
        const std::uint32_t last_rank = split.last_rank;
        const std::size_t middle =
            partition(first, last, [=](std::uint32_t row) { return ranks[row] <= last_rank; });
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
            const bool left = goes_left(row_of(item));
            items[n_left] = item;
            right[n_right] = item;
            n_left += left ? 1 : 0;
            n_right += left ? 0 : 1;
        }
        std::copy_n(right, n_right, items + n_left);
        return n_left;
    }

    std::vector<TreeRow> items_;
    std::vector<TreeRow> right_;
};

}  // namespace spinney
