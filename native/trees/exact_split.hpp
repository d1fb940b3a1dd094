/// The best split of a node on one feature, among all there are.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <numeric>

#include "native/trees/exact_rows.hpp"
#include "native/trees/sorted_columns.hpp"
#include "native/trees/split.hpp"

namespace spinney {

/// A split, and what it sends left.
template <class Rows>
struct ExactSplit {
    Split split;
    double threshold = 0.0;  ///< numeric
    std::size_t n_left = 0;  ///< numeric: rows with a value that go left
    typename Rows::Sums left{};
    bool left_is_larger = false;
};

/// What a search needs to know of the node.
template <class Rows>
struct ExactNode {
    const typename Rows::Sums& total;
    double min_weight;  ///< each side must have, in units
    double min_gain;    ///< in units; less than 0: a split that gains nothing is better than none
    /// A gain that some cut is known to reach; the search of one feature spares the others work.
    mutable std::atomic<double> bound = 0.0;
};

template <class Rows>
class ExactSearch {
  public:
    using Sums = typename Rows::Sums;

    ExactSearch(const Rows& rows, const SortedColumns& columns, std::size_t f,
                const ExactNode<Rows>& node)
        : rows_(rows), columns_(columns), f_(f), node_(node) {
        best_.split.gain = node.min_gain;
    }

    /// order: the node's rows by value; n_present of them have one, the others follow.
    ExactSplit<Rows> numbers(std::span<const OrderedRow> order, std::size_t n_present) {
        Sums missing = rows_.none();
        for (const OrderedRow& entry : order.subspan(n_present)) rows_.add(missing, entry.row());
        has_missing_ = n_present < order.size();
        missing_ = std::move(missing);
        const Sums present = scan(order.first(n_present));
        if (has_missing_ && n_present > 0 && offer(present)) keep_number(n_present, false);
        return finished(order, n_present);
    }

    /// members: the node's rows, in any order.
    ExactSplit<Rows> categories(std::span<const std::uint32_t> members) {
        const SortedFeature& feature = columns_.feature(f_);
        const std::size_t n_cells = feature.n_bins + 1;  // the last is that of missing values
        std::vector<Sums> cells(n_cells, rows_.none());
        for (const std::uint32_t row : members) rows_.add(cells[feature.bins[row]], row);
        for (std::size_t k = 0; k < rows_.n_orders(); ++k) {
            const std::vector<std::size_t> bins = bins_by_mean(cells, k);
            Sums left = rows_.none();
            for (std::size_t n_left = 1; n_left < bins.size(); ++n_left) {
                Rows::add(left, cells[bins[n_left - 1]]);
                if (offer(left)) keep_categories(std::span(bins).first(n_left), cells);
            }
        }
        return best_;
    }

  private:
    /// Offers every cut between two values; returns the sums of all rows with a value.
    Sums scan(std::span<const OrderedRow> order) {
        if constexpr (Rows::kIsScalar) {
            return scan_in_blocks(order);
        } else {
            Sums left = rows_.none();
            for (std::size_t i = 0; i < order.size(); ++i) {
                if (order[i].starts_value()) {
                    if (offer(left)) keep_number(i, false);
                    if (has_missing_) offer_with(missing_, left, i);
                }
                rows_.add(left, order[i].row());
            }
            return left;
        }
    }

    /// Looks closely only where a cut could be the best: the gain is a convex function of what goes
    /// left, so inside a block it is no larger than at the corners of what can go left there.
    Sums scan_in_blocks(std::span<const OrderedRow> order) {
        if (order.size() < 4 * kRowsPerBlock) return scan_rows(order, rows_.none(), 0);
        std::vector<Block> blocks;
        blocks.reserve(order.size() / kRowsPerBlock + 1);
        Sums before = rows_.none();
        for (std::size_t first = 0; first < order.size(); first += kRowsPerBlock) {
            const std::size_t n = std::min(kRowsPerBlock, order.size() - first);
            const auto rows = order.subspan(first, n);
            if (rows[0].starts_value()) raise_bound(before);
            blocks.push_back({before, rows_.spread(rows)});
            Rows::add(before, blocks.back().spread.sums);
        }
        const double bound = node_.bound.load(std::memory_order_relaxed);
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            if (!may_exceed(blocks[b], bound)) continue;
            const std::size_t first = b * kRowsPerBlock;
            const std::size_t n = std::min(kRowsPerBlock, order.size() - first);
            scan_rows(order.subspan(first, n), blocks[b].before, first);
        }
        return before;
    }

    static constexpr std::size_t kRowsPerBlock = 128;
    struct Block {
        Sums before;
        typename Rows::Spread spread;
    };

    /// A gain that some cut of the node reaches. Found by any thread, in any order: it only saves
    /// work, because a cut with that very gain is still looked at.
    void raise_bound(const Sums& left) {
        raise_bound_of(left);
        if (!has_missing_) return;
        Sums both = left;
        Rows::add(both, missing_);
        raise_bound_of(both);
    }
    void raise_bound_of(const Sums& left) {
        const auto weight = static_cast<double>(left.weight);
        if (!is_allowed(weight)) return;
        const double gain = rows_.gain(left, node_.total);
        double bound = node_.bound.load(std::memory_order_relaxed);
        while (gain > bound &&
               !node_.bound.compare_exchange_weak(bound, gain, std::memory_order_relaxed)) {
        }
    }

    bool may_exceed(const Block& block, double bound) const {
        for (const Sums& corner : rows_.corners(block.before, block.spread)) {
            if (rows_.may_reach(corner, node_.total, bound)) return true;
            if (!has_missing_) continue;
            Sums both = corner;
            Rows::add(both, missing_);
            if (rows_.may_reach(both, node_.total, bound)) return true;
        }
        return false;
    }

