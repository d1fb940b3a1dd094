/// The rows of a small subtree, sorted once by every feature.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>

#include "native/trees/block_sort.hpp"
#include "native/trees/cut_ceilings.hpp"
#include "native/trees/few_search.hpp"
#include "native/trees/found_cuts.hpp"
#include "native/trees/key_moves.hpp"
#include "native/trees/split_judge.hpp"

namespace spinney {

/// Finds the splits that NodeSearch finds, another way: all features are sorted when a subtree
/// begins, and each split moves the rows of all of them, keeping their order. Per row, feature and
/// level that is one move and, where the feature is looked at, one sum: cheaper than sorting again
/// when a good part of the features is looked at in every node.
///
/// Invariant: for every feature that varies in the block, and for ids_, the rows of a node are one
/// range of places, the same for all; a feature's range is in the order of its values, unless the
/// node has so few rows that FewSearch splits it.
template <class Target>
class SortedBlock : private SplitJudge<Target> {
    using Base = SplitJudge<Target>;
    using typename Base::Sums;

  public:
    /// looks_at_all: whether every node looks at all features.
    SortedBlock(const RankedColumns& columns, Target& target, const SplitRules& rules,
                std::size_t most_rows)
        : Base(columns, target, rules),
          few_(target, rules.min_leaf, columns.n_features(), most_rows),
          most_rows_(most_rows),
          ceilings_(most_rows),
          keys_(columns.n_features() * most_rows + kRoughPadding + 1),
          varies_(columns.n_features()),
          sort_(most_rows),
          ids_(most_rows),
          payloads_(most_rows),
          goes_left_(most_rows),
          moved_(most_rows + kMovePadding),
          moved_ids_(most_rows),
          prefix_(most_rows) {}

    /// Rows a block may have, so that its keys stay in the cache next to the core.
    static std::size_t room(std::size_t n_features) {
        constexpr std::size_t kKeys = std::size_t{1} << 16;
        return std::min<std::size_t>(kKeys / std::max<std::size_t>(n_features, 1), 4096);
    }

    /// Whether a node of these places is inside the block.
    bool covers(std::size_t first, std::size_t last) const {
        return first >= base_ && last <= base_ + items_.size();
    }

    /// Begins a subtree: its rows, which are at `base` of all, and at most `most_rows`; and the
    /// features that will be searched, the same for all blocks of a tree.
    void load(std::span<const TreeRow> items, std::size_t base,
              std::span<const std::uint32_t> features, bool looks_at_all) {
        items_ = items;
        base_ = base;
        moves_ = {};
        few_rows_ = kJudgesSets && looks_at_all && may_be_few(features) ? kFewRows : 0;
        few_.load(items.size());
        this->target_.load(items);
        for (std::size_t id = 0; id < items.size(); ++id) {
            ids_[id] = static_cast<std::uint16_t>(id);
            payloads_[id] = this->target_.payload(items[id], id);
        }
        for (const std::uint32_t f : features) {
            const RankedFeature& feature = this->columns_.feature(f);
            varies_[f] = !feature.is_categorical && sort_feature(feature, f);
        }
    }

    /// Before the first block of a tree.
    void forget() {
        items_ = {};
        std::fill(varies_.begin(), varies_.end(), std::uint8_t{0});
    }

    /// Sums the rows of a node.
    void sum(std::size_t first, std::size_t last, std::int64_t* total) {
        this->target_.begin();
        for (std::size_t at = first - base_; at < last - base_; ++at) {
            this->target_.visit(payloads_[ids_[at]], total);
        }
    }

    /// The node the next searches are about, with its sums.
    void enter(std::size_t first, std::size_t last, const std::int64_t* total,
               const MeanBounds& bounds) {
        first_ = first - base_;
        n_ = last - first;
        if (is_few()) return;
        if (moves_.is_due && first >= moves_.first && last <= moves_.last) move_keys(first);
        this->judge_node(total, bounds, n_);
    }

    /// Whether the node entered last is one for `few`, and has no keys.
    bool is_few() const { return n_ <= few_rows_; }
    /// Finds its splits by all features.
    auto& few() { return few_; }
    std::span<const std::uint16_t> rows() const { return std::span(ids_).subspan(first_, n_); }

    /// What no split of the node entered by f can gain more than; below 0: there is none.
    void roughen() { ceilings_.enter(this->target_.roughen(rows(), ceilings_.by_row())); }
    double ceiling(std::size_t f) {
        constexpr double kUnknown = std::numeric_limits<double>::infinity();
        if (this->columns_.feature(f).is_categorical) return kUnknown;
        if (!varies_[f]) return -1.0;
        const Key* own = keys(f) + first_;
        if (rank_in(own[0]) == rank_in(own[n_ - 1])) return -1.0;
        return rank_in(own[n_ - 1]) == kMissing ? kUnknown : ceilings_.of(own, n_);
    }

