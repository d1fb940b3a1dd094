/// The rows of every feature in the order of their values, found once for many trees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "native/data/columns.hpp"

namespace spinney {

/// An entry of an order: a row, and whether its value is larger than that of the entry before it.
/// One word for both, so that a scan reads four bytes per row and feature.
class OrderedRow {
  public:
    OrderedRow() = default;
    OrderedRow(std::uint32_t row, bool starts_value)
        : word_(row | (starts_value ? kStartsValue : 0U)) {}

    std::uint32_t row() const { return word_ & ~kStartsValue; }
    bool starts_value() const { return (word_ & kStartsValue) != 0; }

  private:
    static constexpr std::uint32_t kStartsValue = 0x80000000U;  // tables have fewer than 2^31 rows
    std::uint32_t word_ = 0;
};

/// One feature as exact trees see it.
struct SortedFeature {
    /// Numeric: rows by value (equal values by row), then those without a value by row. The first
    /// entry does not start a value: there is nothing to cut off before it.
    std::vector<OrderedRow> order;
    std::size_t n_present = 0;  ///< numeric: rows with a value

    bool is_categorical = false;
    std::vector<std::uint8_t> bins;  ///< categorical: bin of each row; n_bins: missing
    std::size_t n_bins = 0;
};

/// Borrows the columns: they must outlive it. Sorting costs O(rows) per byte of the values.
class SortedColumns {
  public:
    /// category_bins: per feature, the bin of each code; empty for numbers.
    SortedColumns(const Columns& columns,
                  const std::vector<std::vector<std::uint8_t>>& category_bins, int n_threads);

    std::size_t n_rows() const { return columns_.n_rows; }
    std::size_t n_features() const { return features_.size(); }
    const SortedFeature& feature(std::size_t f) const { return features_[f]; }

    double value(std::size_t f, std::uint32_t row) const;

    /// A number that the value of one row does not exceed and that of another does: the middle of
    /// the two, or the smaller where rounding would put the middle on the larger.
    double threshold(std::size_t f, std::uint32_t below, std::uint32_t above) const;

  private:
    Columns columns_;
    std::vector<SortedFeature> features_;
};

}  // namespace spinney
