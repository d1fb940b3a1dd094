#include "native/data/bin_mapper.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "native/base/failure.hpp"
#include "native/base/isa.hpp"
#include "native/base/parallel.hpp"
#include "native/data/bin_search.hpp"
#include "native/data/round_down.hpp"

namespace spinney {
namespace {

/// Rows that are binned for all features before the next ones. 256 rows of 28 float32 features in C
/// order are 28 KB: they stay in the first-level cache, and so do their bins.
constexpr std::size_t kBlockRows = kBinBlockRows;

template <class T>
void fill_table(CutTable<T>& table, std::span<const double> cuts, T (*convert)(double)) {
    std::fill(std::begin(table.cuts), std::end(table.cuts), std::numeric_limits<T>::infinity());
    std::transform(cuts.begin(), cuts.end(), std::begin(table.cuts), convert);
    for (std::size_t group = 0; group < 16; ++group) {
        table.last_of_group[group] = table.cuts[16 * group + 15];
    }
}

const CutTable<float>& table_of(const FeatureBins& bins, float) { return bins.narrow(); }
const CutTable<double>& table_of(const FeatureBins& bins, double) { return bins.wide(); }
const CutGrid<float>& grid_of(const FeatureBins& bins, float) { return bins.narrow_grid(); }
const CutGrid<double>& grid_of(const FeatureBins& bins, double) { return bins.wide_grid(); }

template <class T>
BinSearch<T>* active_search() {
#if defined(__x86_64__) && defined(__GNUC__)
    return pick<BinSearch<T>>(bin_search_portable, bin_search_avx2, bin_search_avx512);
#else
    return pick<BinSearch<T>>(bin_search_portable, nullptr, nullptr);
#endif
}

template <class T>
GridSearch<T>* active_grid_search() {
#if defined(__x86_64__) && defined(__GNUC__)
    return pick<GridSearch<T>>(bin_search_grid_portable, bin_search_grid_avx2,
                               bin_search_grid_avx512);
#else
    return pick<GridSearch<T>>(bin_search_grid_portable, nullptr, nullptr);
#endif
}

/// Where the bins of some rows of one feature go.
struct BinTarget {
    std::uint8_t* first;
    std::ptrdiff_t stride;

