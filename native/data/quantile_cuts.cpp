#include "native/data/quantile_cuts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "native/base/failure.hpp"
#include "native/base/parallel.hpp"
#include "native/base/prefetch.hpp"
#include "native/base/random.hpp"
#include "native/data/bin_mapper.hpp"
#include "native/data/radix_sort.hpp"

namespace spinney {
namespace {

/// A distinct value of the sample and how often it stands there.
struct Step {
    double value;
    std::int64_t weight;
};

/// The rows that decide the cuts; empty means all rows.
///
/// Each row is in or out by its own number alone, so chunks, threads and machines agree.
std::vector<std::uint32_t> sampled_rows(std::size_t n_rows, std::size_t wanted) {
    std::vector<std::uint32_t> rows;
    if (n_rows <= wanted) return rows;
    rows.reserve(wanted + wanted / 16);
    const double share = static_cast<double>(wanted) / static_cast<double>(n_rows);
    for (std::size_t row = 0; row < n_rows; ++row) {
        if (random_unit(0, Stream::kBinningSample, row) < share) {
            rows.push_back(static_cast<std::uint32_t>(row));
        }
    }
    return rows;
}

/// What the loops below need to know of the table besides the column.
struct Sample {
    std::size_t n_rows = 0;
    std::vector<std::uint32_t> rows;        ///< empty: all
    std::span<const std::int64_t> weights;  ///< of all rows; empty: one each
    std::int64_t total_weight = 0;

    std::size_t size() const { return rows.empty() ? n_rows : rows.size(); }
    std::size_t row(std::size_t i) const { return rows.empty() ? i : rows[i]; }
    std::int64_t weight(std::size_t row) const { return weights.empty() ? 1 : weights[row]; }
};

/// Values of the sampled rows of a column with their weights, none if all weigh the same; NaN left
/// out, -0 turned into 0.
template <class T>
struct Values {
    std::vector<T> values;
    std::vector<std::int64_t> weights;

    void add(T value, std::size_t row, const Sample& sample) {
        if (std::isnan(value)) return;
        values.push_back(value + T{0});
        if (!sample.weights.empty()) weights.push_back(sample.weights[row]);
    }
};

/// Rows ahead that are asked for: those of a wide table are on pages of their own.
constexpr std::size_t kRowsAhead = 24;

/// Of dense columns, row by row: where a row's values are neighbours they are fetched together.
template <class T>
std::vector<Values<T>> collect_dense(std::span<const ColumnView> columns, const Sample& sample) {
    const std::size_t n = sample.size();
    std::vector<Values<T>> found(columns.size());
    for (Values<T>& of_column : found) of_column.values.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t row = sample.row(i);
        const std::size_t ahead = sample.row(std::min(i + kRowsAhead, n - 1));
        for (std::size_t c = 0; c < columns.size(); c += 8) prefetch(columns[c].address(ahead));
        for (std::size_t c = 0; c < columns.size(); ++c) {
            found[c].add(columns[c].at<T>(row), row, sample);
        }
    }
    return found;
}

/// Of a sparse column; returns the weight of the rows it does not list, which hold zero.
template <class T>
std::int64_t collect_sparse(const ColumnView& column, const Sample& sample, Values<T>& found) {
    const T* stored = reinterpret_cast<const T*>(column.data);
    std::int64_t unlisted = sample.total_weight;
    auto next = sample.rows.begin();
    for (std::size_t i = 0; i < column.rows.size(); ++i) {
        const auto row = static_cast<std::uint32_t>(column.rows[i]);
        if (!sample.rows.empty()) {
            next = std::lower_bound(next, sample.rows.end(), row);
            if (next == sample.rows.end()) break;
            if (*next != row) continue;
        }
        unlisted -= sample.weight(row);
        found.add(stored[i], row, sample);
    }
    return unlisted;
}

bool is_lower(const Step& a, const Step& b) { return a.value < b.value; }

/// The distinct values with summed weights, counted where they stand; none if there are more than a
/// few: then sorting is faster.
template <class T>
std::vector<Step> few_steps(const Values<T>& given) {
    constexpr std::size_t kFew = 8;
    std::vector<Step> steps;
    for (std::size_t i = 0; i < given.values.size(); ++i) {
        const auto value = static_cast<double>(given.values[i]);
        std::size_t place = 0;
        while (place < steps.size() && steps[place].value != value) ++place;
        if (place == kFew) return {};
        if (place == steps.size()) steps.push_back({value, 0});
        steps[place].weight += given.weights.empty() ? 1 : given.weights[i];
    }
    std::sort(steps.begin(), steps.end(), is_lower);
    return steps;
}

/// The distinct values with summed weights.
template <class T>
std::vector<Step> distinct_steps(Values<T>& given) {
    std::vector<Step> steps = few_steps(given);
    if (!steps.empty()) return steps;
    radix_sort(given.values, given.weights);
    for (std::size_t i = 0; i < given.values.size(); ++i) {
        const std::int64_t weight = given.weights.empty() ? 1 : given.weights[i];
        const auto value = static_cast<double>(given.values[i]);
        if (!steps.empty() && steps.back().value == value) {
            steps.back().weight += weight;
        } else {
            steps.push_back({value, weight});
        }
    }
    return steps;
}

void add_zeros(std::vector<Step>& steps, std::int64_t weight) {
    const auto at = std::lower_bound(steps.begin(), steps.end(), Step{0.0, 0}, is_lower);
    if (at != steps.end() && at->value == 0.0) {
        at->weight += weight;
    } else {
        steps.insert(at, {0.0, weight});
    }
}

/// A set of at most 256 numbers, by their bits; the table is never more than a quarter full.
template <class T>
class SmallSet {
  public:
    /// Adds a number; whether it is new.
    bool insert(T value) {
        const auto key = static_cast<std::uint64_t>(order_key(value));
        auto place = static_cast<std::size_t>((key * 0x9E3779B97F4A7C15U) >> 54);
        for (; used_[place]; place = (place + 1) % kPlaces) {
            if (keys_[place] == key) return false;
        }
        used_[place] = true;
        keys_[place] = key;
        ++size_;
        return true;
    }
    std::size_t size() const { return size_; }

