/// Looking for the best cut of a node of two classes without sorting its rows.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "native/trees/binary_counts.hpp"
#include "native/trees/binary_cuts.hpp"
#include "native/trees/key_sort.hpp"
#include "native/trees/split_judge.hpp"

namespace spinney {

/// A cut between two ranks.
struct BinaryCut {
    double gain = -1.0;  ///< to be scaled; below 0: there is none
    std::uint32_t last_rank = 0;
    std::uint32_t next_rank = RankSplit::kUnknown;
    PackedCount left = 0;
};

/// Nodes whose counts fit PackedCount, features without missing values. Cuts that gain the same are
/// decided in favour of the lowest rank.
class BinarySearch {
  public:
    explicit BinarySearch(std::size_t most_rows)
        : ranks_(most_rows), bin_of_(most_rows), keys_(most_rows), sort_(most_rows) {}

    /// The node the next searches are about. min_leaf: rows each child must keep.
    void enter(std::span<const TreeRow> items, const BinaryNode& node, double min_leaf) {
        items_ = items;
        node_ = node;
        limits_.least = std::max(min_leaf, 1.0);
        limits_.most = node.all - limits_.least;
    }

    /// The best of all cuts if it gains more than `bar`. rank_at: from rows to ranks. False if all
    /// have the same rank.
    template <class RankAt>
    bool search_cuts(RankAt rank_at, double bar, BinaryCut& best) {
        return items_.size() <= FewRows::kMost ? search_few(rank_at, bar, best)
                                               : search_more(rank_at, bar, best);
    }

    /// The best of the cuts behind bins if it gains more than `bar`. False if all rows are in one.
    bool search_bins(const RankedFeature& feature, double bar, BinaryCut& best) {
        const std::uint8_t* bins = feature.bins.data();
        count_bins(feature.n_bins, [=](TreeRow item, std::size_t) { return bins[row_of(item)]; });
        const double most = bin_gains_(bins_, feature.n_bins, node_, limits_);
        if (is_above(most, bar)) {
            const std::size_t bin = first_bin(most * (1.0 - kTie));
            best = {bins_.gains[bin], feature.last_rank[bin], RankSplit::kUnknown, bins_.left[bin]};
        }
        return bins_.cells[bins[row_of(items_[0])]] != bins_.left[feature.n_bins - 1];
    }

  private:
    /// Whether there is a cut, and it gains more than `bar`.
    static bool is_above(double gain, double bar) { return gain >= 0.0 && gain > bar; }

    /// Looks at every pair of rows.
    template <class RankAt>
    bool search_few(RankAt rank_at, double bar, BinaryCut& best) {
        const std::size_t n = items_.size();
        std::int32_t low = std::numeric_limits<std::int32_t>::max();
        std::int32_t high = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const auto rank = static_cast<std::int32_t>(rank_at(row_of(items_[i])));
            few_.ranks[i] = rank;
            few_.counts[i] = mark_of(items_[i]);
            low = std::min(low, rank);
            high = std::max(high, rank);
        }
        if (low == high) return false;
        const double most = few_row_gains_(few_, n, node_, limits_);
        if (is_above(most, bar)) best = first_of_few(n, most * (1.0 - kTie));
        return true;
    }

    BinaryCut first_of_few(std::size_t n, double enough) const {
        std::size_t at = n;
        for (std::size_t i = 0; i < n; ++i) {
            if (few_.gains[i] >= enough && (at == n || few_.ranks[i] < few_.ranks[at])) at = i;
        }
        const std::int32_t last = few_.ranks[at];
        std::int32_t next = std::numeric_limits<std::int32_t>::max();
        for (std::size_t i = 0; i < n; ++i) {
            next = few_.ranks[i] > last ? std::min(next, few_.ranks[i]) : next;
        }
        return {few_.gains[at], static_cast<std::uint32_t>(last), static_cast<std::uint32_t>(next),
                few_.left[at]};
    }

    /// Counts rows in bins, about as many as there are rows, and sorts the rows of those bins
    /// within which the best cut may lie.
    template <class RankAt>
    bool search_more(RankAt rank_at, double bar, BinaryCut& best) {
        std::uint32_t low = 0xFFFFFFFF;
        std::uint32_t high = 0;
        const std::span<const TreeRow> items = items_;
        std::uint32_t* ranks = ranks_.data();
        for (std::size_t i = 0; i < items.size(); ++i) {
            const std::uint32_t rank = rank_at(row_of(items[i]));
            ranks[i] = rank;
            low = std::min(low, rank);
            high = std::max(high, rank);
        }
        if (low == high) return false;
        const std::size_t n_bins = std::min(std::bit_floor(items.size()), CountedBins::kMost);
        const std::uint64_t scale = (static_cast<std::uint64_t>(n_bins) << 32) /
                                    (static_cast<std::uint64_t>(high - low) + 1);
        std::uint8_t* bin_of = bin_of_.data();
        count_bins(n_bins, [=](TreeRow, std::size_t i) {
            return bin_of[i] = static_cast<std::uint8_t>((ranks[i] - low) * scale >> 32);
        });
        double most = bin_gains_(bins_, n_bins, node_, limits_);
        const double enough = std::max(most, bar) * (1.0 - kTie);
        if (mark_promising(enough)) cut_within();
        for (const InnerCut& inner : inner_) most = std::max(most, inner.cut.gain);
        if (is_above(most, bar)) best = first_of_more(most * (1.0 - kTie));
        return true;
    }

