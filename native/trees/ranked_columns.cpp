#include "native/trees/ranked_columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "native/base/failure.hpp"
#include "native/base/parallel.hpp"
#include "native/trees/sorted_columns.hpp"

namespace spinney {
namespace {

/// The bin of every rank: with few values one each, otherwise by the weight that comes before, so
/// that a value of much weight fills a bin of its own and no bin is empty.
std::vector<std::uint8_t> bins_of_ranks(const std::vector<std::uint64_t>& weight_before,
                                        std::uint64_t total, std::size_t max_bins,
                                        std::vector<std::uint32_t>& last_rank) {
    const std::size_t n_values = weight_before.size();
    std::vector<std::uint8_t> bin_of_rank(n_values);
    std::size_t quantile = 0;
    for (std::size_t rank = 0; rank < n_values; ++rank) {
        const std::size_t own =
            n_values <= max_bins ? rank : weight_before[rank] * max_bins / total;
        if (rank > 0 && own != quantile) last_rank.push_back(static_cast<std::uint32_t>(rank - 1));
        quantile = own;
        bin_of_rank[rank] = static_cast<std::uint8_t>(last_rank.size());
    }
    if (n_values > 0) last_rank.push_back(static_cast<std::uint32_t>(n_values - 1));
    return bin_of_rank;
}

template <class Rank>
void fill_ranks(const SortedFeature& sorted, std::uint32_t missing_rank, std::vector<Rank>& ranks) {
    ranks.resize(sorted.order.size());
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < sorted.order.size(); ++i) {
        const OrderedRow entry = sorted.order[i];
        rank += entry.starts_value() ? 1U : 0U;
        ranks[entry.row()] = static_cast<Rank>(i < sorted.n_present ? rank : missing_rank);
    }
}

void rank_numbers(const SortedColumns& sorted_columns, std::size_t f,
                  std::span<const std::int64_t> weights, std::size_t max_bins,
                  RankedFeature& feature) {
    const SortedFeature& sorted = sorted_columns.feature(f);
    std::vector<std::uint64_t> weight_before;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < sorted.n_present; ++i) {
        const std::uint32_t row = sorted.order[i].row();
        if (i == 0 || sorted.order[i].starts_value()) {
            weight_before.push_back(total);
            feature.values.push_back(sorted_columns.value(f, row));
        }
        total += weights.empty() ? 1 : static_cast<std::uint64_t>(weights[row]);
    }
    feature.has_missing = sorted.n_present < sorted.order.size();
    const std::uint32_t missing_rank = feature.missing_rank();
    const auto bin_of_rank = bins_of_ranks(weight_before, total, max_bins, feature.last_rank);
    feature.n_bins = feature.last_rank.size();
    if (missing_rank <= std::numeric_limits<std::uint16_t>::max()) {
        fill_ranks(sorted, missing_rank, feature.short_ranks);
    } else {
        fill_ranks(sorted, missing_rank, feature.long_ranks);
    }
    feature.bins.resize(sorted.order.size());
    feature.with_ranks([&](const auto* ranks) {
        for (std::size_t row = 0; row < feature.bins.size(); ++row) {
            feature.bins[row] = ranks[row] < missing_rank
                                    ? bin_of_rank[ranks[row]]
                                    : static_cast<std::uint8_t>(feature.n_bins);
        }
    });
}

void copy_categories(const SortedFeature& sorted, RankedFeature& feature) {
    feature.is_categorical = true;
    feature.bins = sorted.bins;
    feature.n_bins = sorted.n_bins;
    feature.has_missing = std::any_of(feature.bins.begin(), feature.bins.end(),
                                      [&](std::uint8_t bin) { return bin == feature.n_bins; });
}

template <class T>
std::vector<T> gathered(const std::vector<T>& from, std::span<const std::uint32_t> rows) {
    if (from.empty()) return {};
    std::vector<T> taken(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) taken[i] = from[rows[i]];
    return taken;
}

}  // namespace

RankedColumns::RankedColumns(const Columns& columns,
                             const std::vector<std::vector<std::uint8_t>>& category_bins,
                             std::span<const std::int64_t> weights, std::size_t max_bins,
                             int n_threads)
    : n_rows_(columns.n_rows), features_(columns.features.size()) {
    if (category_bins.size() != features_.size() || max_bins < 2 || max_bins > 255 ||
        (!weights.empty() && weights.size() != n_rows_)) {
        throw Failure(FailureKind::kInvalidInput, "columns, categories or bins do not fit");
    }
    parallel_for(n_threads, features_.size(), [&](std::size_t f) {
        // One feature at a time: sorted rows take twice the room of ranks.
        const Columns one = {columns.n_rows, {columns.features[f]}};
        const SortedColumns sorted(one, {category_bins[f]}, 1);
        if (sorted.feature(0).is_categorical) {
            copy_categories(sorted.feature(0), features_[f]);
        } else {
            rank_numbers(sorted, 0, weights, max_bins, features_[f]);
        }
    });
}

RankedColumns::RankedColumns(const RankedColumns& from, std::span<const std::uint32_t> rows,
                             int n_threads)
    : n_rows_(rows.size()), features_(from.features_.size()) {
    if (std::any_of(rows.begin(), rows.end(), [&](auto row) { return row >= from.n_rows_; })) {
        throw Failure(FailureKind::kInvalidInput, "a row to gather is not in the ranked table");
    }
    parallel_for(n_threads, features_.size(), [&](std::size_t f) {
        const RankedFeature& all = from.features_[f];
        RankedFeature& some = features_[f];
        some.short_ranks = gathered(all.short_ranks, rows);
        some.long_ranks = gathered(all.long_ranks, rows);
        some.values = all.values;
        some.last_rank = all.last_rank;
        some.bins = gathered(all.bins, rows);
        some.n_bins = all.n_bins;
        some.is_categorical = all.is_categorical;
        some.has_missing = all.has_missing;
    });
}

double RankedColumns::threshold_between(double below, double above) {
    const double middle = below / 2 + above / 2;
    const auto narrow = static_cast<double>(static_cast<float>(middle));
    if (narrow >= below && narrow < above) return narrow;
    return middle >= below && middle < above ? middle : below;
}

}  // namespace spinney