  private:
    static constexpr std::size_t kPlaces = 1024;
    std::array<std::uint64_t, kPlaces> keys_{};
    std::array<bool, kPlaces> used_{};
    std::size_t size_ = 0;
};

/// A sample can miss rare values. If the distinct values seen so far leave room for bins of their
/// own, look at all rows; the steps stay as they are when there are too many after all.
template <class T>
void add_unsampled_values(const ColumnView& column, const Sample& sample, int max_bins,
                          std::vector<Step>& steps) {
    const auto most = static_cast<std::size_t>(max_bins);
    if (sample.rows.empty() || steps.size() > most) return;
    SmallSet<T> seen;
    for (const Step& step : steps) seen.insert(static_cast<T>(step.value));
    std::vector<Step> found;
    const auto look_at = [&](T stored_value) {
        const T value = stored_value + T{0};  // -0 is 0
        if (!std::isnan(value) && seen.insert(value)) {
            found.push_back({static_cast<double>(value), 1});
        }
    };
    const std::size_t n = column.is_sparse ? column.rows.size() : sample.n_rows;
    const T* stored = reinterpret_cast<const T*>(column.data);
    for (std::size_t i = 0; i < n && seen.size() <= most; ++i) {
        look_at(column.is_sparse ? stored[i] : column.at<T>(i));
    }
    if (column.is_sparse && n < sample.n_rows) look_at(T{0});
    if (seen.size() > most) return;
    steps.insert(steps.end(), found.begin(), found.end());
    std::sort(steps.begin(), steps.end(), is_lower);
}

/// The rule of find_cuts(), on one screen.
std::vector<double> cuts_of(const std::vector<Step>& steps, int max_bins) {
    std::vector<double> cuts;
    std::int64_t remaining = 0;  // weight of the open bin and of everything after it
    for (const Step& step : steps) remaining += step.weight;
    std::int64_t filled = 0;  // weight in the open bin
    auto bins_left = static_cast<std::int64_t>(max_bins);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const std::int64_t weight = steps[i].weight;
        const bool rest_fits = steps.size() - i < static_cast<std::size_t>(bins_left);
        // Nearer to the fair share remaining / bins_left without this value than with it?
        const bool closes_here = 2 * remaining <= (2 * filled + weight) * bins_left;
        if (i > 0 && bins_left > 1 && (rest_fits || closes_here)) {
            cuts.push_back(cut_between(steps[i - 1].value, steps[i].value));
            remaining -= filled;
            filled = 0;
            --bins_left;
        }
        filled += weight;
    }
    return cuts;
}