    /// As NodeSearch::search; `last_rank` of a split is the place, in the feature's order, of the
    /// last row with a value that goes left.
    bool search(std::size_t f, std::uint64_t /*node_key*/, RankSplit& best) {
        this->judge_feature(f, best);
        const RankedFeature& feature = this->columns_.feature(f);
        if (feature.is_categorical) {
            fill_cells(feature);
            return this->judge_categories(feature);
        }
        if (!varies_[f]) return false;
        const Key* own = keys(f) + first_;
        const std::size_t n = n_present(own);
        for (std::size_t i = n; i < n_; ++i) {
            this->target_.add(payloads_[id_of(own[i])], this->missing_.data());
        }
        if (n == 0 || (n == n_ && rank_in(own[0]) == rank_in(own[n - 1]))) return false;
        if (n < n_) {
            scan<true>(own, n);
        } else if (this->by_vectors(n)) {
            scan_by_vectors(own, n);
        } else {
            scan<false>(own, n);
        }
        return true;
    }

    /// A split of a node: where the right child begins, and the rows between which a cut is.
    struct Applied {
        std::size_t middle = 0;
        RowCut cut = {};
    };

    /// Moves the rows that go left in front of the others. Keys follow when a child is searched, if
    /// it ever is.
    Applied apply(const RankSplit& split) {
        if (is_few()) return apply_few(split);
        const auto f = static_cast<std::size_t>(split.feature);
        RowCut cut;
        if (split.is_categorical) {
            mark_categories(split, this->columns_.feature(f));
        } else {
            cut = mark_numbers(split, keys(f) + first_);
        }
        const std::uint8_t* marks = goes_left_.data();
        const std::size_t n_left = part(ids_.data() + first_, n_, moved_ids_.data(),
                                        [marks](std::uint16_t id) { return marks[id]; });
        const std::size_t middle = base_ + first_ + n_left;
        moves_ = {true, base_ + first_, middle, base_ + first_ + n_};
        return {middle, cut};
    }

  private:
    static constexpr bool kJudgesSets = JudgesSets<Target>;

    using Key = BlockKey;
    static constexpr std::uint32_t kMissing = BlockSort::kMissing;

    static std::uint32_t rank_in(Key key) { return key >> 16; }
    static std::uint16_t id_of(Key key) { return static_cast<std::uint16_t>(key); }
    Key* keys(std::size_t f) { return keys_.data() + f * most_rows_; }

    /// Writes the keys of a feature in order; false if it is the same for all rows.
    bool sort_feature(const RankedFeature& feature, std::size_t f) {
        const bool varies = sort_.sort(feature, items_, keys(f));
        if constexpr (kJudgesSets) {
            if (varies && few_rows_ > 0) tell_ranks(f);
        }
        return varies;
    }

    void tell_ranks(std::size_t f) {
        const Key* own = keys(f);
        for (std::size_t i = 0; i < items_.size(); ++i) {
            few_.set_rank(id_of(own[i]), f, static_cast<std::uint16_t>(rank_in(own[i])));
        }
    }

    /// Whether FewSearch knows what there is to know.
    bool may_be_few(std::span<const std::uint32_t> features) const {
        return this->rules().directions.empty() &&
               std::none_of(features.begin(), features.end(), [this](std::uint32_t f) {
                   return this->columns_.feature(f).is_categorical;
               });
    }

    std::size_t n_present(const Key* own) const {
        std::size_t n = n_;
        while (n > 0 && rank_in(own[n - 1]) == kMissing) --n;
        return n;
    }

    template <bool kAnyMissing>
    void scan(const Key* own, std::size_t n) {
        std::conditional_t<kAnyMissing || !Target::kSmall, Sums&, Sums> left = this->left_;
        for (std::size_t i = 0; i < n; ++i) {
            this->target_.add(payloads_[id_of(own[i])], left.data());
            const bool is_last = i + 1 == n;
            if (!is_last && rank_in(own[i + 1]) == rank_in(own[i])) continue;
            if constexpr (kAnyMissing) {
                this->judge(static_cast<std::uint32_t>(i), is_last);
            } else if (!is_last && this->is_best(left.data())) {
                this->keep(left.data(), static_cast<std::uint32_t>(i), false);
            }
        }
    }

    void scan_by_vectors(const Key* own, std::size_t n) {
        if constexpr (Target::kVectors) {
            const std::uint32_t* payloads = payloads_.data();
            prefix_.fill(this->target_, n, [own, payloads](std::size_t i) -> std::uint32_t {
                return Target::kPlaces ? id_of(own[i]) : payloads[id_of(own[i])];
            });
            this->judge_rows(prefix_, own, 16, n, [](std::size_t i) {
                const auto place = static_cast<std::uint32_t>(i);
                return typename Base::RankPair(place, place + 1);
            });
        }
    }

    void fill_cells(const RankedFeature& feature) {
        this->clear_cells(feature.n_bins + 1);
        for (std::size_t at = first_; at < first_ + n_; ++at) {
            const std::uint16_t id = ids_[at];
            this->target_.add(payloads_[id], this->cell(feature.bins[row_of(items_[id])]));
        }
        std::copy_n(this->cell(feature.n_bins), this->target_.width(), this->missing_.begin());
    }