    /// Offers the cuts between these rows, with `left` before the first of them, at `place`. Sums
    /// run from row to row; gains are found for many cuts together, without branches.
    Sums scan_rows(std::span<const OrderedRow> order, Sums left, std::size_t place) {
        Cuts cuts;
        for (std::size_t first = 0; first < order.size(); first += kCutsAtOnce) {
            const std::size_t last = std::min(first + kCutsAtOnce, order.size());
            std::size_t n = 0;  // in a register: through memory each row would wait for the last
            for (std::size_t i = first; i < last; ++i) {
                cuts.sums[n] = left.sum;
                cuts.weights[n] = left.weight;
                cuts.places[n] = static_cast<std::uint32_t>(place + i);
                n += order[i].starts_value() ? 1 : 0;
                rows_.add(left, order[i].row());
            }
            judge(cuts, n);
        }
        return left;
    }

    void judge(const Cuts& cuts, std::size_t n) {
        if (has_missing_) return judge_both_sides(cuts, n);
        if (!rows_.may_exceed(cuts, n, node_.total, best_.split.gain)) return;
        Gains gains;
        rows_.gains(cuts, n, node_.total, gains);
        for (std::size_t i = 0; i < n; ++i) {
            if (gains[i] > best_.split.gain) keep_cut(cuts, i, gains[i], false);
        }
    }

    void judge_both_sides(const Cuts& cuts, std::size_t n) {
        Gains right;  // with missing values on the right
        Gains left;
        Cuts both;
        for (std::size_t i = 0; i < n; ++i) {
            both.sums[i] = cuts.sums[i] + missing_.sum;
            both.weights[i] = cuts.weights[i] + missing_.weight;
        }
        rows_.gains(cuts, n, node_.total, right);
        rows_.gains(both, n, node_.total, left);
        for (std::size_t i = 0; i < n; ++i) {
            if (right[i] > best_.split.gain) keep_cut(cuts, i, right[i], false);
            if (left[i] > best_.split.gain) keep_cut(cuts, i, left[i], true);
        }
    }

    void keep_cut(const Cuts& cuts, std::size_t i, double gain, bool missing_left) {
        Sums left = {cuts.sums[i], cuts.weights[i]};
        if (missing_left) Rows::add(left, missing_);
        if (keep(left, gain)) keep_number(cuts.places[i], missing_left);
    }

    bool offer(const Sums& left) {
        const double gain = rows_.gain(left, node_.total);
        return gain > best_.split.gain && keep(left, gain);
    }

    bool is_allowed(double weight) const {
        const double other = static_cast<double>(node_.total.weight) - weight;
        return weight > 0.0 && other > 0.0 && weight >= node_.min_weight &&
               other >= node_.min_weight;
    }

    /// Keeps a better split, unless a side is too light.
    bool keep(const Sums& left, double gain) {
        if (!is_allowed(static_cast<double>(left.weight))) return false;
        best_.split.gain = gain;
        best_.split.feature = static_cast<std::int32_t>(f_);
        best_.left = left;
        best_.left_is_larger = left.weight >= node_.total.weight - left.weight;
        return true;
    }

    void offer_with(const Sums& missing, const Sums& left, std::size_t place) {
        Sums both = left;
        Rows::add(both, missing);
        if (offer(both)) keep_number(place, true);
    }

    void keep_number(std::size_t place, bool missing_left) {
        best_.n_left = place;
        best_.split.missing_left = missing_left;
    }

    ExactSplit<Rows> finished(std::span<const OrderedRow> order, std::size_t n_present) {
        if (!best_.split.exists()) return best_;
        best_.threshold =
            best_.n_left == n_present
                ? std::numeric_limits<double>::infinity()
                : columns_.threshold(f_, order[best_.n_left - 1].row(), order[best_.n_left].row());
        if (n_present == order.size()) best_.split.missing_left = best_.left_is_larger;
        return best_;
    }

    /// Bins that weigh something: one whose rows all weigh nothing has no mean.
    std::vector<std::size_t> bins_by_mean(const std::vector<Sums>& cells, std::size_t k) const {
        std::vector<std::size_t> bins;
        for (std::size_t bin = 0; bin < cells.size(); ++bin) {
            if (cells[bin].weight > 0) bins.push_back(bin);
        }
        std::stable_sort(bins.begin(), bins.end(), [&](std::size_t a, std::size_t b) {
            return Rows::mean(cells[a], k) < Rows::mean(cells[b], k);
        });
        return bins;
    }

    /// Categories that weigh nothing here, and missing values likewise, go to the larger side.
    void keep_categories(std::span<const std::size_t> left, const std::vector<Sums>& cells) {
        const std::size_t missing = cells.size() - 1;
        best_.split.is_categorical = true;
        best_.split.left_bins = {};
        best_.split.missing_left = cells[missing].weight == 0 && best_.left_is_larger;
        for (std::size_t bin = 0; bin < missing; ++bin) {
            if (cells[bin].weight == 0 && best_.left_is_larger) best_.split.set_left(bin);
        }
        for (const std::size_t bin : left) {
            if (bin == missing) {
                best_.split.missing_left = true;
            } else {
                best_.split.set_left(bin);
            }
        }
    }

    const Rows& rows_;
    const SortedColumns& columns_;
    std::size_t f_;
    const ExactNode<Rows>& node_;
    ExactSplit<Rows> best_;
    Sums missing_{};  ///< of rows without a value
    bool has_missing_ = false;
};

}  // namespace spinney