/// Neighbouring columns that are looked at together, and where their cuts go.
struct Group {
    std::span<const ColumnView> columns;
    std::span<std::vector<double>> cuts;
};

template <class T>
void find_cuts_of(const Group& group, const Sample& sample, int max_bins) {
    const bool is_sparse = group.columns[0].is_sparse;
    std::int64_t zeros = 0;
    std::vector<Values<T>> values(1);
    if (is_sparse) {
        zeros = collect_sparse<T>(group.columns[0], sample, values[0]);
    } else {
        values = collect_dense<T>(group.columns, sample);
    }
    for (std::size_t c = 0; c < group.columns.size(); ++c) {
        std::vector<Step> steps = distinct_steps(values[c]);
        if (zeros > 0) add_zeros(steps, zeros);
        add_unsampled_values<T>(group.columns[c], sample, max_bins, steps);
        group.cuts[c] = cuts_of(steps, max_bins);
    }
}

/// Columns are grouped where a row's values are neighbours in memory: a cache line of 64 bytes is
/// then fetched for all of them at once. No more than leave every thread a few groups.
std::vector<Group> group_columns(const Columns& columns, std::span<std::vector<double>> cuts,
                                 int n_threads) {
    const std::span<const ColumnView> all(columns.features);
    const std::size_t most =
        std::clamp<std::size_t>(all.size() / (4 * static_cast<std::size_t>(n_threads)), 1, 32);
    const auto joins = [](const ColumnView& a, const ColumnView& b) {
        return !a.is_sparse && !b.is_sparse && a.type == b.type && a.stride == b.stride &&
               b.data - a.data < 64 && a.data - b.data < 64;
    };
    std::vector<Group> groups;
    for (std::size_t first = 0; first < all.size();) {
        std::size_t end = first + 1;
        while (end < all.size() && end - first < most && joins(all[end - 1], all[end])) ++end;
        groups.push_back({all.subspan(first, end - first), cuts.subspan(first, end - first)});
        first = end;
    }
    return groups;
}

}  // namespace

double cut_between(double v, double w) {
    constexpr float kLargest = std::numeric_limits<float>::max();
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const auto separates = [v, w](double c) { return v <= c && c < w; };
    const double middle = v / 2 + w / 2;  // halves first: the sum could overflow
    if (std::isfinite(middle)) {
        if (std::abs(middle) <= kLargest) {
            const auto rounded = static_cast<double>(static_cast<float>(middle));
            if (separates(rounded) && std::isfinite(rounded)) return rounded;
        }
    } else if (separates(kLargest)) {
        return kLargest;  // w is +inf: any finite number separates, take the largest float32
    } else if (separates(-kLargest)) {
        return -kLargest;
    }
    // The smallest float32 that is not below v; if this one does not separate, none does.
    if (v <= kLargest && v > -std::numeric_limits<double>::infinity()) {
        float above = v < -kLargest ? -kLargest : static_cast<float>(v);
        if (static_cast<double>(above) < v) above = std::nextafter(above, kInfinity);
        if (std::isfinite(above) && separates(above)) return above;
    }
    return std::isfinite(middle) && separates(middle) ? middle : v;
}

std::vector<std::vector<double>> find_cuts(const Columns& columns,
                                           std::span<const std::int64_t> weights,
                                           const CutSettings& settings, int n_threads) {
    if ((!weights.empty() && weights.size() != columns.n_rows) || settings.max_bins < 2 ||
        settings.max_bins > kMaxValueBins) {
        throw Failure(FailureKind::kInvalidParameter,
                      "cut points need one weight per row, or none, and 2 to 255 bins");
    }
    Sample sample{columns.n_rows, sampled_rows(columns.n_rows, settings.sample_rows), weights};
    for (std::size_t i = 0; i < sample.size(); ++i) {
        sample.total_weight += sample.weight(sample.row(i));
    }
    std::vector<std::vector<double>> cuts(columns.features.size());
    const std::vector<Group> groups = group_columns(columns, cuts, n_threads);
    parallel_for(n_threads, groups.size(), [&](std::size_t g) {
        switch (groups[g].columns[0].type) {
            case ValueType::kFloat32:
                return find_cuts_of<float>(groups[g], sample, settings.max_bins);
            case ValueType::kFloat64:
                return find_cuts_of<double>(groups[g], sample, settings.max_bins);
            case ValueType::kCode32:
                return;
        }
    });
    return cuts;
}

}  // namespace spinney