    /// Marks the rows that go left.
    RowCut mark_numbers(const RankSplit& split, const Key* own) {
        const std::size_t n = n_present(own);
        const std::size_t n_left = split.last_rank + 1;
        for (std::size_t i = 0; i < n; ++i) goes_left_[id_of(own[i])] = i < n_left;
        for (std::size_t i = n; i < n_; ++i) goes_left_[id_of(own[i])] = split.missing_left;
        const std::uint32_t last_left = row_at(id_of(own[n_left - 1]));
        return {last_left, n_left == n ? RowCut::kNone : row_at(id_of(own[n_left]))};
    }

    std::uint32_t row_at(std::uint16_t id) const { return row_of(items_[id]); }

    /// As `apply`; there are no keys to follow, and the marks of other splits stay.
    Applied apply_few(const RankSplit& split) {
        RowCut cut;
        if constexpr (kJudgesSets) {
            const auto [left, right] = few_.neighbours(split);
            cut = {row_at(left), right == few_.kNobody ? RowCut::kNone : row_at(right)};
        }
        std::size_t place = 0;
        const std::size_t n_left =
            part(ids_.data() + first_, n_, moved_ids_.data(),
                 [&](std::uint16_t) { return (split.left_rows >> place++) & 1U; });
        return {base_ + first_ + n_left, cut};
    }

    void mark_categories(const RankSplit& split, const RankedFeature& feature) {
        for (std::size_t at = first_; at < first_ + n_; ++at) {
            const std::size_t bin = feature.bins[row_of(items_[ids_[at]])];
            goes_left_[ids_[at]] = bin == feature.n_bins ? split.missing_left : split.has_left(bin);
        }
    }

    /// Stable, and no branch on the outcome; returns how many go left.
    template <class T, class GoesLeft>
    static std::size_t part(T* own, std::size_t n, T* room, GoesLeft goes_left) {
        std::size_t n_left = 0;
        std::size_t n_right = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const T entry = own[i];
            const std::size_t left = goes_left(entry);
            own[n_left] = entry;
            room[n_right] = entry;
            n_left += left;
            n_right += 1 - left;
        }
        std::copy_n(room, n_right, own + n_left);
        return n_left;
    }

    /// Lets the keys of all features follow the last split. first: of the child that needs them;
    /// if that is the right one, nobody will ask for those of the left.
    void move_keys(std::size_t first) {
        moves_.is_due = false;
        const std::uint8_t* marks = goes_left_.data();
        const std::size_t begin = moves_.first - base_;
        const std::size_t n = moves_.last - moves_.first;
        if (move_block_ != nullptr && items_.size() <= kMoveMarks) {
            std::array<std::uint32_t, kMoveMarks / 32> bits{};
            for (std::size_t at = begin; at < begin + n; ++at) {
                bits[ids_[at] / 32] |= static_cast<std::uint32_t>(marks[ids_[at]]) << ids_[at] % 32;
            }
            const bool wants_left =
                first == moves_.first && moves_.middle - moves_.first > few_rows_;
            const bool wants_right = moves_.last - moves_.middle > few_rows_;
            move_block_({keys_.data() + begin, most_rows_, varies_, n, wants_left, wants_right},
                        bits.data(), moved_.data());
            return;
        }
        for (std::size_t f = 0; f < varies_.size(); ++f) {
            if (!varies_[f]) continue;
            part(keys(f) + begin, n, moved_.data(), [marks](Key key) { return marks[id_of(key)]; });
        }
    }

    /// A split whose keys have not moved yet. The marks are still those of that split: before
    /// another split is made one of the two children is searched, or both are leaves.
    struct Moves {
        bool is_due = false;
        std::size_t first = 0;
        std::size_t middle = 0;
        std::size_t last = 0;
    };

    MoveBlock* move_block_ = SPINNEY_MOVE_KERNEL;
    typename FewSearchOf<Target>::Type few_;
    std::size_t few_rows_ = 0;  ///< most rows of a node that `few_` splits
    std::size_t most_rows_;
    std::span<const TreeRow> items_;
    std::size_t base_ = 0;
    std::size_t first_ = 0;  ///< of the node, within the block
    std::size_t n_ = 0;
    Moves moves_;
    CutCeilings ceilings_;
    std::vector<Key> keys_;             ///< features behind each other, most_rows_ places each
    std::vector<std::uint8_t> varies_;  ///< by feature
    BlockSort sort_;
    std::vector<std::uint16_t> ids_;       ///< rows of every node, in input order
    std::vector<std::uint32_t> payloads_;  ///< by id
    std::vector<std::uint8_t> goes_left_;  ///< by id
    std::vector<Key> moved_;
    std::vector<std::uint16_t> moved_ids_;
    typename PrefixOf<Target>::Type prefix_;
};

}  // namespace spinney
