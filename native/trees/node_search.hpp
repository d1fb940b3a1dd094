/// The best split of one node, feature by feature.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "native/base/random.hpp"
#include "native/trees/forest_rows.hpp"
#include "native/trees/key_sort.hpp"
#include "native/trees/ranked_columns.hpp"
#include "native/trees/split.hpp"

namespace spinney {

/// How splits are looked for.
enum class SplitSearch : std::uint8_t {
    kAdaptive,   ///< by bins in nodes of many rows, every cut elsewhere
    kExact,      ///< every cut everywhere
    kHistogram,  ///< by bins everywhere
    kRandom,     ///< one random cut per feature
};

/// A split by rank. Which threshold lies behind it is found when rows are moved.
struct RankSplit {
    std::int32_t feature = -1;    ///< -1: none
    std::uint32_t last_rank = 0;  ///< numeric: ranks up to this one go left
    double threshold = kBetween;  ///< numeric: the cut, if it was drawn and not found
    bool is_categorical = false;
    bool missing_left = false;
    bool left_is_larger = false;
    double gain = -std::numeric_limits<double>::infinity();
    std::array<std::uint8_t, kCategorySetBytes> left_bins{};

    static constexpr double kBetween = -std::numeric_limits<double>::infinity();

    bool exists() const { return feature >= 0; }
};

/// Looks for splits of one node after the other. Not for two threads at once: it owns the room.
template <class Target>
class NodeSearch {
    using Sums = typename Target::Sums;

  public:
    NodeSearch(const RankedColumns& columns, Target& target, SplitSearch kind, double min_leaf,
               std::size_t most_rows)
        : columns_(columns),
          target_(target),
          kind_(kind),
          min_leaf_(min_leaf),
          keys_(most_rows),
          sort_(most_rows),
          left_(target.no_sums()),
          missing_(target.no_sums()),
          cells_(256 * target.width()) {}

    /// The node the next searches are about. total: its sums.
    void enter(std::span<const TreeRow> items, const std::int64_t* total) {
        items_ = items;
        total_ = total;
    }

    /// Puts the best split on feature f into `best` if it is better than that. False if the feature
    /// is the same for all rows.
    bool search(std::size_t f, std::uint64_t node_key, RankSplit& best) {
        feature_ = f;
        best_ = &best;
        const RankedFeature& feature = columns_.feature(f);
        if (feature.is_categorical) return search_categories(feature, node_key);
        if (kind_ == SplitSearch::kRandom) return search_at_random(feature, node_key);
        const bool by_bins =
            kind_ == SplitSearch::kHistogram ||
            (feature.n_bins == feature.values.size() && items_.size() * 2 > feature.n_bins) ||
            (kind_ == SplitSearch::kAdaptive && items_.size() >= kManyRows);
        return by_bins ? search_bins(feature) : search_cuts(feature);
    }

  private:
    static constexpr std::size_t kManyRows = 1024;  ///< four rows per bin
    static constexpr std::size_t kAhead = 16;

    bool fits(const std::int64_t* left) const {
        if (min_leaf_ <= 0.0) return true;
        const double own = target_.weight(left);
        return own >= min_leaf_ && target_.weight(total_) - own >= min_leaf_;
    }

    /// Whether the split with these sums on the left is the best so far.
    bool is_best(const std::int64_t* left) {
        if (!fits(left)) return false;
        const double gain = target_.gain(left, total_);
        if (!(gain > best_->gain)) return false;
        best_->feature = static_cast<std::int32_t>(feature_);
        best_->gain = gain;
        best_->threshold = RankSplit::kBetween;
        best_->is_categorical = false;
        return true;
    }

    void keep(const std::int64_t* left, std::uint32_t last_rank, bool missing_left) {
        best_->last_rank = last_rank;
        best_->left_is_larger = 2 * target_.weight(left) >= target_.weight(total_);
        best_->missing_left =
            target_.has_rows(missing_.data()) ? missing_left : best_->left_is_larger;
    }

    /// Judges the cut behind `last_rank`, with missing values on either side. values_left: whether
    /// rows with a value are on both sides.
    void judge(std::uint32_t last_rank, bool is_last) {
        const bool any_missing = target_.has_rows(missing_.data());
        if ((!is_last || any_missing) && is_best(left_.data()))
            keep(left_.data(), last_rank, false);
        if (!any_missing || is_last) return;
        shift(missing_.data(), 1);
        if (is_best(left_.data())) keep(left_.data(), last_rank, true);
        shift(missing_.data(), -1);
    }