    template <class BinAt>
    void count_bins(std::size_t n_bins, BinAt bin_at) {
        std::fill_n(bins_.cells.begin(), n_bins, 0U);
        n_bins_ = n_bins;
        const std::span<const TreeRow> items = items_;
        for (std::size_t i = 0; i < items.size(); ++i) {
            bins_.cells[bin_at(items[i], i)] += mark_of(items[i]);
        }
    }

    /// The first bin behind which a cut gains enough; n_bins_ if there is none.
    std::size_t first_bin(double enough) const {
        std::size_t bin = 0;
        while (bin < n_bins_ && bins_.gains[bin] < enough) ++bin;
        return bin;
    }

    /// Finds the bins within which a cut may gain enough; whether there are any.
    bool mark_promising(double enough) {
        inner_.clear();
        const std::size_t n_promising = promising_bins_(bins_, n_bins_, node_, enough);
        if (n_promising == 0 && limits_.least <= 1.0) return false;
        is_promising_.fill(0);
        for (std::size_t p = 0; p < n_promising; ++p) is_promising_[bins_.mixed[p]] = 1;
        if (limits_.least <= 1.0) return true;
        // Where a limit is within a bin, one of its ends is no cut that was judged.
        for (std::size_t bin = 0; bin < n_bins_; ++bin) {
            const double behind = bins_.left[bin] & 0xFFFFU;
            const double before = (bins_.left[bin] - bins_.cells[bin]) & 0xFFFFU;
            const bool has_limit = (before < limits_.least && behind > limits_.least) ||
                                   (before < limits_.most && behind > limits_.most);
            is_promising_[bin] |= has_limit ? 1 : 0;
        }
        return true;
    }

    /// Judges every cut within promising bins.
    void cut_within() {
        std::size_t n = 0;
        for (std::size_t i = 0; i < items_.size(); ++i) {
            keys_[n] = i;
            n += is_promising_[bin_of_[i]];
        }
        std::uint32_t low = 0xFFFFFFFF;
        std::uint32_t high = 0;
        for (std::size_t k = 0; k < n; ++k) {
            const auto i = static_cast<std::uint32_t>(keys_[k]);
            keys_[k] = rank_key(ranks_[i], i);
            low = std::min(low, ranks_[i]);
            high = std::max(high, ranks_[i]);
        }
        if (n > 0) judge_sorted(sort_.sort(keys_.data(), n, low, high), n);
    }

    /// Judges the cuts between sorted rows of the same bin.
    void judge_sorted(const RankKey* sorted, std::size_t n) {
        std::size_t bin = CountedBins::kMost;
        PackedCount left = 0;
        for (std::size_t k = 0; k + 1 < n; ++k) {
            const std::uint32_t i = payload_of(sorted[k]);
            if (bin_of_[i] != bin) {
                bin = bin_of_[i];
                left = bins_.left[bin] - bins_.cells[bin];
            }
            left += mark_of(items_[i]);
            const bool ends = bin_of_[payload_of(sorted[k + 1])] != bin;
            if (ends || rank_of(sorted[k]) == rank_of(sorted[k + 1])) continue;
            const double count = left & 0xFFFFU;
            if (count < limits_.least || count > limits_.most) continue;
            const auto wide = static_cast<std::uint64_t>(BinaryCounts::widened(left));
            inner_.push_back(
                {{node_.gain(wide), rank_of(sorted[k]), rank_of(sorted[k + 1]), left}, bin});
        }
    }

    /// The first cut, behind bins or within them, that gains enough.
    BinaryCut first_of_more(double enough) const {
        const std::size_t bin = first_bin(enough);
        for (const InnerCut& inner : inner_) {
            if (inner.bin > bin) break;
            if (inner.cut.gain >= enough) return inner.cut;
        }
        BinaryCut cut = {bins_.gains[bin], 0, RankSplit::kUnknown, bins_.left[bin]};
        for (std::size_t i = 0; i < items_.size(); ++i) {
            const std::uint32_t rank = ranks_[i];
            const bool is_left = bin_of_[i] <= bin;
            cut.last_rank = std::max(cut.last_rank, is_left ? rank : 0U);
            cut.next_rank = std::min(cut.next_rank, is_left ? RankSplit::kUnknown : rank);
        }
        return cut;
    }

    /// A cut within a bin.
    struct InnerCut {
        BinaryCut cut;
        std::size_t bin = 0;
    };

    FewRowGains* few_row_gains_ = SPINNEY_CUT_KERNEL(few_row_gains);
    BinGains* bin_gains_ = SPINNEY_CUT_KERNEL(bin_gains);
    PromisingBins* promising_bins_ = SPINNEY_CUT_KERNEL(promising_bins);
    std::span<const TreeRow> items_;
    BinaryNode node_;
    LeftLimits limits_;
    FewRows few_;
    CountedBins bins_;
    std::size_t n_bins_ = 0;
    std::array<std::uint8_t, CountedBins::kMost> is_promising_;
    std::vector<std::uint32_t> ranks_;  ///< by row of the node
    std::vector<std::uint8_t> bin_of_;  ///< by row of the node
    std::vector<RankKey> keys_;
    KeySort sort_;
    std::vector<InnerCut> inner_;
};

}  // namespace spinney