    std::uint8_t& at(std::size_t i) const { return first[static_cast<std::ptrdiff_t>(i) * stride]; }
};

template <class T>
void bin_numbers(const std::byte* values, std::ptrdiff_t stride, std::size_t n,
                 const FeatureBins& feature, const BinTarget& target) {
    const int n_groups = (feature.n_value_bins() - 1) / 16 + 1;
    const BinTask<T> task{
        &table_of(feature, T{}), n_groups, feature.missing_bin(), values, stride, target.first,
        target.stride,           n};
    const CutGrid<T>& grid = grid_of(feature, T{});
    grid.empty() ? active_search<T>()(task) : active_grid_search<T>()(task, grid.tables());
}

std::uint8_t bin_of_code(const FeatureBins& feature, std::int32_t code) {
    const auto table = feature.bin_of_code();
    const bool is_known = code >= 0 && static_cast<std::size_t>(code) < table.size();
    return is_known ? table[static_cast<std::size_t>(code)] : feature.missing_bin();
}

template <class T>
void bin_sparse_block(const ColumnView& column, std::size_t first, std::size_t n,
                      const FeatureBins& feature, const BinTarget& target) {
    T values[kBlockRows] = {};
    for (std::size_t i = column.stored_from(first); i < column.rows.size(); ++i) {
        const auto row = static_cast<std::size_t>(column.rows[i]);
        if (row < first || row >= first + n) break;  // even if somebody changes them meanwhile
        values[row - first] = reinterpret_cast<const T*>(column.data)[i];
    }
    bin_numbers<T>(reinterpret_cast<const std::byte*>(values), sizeof(T), n, feature, target);
}

template <class T>
void bin_number_block(const ColumnView& column, std::size_t first, std::size_t n,
                      const FeatureBins& feature, const BinTarget& target) {
    if (column.is_sparse) return bin_sparse_block<T>(column, first, n, feature, target);
    const std::byte* values = column.data + static_cast<std::ptrdiff_t>(first) * column.stride;
    bin_numbers<T>(values, column.stride, n, feature, target);
}

void bin_block(const ColumnView& column, std::size_t first, std::size_t n,
               const FeatureBins& feature, const BinTarget& target) {
    switch (column.type) {
        case ValueType::kFloat32:
            return bin_number_block<float>(column, first, n, feature, target);
        case ValueType::kFloat64:
            return bin_number_block<double>(column, first, n, feature, target);
        case ValueType::kCode32:
            for (std::size_t i = 0; i < n; ++i) {
                target.at(i) = bin_of_code(feature, column.at<std::int32_t>(first + i));
            }
    }
}

void check_types(const Columns& columns, std::span<const FeatureBins> mapper) {
    if (columns.features.size() != mapper.size()) {
        throw Failure(FailureKind::kInvalidInput,
                      "the table has " + std::to_string(columns.features.size()) +
                          " features, the bins " + std::to_string(mapper.size()));
    }
    for (std::size_t feature = 0; feature < mapper.size(); ++feature) {
        const bool has_codes = columns.features[feature].type == ValueType::kCode32;
        if (has_codes != mapper[feature].is_categorical()) {
            throw Failure(FailureKind::kInvalidInput,
                          "feature " + std::to_string(feature) +
                              ": category codes meet numeric bins, or the reverse");
        }
    }
}

}  // namespace

FeatureBins FeatureBins::numeric(std::span<const double> cuts) {
    const bool increasing = std::adjacent_find(cuts.begin(), cuts.end(), [](double a, double b) {
                                return !(a < b);
                            }) == cuts.end();
    const bool has_nan = std::any_of(cuts.begin(), cuts.end(), [](double c) { return c != c; });
    if (cuts.size() >= kMaxValueBins || !increasing || has_nan) {
        throw Failure(FailureKind::kInvalidModel,
                      "cut points must be strictly increasing numbers, 254 at most");
    }
    FeatureBins bins;
    bins.n_value_bins_ = static_cast<int>(cuts.size()) + 1;
    fill_table<float>(bins.narrow_, cuts, round_down<float>);
    fill_table<double>(bins.wide_, cuts, [](double cut) { return cut; });
    bins.narrow_grid_ = CutGrid<float>({bins.narrow_.cuts, cuts.size()});
    bins.wide_grid_ = CutGrid<double>({bins.wide_.cuts, cuts.size()});
    return bins;
}

FeatureBins FeatureBins::categorical(std::span<const std::uint8_t> bin_of_code, int n_value_bins) {
    const bool in_range = std::all_of(bin_of_code.begin(), bin_of_code.end(),
                                      [n_value_bins](int bin) { return bin < n_value_bins; });
    if (n_value_bins < 1 || n_value_bins > kMaxValueBins || !in_range) {
        throw Failure(FailureKind::kInvalidModel, "the bins of categories are out of range");
    }
    FeatureBins bins;
    bins.is_categorical_ = true;
    bins.n_value_bins_ = n_value_bins;
    bins.bin_of_code_.assign(bin_of_code.begin(), bin_of_code.end());
    return bins;
}

void bin_rows(const ColumnView& column, std::size_t first, std::size_t n,
              const FeatureBins& feature, std::uint8_t* bins) {
    bin_block(column, first, n, feature, {bins, 1});
}

void bin_columns(const Columns& columns, std::span<const FeatureBins> mapper,
                 std::span<std::uint8_t> bins, int n_threads) {
    check_types(columns, mapper);
    const std::size_t n_features = mapper.size();
    const auto stride = static_cast<std::ptrdiff_t>(n_features);
    parallel_blocks(n_threads, columns.n_rows, 16 * kBlockRows,
                    [&](std::size_t begin, std::size_t end) {
                        for (std::size_t first = begin; first < end; first += kBlockRows) {
                            const std::size_t n = std::min(kBlockRows, end - first);
                            std::uint8_t* row_bins = bins.data() + first * n_features;
                            for (std::size_t feature = 0; feature < n_features; ++feature) {
                                bin_block(columns.features[feature], first, n, mapper[feature],
                                          {row_bins + feature, stride});
                            }
                        }
                    });
}

}  // namespace spinney
