/// The best split of one node, from the ranks or bins of its rows.
#pragma once

#include <span>
#include <type_traits>

#include "native/trees/binary_search.hpp"
#include "native/trees/key_sort.hpp"
#include "native/trees/row_ranks.hpp"
#include "native/trees/split_judge.hpp"

namespace spinney {

/// How splits are looked for.
enum class SplitSearch : std::uint8_t {
    kAdaptive,   ///< by bins in nodes of many rows, every cut elsewhere
    kExact,      ///< every cut everywhere
    kHistogram,  ///< by bins everywhere
    kRandom,     ///< one random cut per feature
};

/// Nodes of so many repetitions of rows are searched by bins: three per bin, which in a bootstrap
/// are two different rows, and more above.
constexpr double kManyRepetitions = 768.0;

/// Prefixes that take sums of bins, too.
template <class Prefix>
concept AddsCells = requires { &Prefix::fill_cells; };

template <class Target>
class NodeSearch : private SplitJudge<Target> {
    using Base = SplitJudge<Target>;
    using typename Base::Sums;

  public:
    /// row_ranks: null if there are none.
    NodeSearch(const RankedColumns& columns, const RowRanks* row_ranks, Target& target,
               SplitSearch kind, const SplitRules& rules, std::size_t most_rows)
        : Base(columns, target, rules),
          row_ranks_(row_ranks),
          kind_(kind),
          keys_(most_rows),
          ranks_(most_rows + kCutPadding),
          sort_(most_rows),
          prefix_(most_rows),
          unsorted_(most_rows) {}

    /// The node the next searches are about. total: its sums; is_many: whether an adaptive search
    /// goes by bins, false for others.
    void enter(std::span<const TreeRow> items, const std::int64_t* total, const MeanBounds& bounds,
               bool is_many) {
        items_ = items;
        is_many_ = is_many;
        this->judge_node(total, bounds, items.size());
        if constexpr (kBinary) {
            is_packed_ = this->rules().directions.empty() && BinaryCounts::is_packed(total);
            unsorted_.enter(items, this->target_.node(), this->rules().min_leaf);
        }
    }

    /// Puts the best split on feature f into `best` if it is better than that. False if the feature
    /// is the same for all rows. Random cuts of numbers are RandomCuts' business.
    bool search(std::size_t f, std::uint64_t node_key, RankSplit& best) {
        this->judge_feature(f, best);
        const RankedFeature& feature = this->columns_.feature(f);
        if (feature.is_categorical) {
            fill_cells(feature);
            if (kind_ != SplitSearch::kRandom) return this->judge_categories(feature);
            const std::uint64_t key = random_bits(node_key, Stream::kThresholds, f);
            return this->judge_drawn_categories(feature, key);
        }
        if constexpr (kBinary) {
            if (is_packed_ && !feature.has_missing) return search_unsorted(feature, f);
        }
        return by_bins(feature) ? search_bins(feature) : search_cuts(feature);
    }

    /// Whether searches are faster with RowRanks.
    static constexpr bool kBinary = std::is_same_v<Target, BinaryCounts>;

  private:
    /// Every cut, or those behind bins, of two classes; rows are counted and not sorted.
    bool search_unsorted(const RankedFeature& feature, std::size_t f) {
        const double scale = this->target_.scale();
        const double bar = this->bar() / scale * (1.0 - kTie);  // a hair low: `offer` has the word
        const auto every_cut = [&](BinaryCut& cut) {
            return with_ranks(
                feature, f, [&](auto rank_at) { return unsorted_.search_cuts(rank_at, bar, cut); });
        };
        BinaryCut cut;
        bool varies = false;
        if (by_bins(feature)) {
            varies = unsorted_.search_bins(feature, bar, cut) ||
                     (kind_ != SplitSearch::kHistogram && every_cut(cut));
        } else {
            varies = every_cut(cut);
        }
        if (cut.gain >= 0.0) {
            this->offer(cut.gain * scale, {BinaryCounts::widened(cut.left)}, cut.last_rank,
                        cut.next_rank);
        }
        return varies;
    }

    /// Calls with a function from rows to ranks.
    template <class Callable>
    bool with_ranks(const RankedFeature& feature, std::size_t f, Callable&& callable) const {
        if (row_ranks_ != nullptr) return row_ranks_->with_ranks(f, callable);
        return feature.with_ranks([&](const auto* ranks) {
            return callable([ranks](std::size_t row) -> std::uint32_t { return ranks[row]; });
        });
    }

    /// Where every value has a bin of its own both roads lead to the same cut.
    bool by_bins(const RankedFeature& feature) const {
        return kind_ == SplitSearch::kHistogram || is_many_ ||
               (feature.n_bins == feature.values.size() && items_.size() * 2 > feature.n_bins);
    }

    /// Writes the keys of rows with a value; sums those without. Returns how many there are.
    template <class Rank>
    std::size_t gather(const RankedFeature& feature, const Rank* ranks) {
        const std::uint32_t missing = feature.missing_rank();
        std::uint32_t low = missing;
        std::uint32_t high = 0;
        std::size_t n = 0;
        const std::span<const TreeRow> items = items_;  // what is written could else be these
        RankKey* keys = keys_.data();
        for (std::size_t i = 0; i < items.size(); ++i) {
            const std::uint32_t rank = ranks[row_of(items[i])];
            const std::uint32_t payload = this->target_.payload(items[i], i);
            if (rank == missing) {
                this->target_.add(payload, this->missing_.data());
                continue;
            }
            keys[n++] = rank_key(rank, payload);
            low = std::min(low, rank);
            high = std::max(high, rank);
        }
        low_ = low;
        high_ = high;
        return n;
    }