    void shift(const std::int64_t* cell, std::int64_t sign) {
        for (std::size_t k = 0; k < target_.width(); ++k) left_[k] += sign * cell[k];
    }

    void clear() {
        std::fill(left_.begin(), left_.end(), 0);
        std::fill(missing_.begin(), missing_.end(), 0);
    }

    /// Writes the keys of rows with a value; sums those without. Returns how many there are.
    template <class Rank>
    std::size_t gather(const RankedFeature& feature, const Rank* ranks) {
        const std::uint32_t missing = feature.missing_rank();
        low_ = std::numeric_limits<std::uint32_t>::max();
        high_ = 0;
        std::size_t n = 0;
        for (std::size_t i = 0; i < items_.size(); ++i) {
            const std::uint32_t rank = ranks[row_of(items_[i])];
            const std::uint32_t payload = target_.payload(items_[i], i);
            if (rank == missing) {
                target_.add(payload, missing_.data());
                continue;
            }
            keys_[n++] = rank_key(rank, payload);
            low_ = std::min(low_, rank);
            high_ = std::max(high_, rank);
        }
        return n;
    }

    /// Every cut: the node's rows are sorted.
    bool search_cuts(const RankedFeature& feature) {
        clear();
        const std::size_t n =
            feature.with_ranks([&](const auto* ranks) { return gather(feature, ranks); });
        const bool any_missing = n < items_.size();
        if (n == 0 || (low_ == high_ && !any_missing)) return false;
        sort_.sort(keys_.data(), n, low_, high_);
        if (any_missing) {
            scan<true>(n);
        } else {
            scan<false>(n);
        }
        return true;
    }

    template <bool kAnyMissing>
    void scan(std::size_t n) {
        // Small sums on the stack become registers: nothing else may point to them.
        std::conditional_t<kAnyMissing || !Target::kSmall, Sums&, Sums> left = left_;
        for (std::size_t i = 0; i < n; ++i) {
            target_.add(payload_of(keys_[i]), left.data());
            const bool is_last = i + 1 == n;
            const std::uint32_t rank = rank_of(keys_[i]);
            if (!is_last && rank_of(keys_[i + 1]) == rank) continue;
            if constexpr (kAnyMissing) {
                judge(rank, is_last);
            } else if (!is_last && is_best(left.data())) {
                keep(left.data(), rank, false);
            }
        }
    }

    /// Sums of the node's rows per bin; the bin behind the last is that of missing values.
    void fill_cells(const RankedFeature& feature) {
        const std::size_t width = target_.width();
        std::fill_n(cells_.begin(), (feature.n_bins + 1) * width, 0);
        const std::uint8_t* bins = feature.bins.data();
        for (std::size_t i = 0; i < items_.size(); ++i) {
            target_.add(target_.payload(items_[i], i),
                        cells_.data() + bins[row_of(items_[i])] * width);
        }
        clear();
        std::copy_n(cells_.begin() + static_cast<std::ptrdiff_t>(feature.n_bins * width), width,
                    missing_.begin());
    }

    const std::int64_t* cell(std::size_t bin) const {
        return cells_.data() + bin * target_.width();
    }

    /// Cuts between bins.
    bool search_bins(const RankedFeature& feature) {
        fill_cells(feature);
        std::size_t last = feature.n_bins;
        std::size_t n_filled = 0;
        for (std::size_t bin = 0; bin < feature.n_bins; ++bin) {
            if (!target_.has_rows(cell(bin))) continue;
            last = bin;
            ++n_filled;
        }
        if (n_filled == 0 || (n_filled == 1 && !target_.has_rows(missing_.data()))) {
            // All in one bin is not all the same: look closer, unless bins are all there is.
            const bool is_same = n_filled == 0 || feature.n_bins == feature.values.size();
            return is_same || kind_ == SplitSearch::kHistogram ? false : search_cuts(feature);
        }
        for (std::size_t bin = 0; bin <= last; ++bin) {
            if (!target_.has_rows(cell(bin))) continue;
            shift(cell(bin), 1);
            judge(feature.last_rank[bin], bin == last);
        }
        return true;
    }

