/// One random cut per feature, several features at a time.
#pragma once

#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "native/data/round_down.hpp"
#include "native/trees/binary_counts.hpp"
#include "native/trees/split_judge.hpp"

namespace spinney {

/// The values of all rows, row by row, so that the features a node draws come with one look at each
/// of its rows. As float32 where that is what they are; NaN is missing; categories are left out.
class RowValues {
  public:
    explicit RowValues(const RankedColumns& columns);

    std::size_t n_features() const { return n_features_; }

    /// Calls with the values in whichever width they have.
    template <class Callable>
    decltype(auto) with_values(Callable&& callable) const {
        return wide_.empty() ? callable(narrow_.data()) : callable(wide_.data());
    }

  private:
    std::size_t n_features_;
    std::vector<float> narrow_;
    std::vector<double> wide_;  ///< empty unless some value is no float32
};

template <class Target>
class RandomCuts : private SplitJudge<Target> {
    using Base = SplitJudge<Target>;
    using typename Base::Sums;

  public:
    static constexpr std::size_t kBatch = 4;

    RandomCuts(const RankedColumns& columns, const RowValues* values, Target& target,
               const SplitRules& rules, std::size_t most_rows)
        : Base(columns, target, rules),
          values_(values),
          here_(values == nullptr ? 0 : most_rows * kBatch * sizeof(double)) {}

    /// The node the next cuts are about. total: its sums.
    void enter(std::span<const TreeRow> items, const std::int64_t* total,
               const MeanBounds& bounds) {
        items_ = items;
        this->judge_node(total, bounds, items.size());
    }

    /// Judges a cut of each of these numeric features, at most kBatch, anywhere between its least
    /// and its largest value with the same chance. False if all are the same for all rows.
    bool search(std::span<const std::uint32_t> features, std::uint64_t node_key, RankSplit& best) {
        return values_->with_values([&]<class Value>(const Value* values) {
            return cut(features, node_key, values, best);
        });
    }

  private:
    /// kBatch values at a time.
    template <class Value>
    using Lanes [[gnu::vector_size(kBatch * sizeof(Value))]] = Value;

    template <class Value>
    struct Cuts {
        std::array<Value, kBatch> low;
        std::array<Value, kBatch> high;
        std::array<Value, kBatch> threshold;
        std::array<bool, kBatch> missing_left;
        std::array<bool, kBatch> varies;
    };

    template <class Value>
    bool cut(std::span<const std::uint32_t> features, std::uint64_t node_key, const Value* values,
             RankSplit& best) {
        Cuts<Value> cuts;
        Value* here = reinterpret_cast<Value*>(here_.data());
        find_ranges(features, values, here, cuts);
        bool any_varies = false;
        for (std::size_t j = 0; j < kBatch; ++j) {
            const bool is_real = j < features.size();
            const bool is_range = is_real && cuts.low[j] < cuts.high[j];
            cuts.varies[j] = is_range || (is_real && cuts.low[j] == cuts.high[j] &&
                                          any_missing(features[j], here, j));
            any_varies |= cuts.varies[j];
            cuts.missing_left[j] = false;
            if (is_range) {
                draw(random_bits(node_key, Stream::kThresholds, features[j]), cuts, j);
            } else {  // one value: the only cut is between it and missing ones
                cuts.threshold[j] = cuts.low[j];
            }
        }
        if (any_varies) judge_cuts(features, here, cuts, best);
        return any_varies;
    }

    /// Copies the features' values of the node's rows next to each other, with their ranges.
    template <class Value>
    void find_ranges(std::span<const std::uint32_t> features, const Value* values, Value* here,
                     Cuts<Value>& cuts) const {
        std::array<std::size_t, kBatch> at;  // a batch that is not full repeats its first feature
        for (std::size_t j = 0; j < kBatch; ++j) at[j] = features[j < features.size() ? j : 0];
        cuts.low.fill(std::numeric_limits<Value>::infinity());
        cuts.high.fill(-std::numeric_limits<Value>::infinity());
        Lanes<Value> low = Lanes<Value>{} + cuts.low[0];
        Lanes<Value> high = Lanes<Value>{} + cuts.high[0];
        const std::size_t n_features = values_->n_features();
        const std::span<const TreeRow> items = items_;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const Value* row = values + row_of(items[i]) * n_features;
            const Lanes<Value> value = {row[at[0]], row[at[1]], row[at[2]], row[at[3]]};
            std::memcpy(here + i * kBatch, &value, sizeof value);
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        std::memcpy(cuts.low.data(), &low, sizeof low);
        std::memcpy(cuts.high.data(), &high, sizeof high);
    }