    /// Every cut: the node's rows are sorted.
    bool search_cuts(const RankedFeature& feature) {
        const std::size_t n =
            feature.with_ranks([&](const auto* ranks) { return gather(feature, ranks); });
        const bool any_missing = n < items_.size();
        if (n == 0 || (low_ == high_ && !any_missing)) return false;
        const RankKey* sorted = sort_.sort(keys_.data(), n, low_, high_);
        if (any_missing) {
            scan<true>(sorted, n);
        } else if (this->by_vectors(n)) {
            scan_by_vectors(sorted, n);
        } else {
            scan<false>(sorted, n);
        }
        return true;
    }

    void scan_by_vectors(const RankKey* keys, std::size_t n) {
        if constexpr (Target::kVectors) {
            for (std::size_t i = 0; i < n; ++i) ranks_[i] = rank_of(keys[i]);
            prefix_.fill(this->target_, n, [keys](std::size_t i) { return payload_of(keys[i]); });
            this->judge_rows(prefix_, ranks_.data(), 0, n, [this](std::size_t i) {
                return typename Base::RankPair(ranks_[i], ranks_[i + 1]);
            });
        }
    }

    template <bool kAnyMissing>
    void scan(const RankKey* keys, std::size_t n) {
        // Small sums on the stack become registers: nothing else may point to them.
        std::conditional_t<kAnyMissing || !Target::kSmall, Sums&, Sums> left = this->left_;
        for (std::size_t i = 0; i < n; ++i) {
            this->target_.add(payload_of(keys[i]), left.data());
            const bool is_last = i + 1 == n;
            const std::uint32_t rank = rank_of(keys[i]);
            if (!is_last && rank_of(keys[i + 1]) == rank) continue;
            if constexpr (kAnyMissing) {
                this->judge(rank, is_last);
            } else if (!is_last && this->is_best(left.data())) {
                this->keep(left.data(), rank, false);
            }
        }
    }

    /// Sums of the node's rows per bin; the bin behind the last is that of missing values.
    void fill_cells(const RankedFeature& feature) {
        this->clear_cells(feature.n_bins + 1);
        const std::uint8_t* bins = feature.bins.data();
        const std::span<const TreeRow> items = items_;
        std::int64_t* cells = this->cell(0);
        const std::size_t width = this->target_.width();
        for (std::size_t i = 0; i < items.size(); ++i) {
            this->target_.add(this->target_.payload(items[i], i),
                              cells + bins[row_of(items[i])] * width);
        }
        std::copy_n(this->cell(feature.n_bins), this->target_.width(), this->missing_.begin());
    }

    /// Cuts between bins.
    bool search_bins(const RankedFeature& feature) {
        fill_cells(feature);
        std::size_t last = feature.n_bins;
        std::size_t n_filled = 0;
        for (std::size_t bin = 0; bin < feature.n_bins; ++bin) {
            if (!this->target_.has_rows(this->cell(bin))) continue;
            last = bin;
            ++n_filled;
        }
        if (n_filled == 0) return false;
        if (n_filled == 1 && !this->target_.has_rows(this->missing_.data())) {
            // All in one bin is not all the same: look closer, unless bins are all there is.
            const bool is_one_value = feature.n_bins == feature.values.size();
            return !is_one_value && kind_ != SplitSearch::kHistogram && search_cuts(feature);
        }
        if constexpr (AddsCells<typename PrefixOf<Target>::Type>) {
            if (this->by_vectors(n_filled) && !this->target_.has_rows(this->missing_.data())) {
                scan_bins_by_vectors(feature, last + 1);
                return true;
            }
        }
        for (std::size_t bin = 0; bin <= last; ++bin) {
            if (!this->target_.has_rows(this->cell(bin))) continue;
            this->shift(this->cell(bin), 1);
            this->judge(feature.last_rank[bin], bin == last);
        }
        return true;
    }

    void scan_bins_by_vectors(const RankedFeature& feature, std::size_t n_bins) {
        const std::size_t n = prefix_.fill_cells(this->cell(0), n_bins, ranks_.data());
        this->judge_rows(prefix_, ranks_.data(), 0, n, [this, &feature](std::size_t i) {
            return typename Base::RankPair(feature.last_rank[ranks_[i]], RankSplit::kUnknown);
        });
    }

    const RowRanks* row_ranks_;
    SplitSearch kind_;
    std::span<const TreeRow> items_;
    bool is_many_ = false;
    std::uint32_t low_ = 0;
    std::uint32_t high_ = 0;
    std::vector<RankKey> keys_;
    std::vector<std::uint32_t> ranks_;
    KeySort sort_;
    typename PrefixOf<Target>::Type prefix_;
    std::conditional_t<kBinary, BinarySearch, NoPrefix> unsorted_;
    bool is_packed_ = false;  ///< whether counts of the node are PackedCounts
};

}  // namespace spinney
