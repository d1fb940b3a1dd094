#include "native/trees/sorted_columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "native/base/failure.hpp"
#include "native/base/parallel.hpp"
#include "native/data/radix_sort.hpp"

namespace spinney {
namespace {

double number_at(const ColumnView& column, std::uint32_t row) {
    const bool is_float = column.type == ValueType::kFloat32;
    if (!column.is_sparse) return is_float ? column.at<float>(row) : column.at<double>(row);
    const std::size_t place = column.stored_from(row);
    const bool is_stored =
        place < column.rows.size() && static_cast<std::uint32_t>(column.rows[place]) == row;
    if (!is_stored) return 0.0;
    return is_float ? reinterpret_cast<const float*>(column.data)[place]
                    : reinterpret_cast<const double*>(column.data)[place];
}

/// All values of a column, those that are not stored among them.
template <class T>
std::vector<T> dense_values(const ColumnView& column, std::size_t n_rows) {
    std::vector<T> values(n_rows, T{0});
    if (column.is_sparse) {
        const T* stored = reinterpret_cast<const T*>(column.data);
        for (std::size_t i = 0; i < column.rows.size(); ++i) {
            values[static_cast<std::size_t>(column.rows[i])] = stored[i];
        }
    } else {
        for (std::size_t row = 0; row < n_rows; ++row) values[row] = column.at<T>(row);
    }
    return values;
}

/// A value and the row it is of. A short value and the row are one word, which moves at once.
template <class T>
struct Entry {
    decltype(order_key(T{})) key;
    std::uint32_t row;
};

/// Sorts entries by their keys, a byte at a time; entries of equal keys keep their order.
template <class T>
void sort_entries(std::vector<Entry<T>>& entries) {
    std::array<std::array<std::uint32_t, 256>, sizeof(T)> counts{};
    for (const Entry<T>& entry : entries) {
        for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
            ++counts[byte][(entry.key >> (8 * byte)) & 255U];
        }
    }
    std::vector<Entry<T>> other(entries.size());
    for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
        auto& starts = counts[byte];
        if (std::find(starts.begin(), starts.end(), entries.size()) != starts.end()) continue;
        std::exclusive_scan(starts.begin(), starts.end(), starts.begin(), 0U);
        for (const Entry<T> entry : entries) {
            other[starts[(entry.key >> (8 * byte)) & 255U]++] = entry;
        }
        entries.swap(other);
    }
}

template <class T>
void sort_numbers(const ColumnView& column, std::size_t n_rows, SortedFeature& feature) {
    const std::vector<T> values = dense_values<T>(column, n_rows);
    std::vector<Entry<T>> present;
    std::vector<std::uint32_t> missing;
    present.reserve(n_rows);
    for (std::size_t row = 0; row < n_rows; ++row) {
        const auto number = static_cast<std::uint32_t>(row);
        if (std::isnan(values[row])) {
            missing.push_back(number);
        } else {
            present.push_back({order_key(values[row] + T{0}), number});  // -0 is 0
        }
    }
    sort_entries(present);
    feature.n_present = present.size();
    feature.order.reserve(n_rows);
    for (std::size_t i = 0; i < present.size(); ++i) {
        const bool starts = i > 0 && present[i].key != present[i - 1].key;
        feature.order.emplace_back(present[i].row, starts);
    }
    for (const std::uint32_t row : missing) feature.order.emplace_back(row, false);
}

void sort_categories(const ColumnView& column, std::size_t n_rows,
                     const std::vector<std::uint8_t>& bin_of_code, SortedFeature& feature) {
    feature.is_categorical = true;
    feature.n_bins = 1;
    for (const std::uint8_t bin : bin_of_code) {
        feature.n_bins = std::max(feature.n_bins, static_cast<std::size_t>(bin) + 1);
    }
    const auto missing = static_cast<std::uint8_t>(feature.n_bins);
    feature.bins.resize(n_rows);
    for (std::size_t row = 0; row < n_rows; ++row) {
        const auto code = column.at<std::int32_t>(row);
        const bool is_known = code >= 0 && static_cast<std::size_t>(code) < bin_of_code.size();
        feature.bins[row] = is_known ? bin_of_code[static_cast<std::size_t>(code)] : missing;
    }
}

}  // namespace

SortedColumns::SortedColumns(const Columns& columns,
                             const std::vector<std::vector<std::uint8_t>>& category_bins,
                             int n_threads)
    : columns_(columns), features_(columns.features.size()) {
    if (category_bins.size() != features_.size()) {
        throw Failure(FailureKind::kInvalidInput, "columns and categories differ in number");
    }
    parallel_for(n_threads, features_.size(), [&](std::size_t f) {
        const ColumnView& column = columns_.features[f];
        if (column.type == ValueType::kCode32) {
            sort_categories(column, columns_.n_rows, category_bins[f], features_[f]);
        } else if (column.type == ValueType::kFloat32) {
            sort_numbers<float>(column, columns_.n_rows, features_[f]);
        } else {
            sort_numbers<double>(column, columns_.n_rows, features_[f]);
        }
    });
}

double SortedColumns::value(std::size_t f, std::uint32_t row) const {
    return number_at(columns_.features[f], row) + 0.0;  // -0 is 0
}

double SortedColumns::threshold(std::size_t f, std::uint32_t below, std::uint32_t above) const {
    const double low = number_at(columns_.features[f], below);
    const double high = number_at(columns_.features[f], above);
    const double middle = low / 2 + high / 2;
    return middle >= low && middle < high ? middle : low;
}

}  // namespace spinney