    template <class Value>
    static void draw(std::uint64_t key, Cuts<Value>& cuts, std::size_t j) {
        const auto low = static_cast<double>(cuts.low[j]);
        const auto high = static_cast<double>(cuts.high[j]);
        const double share = random_unit(key, Stream::kThresholds, 0);
        // Rounded down, so that comparing in the width of the values is comparing with the cut.
        const Value drawn = round_down<Value>(low * (1.0 - share) + high * share);
        cuts.threshold[j] = drawn >= cuts.low[j] && drawn < cuts.high[j] ? drawn : cuts.low[j];
        cuts.missing_left[j] = (random_bits(key, Stream::kThresholds, 1) & 1) != 0;
    }

    template <class Value>
    void judge_cuts(std::span<const std::uint32_t> features, const Value* here,
                    const Cuts<Value>& cuts, RankSplit& best) {
        const std::array<Sums, kBatch> left = sums_on_the_left(here, cuts);
        for (std::size_t j = 0; j < features.size(); ++j) {
            if (!cuts.varies[j]) continue;
            this->judge_feature(features[j], best);
            if (this->columns_.feature(features[j]).has_missing) sum_missing(here, j);
            if (!this->is_best(left[j].data())) continue;
            this->keep(left[j].data(), 0, cuts.missing_left[j]);
            best.threshold = static_cast<double>(cuts.threshold[j]);
        }
    }

    template <class Value>
    std::array<Sums, kBatch> sums_on_the_left(const Value* here, const Cuts<Value>& cuts) const {
        if constexpr (std::is_same_v<Target, BinaryCounts>) {
            if (BinaryCounts::is_packed(this->total_)) return packed_on_the_left(here, cuts);
        }
        std::array<Sums, kBatch> left;
        left.fill(this->target_.no_sums());
        const std::span<const TreeRow> items = items_;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const std::uint32_t payload = this->target_.payload(items[i], i);
            for (std::size_t j = 0; j < kBatch; ++j) {
                const Value value = here[i * kBatch + j];
                const bool is_left = (value <= cuts.threshold[j]) |
                                     (cuts.missing_left[j] & !(value > cuts.threshold[j]));
                this->target_.add_if(is_left, payload, left[j].data());
            }
        }
        return left;
    }

    /// The same for two classes, all features of the batch at once.
    template <class Value>
    std::array<Sums, kBatch> packed_on_the_left(const Value* here, const Cuts<Value>& cuts) const {
        using Counts = Lanes<std::int32_t>;
        Lanes<Value> threshold;
        std::memcpy(&threshold, cuts.threshold.data(), sizeof threshold);
        Counts missing_left;
        for (std::size_t j = 0; j < kBatch; ++j) missing_left[j] = cuts.missing_left[j] ? -1 : 0;
        Counts sums = {};
        const std::span<const TreeRow> items = items_;
        for (std::size_t i = 0; i < items.size(); ++i) {
            Lanes<Value> value;
            std::memcpy(&value, here + i * kBatch, sizeof value);
            const Counts is_left = __builtin_convertvector(value <= threshold, Counts);
            const Counts is_missing = __builtin_convertvector(value != value, Counts);
            sums += (is_left | (is_missing & missing_left)) &
                    (Counts{} + static_cast<std::int32_t>(mark_of(items[i])));
        }
        std::array<Sums, kBatch> left;
        for (std::size_t j = 0; j < kBatch; ++j) {
            left[j] = {BinaryCounts::widened(static_cast<std::uint32_t>(sums[j]))};
        }
        return left;
    }

    template <class Value>
    bool any_missing(std::uint32_t feature, const Value* here, std::size_t j) const {
        if (!this->columns_.feature(feature).has_missing) return false;
        for (std::size_t i = 0; i < items_.size(); ++i) {
            if (std::isnan(here[i * kBatch + j])) return true;
        }
        return false;
    }

    template <class Value>
    void sum_missing(const Value* here, std::size_t j) {
        for (std::size_t i = 0; i < items_.size(); ++i) {
            this->target_.add_if(std::isnan(here[i * kBatch + j]),
                                 this->target_.payload(items_[i], i), this->missing_.data());
        }
    }

    const RowValues* values_;
    std::span<const TreeRow> items_;
    std::vector<std::byte> here_;  ///< values of the node's rows, kBatch features each
};

}  // namespace spinney