    /// One cut, anywhere between the least and the largest value with the same chance.
    bool search_at_random(const RankedFeature& feature, std::uint64_t node_key) {
        clear();
        const std::size_t n =
            feature.with_ranks([&](const auto* ranks) { return gather(feature, ranks); });
        if (n == 0 || low_ == high_) return false;
        const std::uint64_t key = random_bits(node_key, Stream::kThresholds, feature_);
        const double low = feature.values[low_];
        const double high = feature.values[high_];
        const double share = random_unit(key, Stream::kThresholds, 0);
        double threshold = low * (1.0 - share) + high * share;
        if (!(threshold >= low && threshold < high)) threshold = low;
        const auto above = std::upper_bound(feature.values.begin() + low_,
                                            feature.values.begin() + high_, threshold);
        const auto last_rank = static_cast<std::uint32_t>(above - feature.values.begin() - 1);
        Sums left = left_;
        for (std::size_t i = 0; i < n; ++i) {
            target_.add_if(rank_of(keys_[i]) <= last_rank, payload_of(keys_[i]), left.data());
        }
        left_ = left;
        const bool missing_left = (random_bits(key, Stream::kThresholds, 1) & 1) != 0;
        if (missing_left) shift(missing_.data(), 1);
        if (is_best(left_.data())) {
            keep(left_.data(), last_rank, missing_left);
            best_->threshold = threshold;
        }
        return true;
    }

    /// Bins with rows, that of missing values among them.
    std::vector<std::size_t>& filled_bins(const RankedFeature& feature) {
        bins_.clear();
        for (std::size_t bin = 0; bin <= feature.n_bins; ++bin) {
            if (target_.has_rows(cell(bin))) bins_.push_back(bin);
        }
        return bins_;
    }

    bool search_categories(const RankedFeature& feature, std::uint64_t node_key) {
        fill_cells(feature);
        if (filled_bins(feature).size() < 2) return false;
        if (kind_ == SplitSearch::kRandom) {
            draw_categories(feature, node_key);
            return true;
        }
        // By mean target and cut there: the best of all subsets for one output (Fisher 1958); with
        // several outputs the order of each is tried.
        for (std::size_t k = 0; k < target_.n_orders(); ++k) {
            filled_bins(feature);
            std::stable_sort(bins_.begin(), bins_.end(), [&](std::size_t a, std::size_t b) {
                return target_.mean(cell(a), k) < target_.mean(cell(b), k);
            });
            std::fill(left_.begin(), left_.end(), 0);
            for (std::size_t n_left = 1; n_left < bins_.size(); ++n_left) {
                shift(cell(bins_[n_left - 1]), 1);
                if (is_best(left_.data())) keep_categories(feature, n_left);
            }
        }
        return true;
    }

    /// Half of the categories go left, by a draw for each; at least one stays on either side.
    void draw_categories(const RankedFeature& feature, std::uint64_t node_key) {
        const std::uint64_t key = random_bits(node_key, Stream::kThresholds, feature_);
        const auto first_right =
            std::stable_partition(bins_.begin(), bins_.end(), [key](std::size_t bin) {
                return (random_bits(key, Stream::kThresholds, bin) & 1) != 0;
            });
        auto n_left = static_cast<std::size_t>(first_right - bins_.begin());
        n_left = std::clamp(n_left, std::size_t{1}, bins_.size() - 1);
        for (std::size_t i = 0; i < n_left; ++i) shift(cell(bins_[i]), 1);
        if (is_best(left_.data())) keep_categories(feature, n_left);
    }

    void keep_categories(const RankedFeature& feature, std::size_t n_left) {
        keep(left_.data(), 0, false);
        best_->is_categorical = true;
        Split set;
        for (std::size_t bin = 0; bin < feature.n_bins; ++bin) {
            if (best_->left_is_larger && !target_.has_rows(cell(bin))) set.set_left(bin);
        }
        for (std::size_t i = 0; i < n_left; ++i) {
            if (bins_[i] == feature.n_bins) {
                best_->missing_left = true;
            } else {
                set.set_left(bins_[i]);
            }
        }
        best_->left_bins = set.left_bins;
    }

    const RankedColumns& columns_;
    Target& target_;
    SplitSearch kind_;
    double min_leaf_;
    std::span<const TreeRow> items_;
    const std::int64_t* total_ = nullptr;
    std::size_t feature_ = 0;
    RankSplit* best_ = nullptr;
    std::uint32_t low_ = 0;
    std::uint32_t high_ = 0;
    std::vector<RankKey> keys_;
    KeySort sort_;
    Sums left_;
    Sums missing_;
    std::vector<std::int64_t> cells_;
    std::vector<std::size_t> bins_;
};

}  // namespace spinney
