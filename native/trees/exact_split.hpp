/// The best split of a node on one feature, among all there are.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>

#include "native/trees/exact_rows.hpp"
#include "native/trees/sorted_columns.hpp"
#include "native/trees/split.hpp"

namespace spinney {

/// A split with the sums of its left side.
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
    ExactSplit<Rows> numbers(std::span<const OrderedRow> order, std::size_t n_present) {
        Sums missing = rows_.none();
        for (const OrderedRow& entry : order.subspan(n_present)) rows_.add(missing, entry.row());
        const bool has_missing = n_present < order.size();
        Sums left = rows_.none();
        for (std::size_t i = 0; i < n_present; ++i) {
            if (order[i].starts_value()) {
                if (offer(left)) keep_number(i, false);
                if (has_missing) offer_with(missing, left, i);
            }
            rows_.add(left, order[i].row());
        }
        if (has_missing && n_present > 0 && offer(left)) keep_number(n_present, false);
        return finished(order, n_present);
    }

    /// members: the node's rows, in any order.
    ExactSplit<Rows> categories(std::span<const std::uint32_t> members) {
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
    bool offer(const Sums& left) {
        const auto weight = static_cast<double>(left.weight);
        const auto other = static_cast<double>(node_.total.weight - left.weight);
        if (weight < node_.min_weight || other < node_.min_weight) return false;
        const double gain = rows_.gain(left, node_.total);
        if (!(gain > best_.split.gain)) return false;
        best_.split.gain = gain;
        best_.split.feature = static_cast<std::int32_t>(f_);
        best_.left = left;
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

    ExactSplit<Rows> finished(std::span<const OrderedRow> order, std::size_t n_present) {
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
    ExactSplit<Rows> best_;
};

}  // namespace spinney
