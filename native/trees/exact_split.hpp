/// The best split of a node on one feature, among all there are.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "native/trees/exact_rows.hpp"
#include "native/trees/sorted_columns.hpp"
#include "native/trees/split.hpp"

namespace spinney {

/// A split, and where it cuts.
struct ExactSplit {
    Split split;
    double threshold = 0.0;  ///< numeric
    std::size_t n_left = 0;  ///< numeric: rows with a value that go left
    bool left_is_larger = false;
};

/// What a search needs to know of the node.
template <class Rows>
struct ExactNode {
    const typename Rows::Sums& total;
    double min_weight;  ///< each side must have, in units
    double min_gain;    ///< in units
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
    ExactSplit numbers(std::span<const OrderedRow> order, std::size_t n_present) {
        Sums missing = rows_.none();
        for (const OrderedRow& entry : order.subspan(n_present)) rows_.add(missing, entry.row());
        has_missing_ = n_present < order.size();
        missing_ = std::move(missing);
        const Sums present = scan(order.first(n_present));
        if (has_missing_ && n_present > 0 && offer(present)) keep_number(n_present, false);
        return finished(order, n_present);
    }

    /// members: the node's rows, in any order.
    ExactSplit categories(std::span<const std::uint32_t> members) {
        const SortedFeature& feature = columns_.feature(f_);
        const std::size_t n_cells = feature.n_bins + 1;  // the last is that of missing values
        std::vector<Sums> cells(n_cells, rows_.none());
        std::vector<std::int64_t> counts(n_cells, 0);
        for (const std::uint32_t row : members) {
            rows_.add(cells[feature.bins[row]], row);
            ++counts[feature.bins[row]];
        }
        for (std::size_t k = 0; k < rows_.n_orders(); ++k) {
            const std::vector<std::size_t> bins = bins_by_mean(cells, counts, k);
            Sums left = rows_.none();
            for (std::size_t n_left = 1; n_left < bins.size(); ++n_left) {
                Rows::add(left, cells[bins[n_left - 1]]);
                if (offer(left)) keep_categories(std::span(bins).first(n_left), counts);
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

    /// Sums run from row to row; gains of a block of cuts are found together, without branches.
    Sums scan_in_blocks(std::span<const OrderedRow> order) {
        Block block;
        Sums left = rows_.none();
        for (std::size_t i = 0; i < order.size(); ++i) {
            block.sums[block.n] = static_cast<double>(left.sum);
            block.weights[block.n] = static_cast<double>(left.weight);
            block.places[block.n] = static_cast<std::uint32_t>(i);
            block.n += order[i].starts_value() ? 1 : 0;
            rows_.add(left, order[i].row());
            if (block.n == kBlock) judge(block);
        }
        judge(block);
        return left;
    }

    static constexpr std::size_t kBlock = 256;
    struct Block {
        std::array<double, kBlock> sums;
        std::array<double, kBlock> weights;
        std::array<std::uint32_t, kBlock> places;
        std::size_t n = 0;
    };

    void judge(Block& block) {
        std::array<double, kBlock> right;  // gains with missing values on the right
        rows_.gains(block.sums.data(), block.weights.data(), block.n, node_.total, right.data());
        std::array<double, kBlock> left;
        if (has_missing_) {
            std::array<double, kBlock> sums;
            std::array<double, kBlock> weights;
            for (std::size_t i = 0; i < block.n; ++i) {
                sums[i] = block.sums[i] + static_cast<double>(missing_.sum);
                weights[i] = block.weights[i] + static_cast<double>(missing_.weight);
            }
            rows_.gains(sums.data(), weights.data(), block.n, node_.total, left.data());
        }
        for (std::size_t i = 0; i < block.n; ++i) {
            if (right[i] > best_.split.gain) keep_cut(block, i, right[i], false);
            if (has_missing_ && left[i] > best_.split.gain) keep_cut(block, i, left[i], true);
        }
        block.n = 0;
    }

    void keep_cut(const Block& block, std::size_t i, double gain, bool missing_left) {
        const double missing = missing_left ? static_cast<double>(missing_.weight) : 0.0;
        if (keep(block.weights[i] + missing, gain)) keep_number(block.places[i], missing_left);
    }

    bool offer(const Sums& left) {
        const double gain = rows_.gain(left, node_.total);
        return gain > best_.split.gain && keep(static_cast<double>(left.weight), gain);
    }

    /// Keeps a better split, unless a side is too light.
    bool keep(double weight, double gain) {
        const double other = static_cast<double>(node_.total.weight) - weight;
        if (weight < node_.min_weight || other < node_.min_weight) return false;
        best_.split.gain = gain;
        best_.split.feature = static_cast<std::int32_t>(f_);
        best_.left_is_larger = weight >= other;
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

    ExactSplit finished(std::span<const OrderedRow> order, std::size_t n_present) {
        if (!best_.split.exists()) return best_;
        best_.threshold =
            best_.n_left == n_present
                ? std::numeric_limits<double>::infinity()
                : columns_.threshold(f_, order[best_.n_left - 1].row(), order[best_.n_left].row());
        if (n_present == order.size()) best_.split.missing_left = best_.left_is_larger;
        return best_;
    }

    std::vector<std::size_t> bins_by_mean(const std::vector<Sums>& cells,
                                          const std::vector<std::int64_t>& counts,
                                          std::size_t k) const {
        std::vector<std::size_t> bins;
        for (std::size_t bin = 0; bin < cells.size(); ++bin) {
            if (counts[bin] > 0) bins.push_back(bin);
        }
        std::stable_sort(bins.begin(), bins.end(), [&](std::size_t a, std::size_t b) {
            return Rows::mean(cells[a], k) < Rows::mean(cells[b], k);
        });
        return bins;
    }

    /// Categories without a row here, and missing values if there are none, go to the larger side.
    void keep_categories(std::span<const std::size_t> left,
                         const std::vector<std::int64_t>& counts) {
        const std::size_t missing = counts.size() - 1;
        best_.split.is_categorical = true;
        best_.split.left_bins = {};
        best_.split.missing_left = counts[missing] == 0 && best_.left_is_larger;
        for (std::size_t bin = 0; bin < missing; ++bin) {
            if (counts[bin] == 0 && best_.left_is_larger) best_.split.set_left(bin);
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
    ExactSplit best_;
    Sums missing_{};  ///< of rows without a value
    bool has_missing_ = false;
};

}  // namespace spinney
