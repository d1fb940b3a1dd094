/// The bins that trees of a boosted sum are grown on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "native/base/large_pages.hpp"

namespace spinney {

/// Cells of one feature at most: 255 bins of values, and the bin of missing values.
inline constexpr std::size_t kMostCells = 256;
/// Columns that are added up together: 14 tables of 256 cells of 8 bytes leave a first-level cache
/// of 32 KB some room for rows.
inline constexpr std::size_t kBlockColumns = 14;

/// Neighbouring columns, at most kBlockColumns.
struct ColumnBlock {
    std::size_t first_column = 0;
    std::size_t width = 0;
};

/// Features that share a byte per row: one addition serves them all. The byte is the sum of bin *
/// stride, so cell c of the joint table belongs to bin c / stride % n_bins of a member.
///
/// A table of flags and other features of few bins has fewer columns than features. A feature of
/// many bins is a column of its own.
struct JointColumn {
    struct Member {
        std::uint32_t feature;
        std::uint32_t stride;
        std::uint32_t n_bins;  ///< that occur: bins behind them hold no row
    };
    std::vector<Member> members;
    std::size_t n_cells = 1;
};

/// One way in which the bytes of a row lie side by side.
struct RowLayout {
    const std::uint8_t* rows = nullptr;  ///< row r begins at rows + r * columns.size()
    std::vector<JointColumn> columns;
    std::vector<ColumnBlock> blocks;

    std::span<const JointColumn> columns_of(const ColumnBlock& block) const {
        return std::span(columns).subspan(block.first_column, block.width);
    }
};

/// The bins, for histograms by row and for partitions by feature.
///
/// Histograms walk rows and want a row's bytes side by side; partitions walk one feature. By row
/// they are borrowed; by feature they are a copy. Where features share bytes there is a second copy
/// by row, for nodes of many rows: in small ones it costs more to take joint sums apart than
/// additions cost.
class TrainingBins {
  public:
    /// bins: row-major (n_rows, n_features); must outlive this.
    TrainingBins(std::span<const std::uint8_t> bins, std::span<const std::int32_t> n_value_bins,
                 std::span<const std::uint8_t> categorical, int n_threads);
    TrainingBins(TrainingBins&&) = default;
    TrainingBins(const TrainingBins&) = delete;  // layouts point into the copies
    TrainingBins& operator=(const TrainingBins&) = delete;

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_features() const { return n_value_bins_.size(); }
    /// A column per feature.
    const RowLayout& plain() const { return plain_; }
    /// Fewer columns, if features share bytes; without columns otherwise.
    const RowLayout& joint() const { return joint_; }
    /// The faster one for the histogram of so many rows.
    const RowLayout& layout_for(std::size_t n_rows) const {
        return n_rows >= rows_to_join_ ? joint_ : plain_;
    }
    const std::uint8_t* feature(std::size_t feature) const {
        return by_feature_.data() + feature * n_rows_;
    }
    /// Bins of values; the bin behind them holds missing values.
    std::size_t n_value_bins(std::size_t feature) const {
        return static_cast<std::size_t>(n_value_bins_[feature]);
    }
    bool is_categorical(std::size_t feature) const { return categorical_[feature] != 0; }
    /// Rows of the fullest bin of a feature, and of all features: no cell ever holds more.
    std::size_t most_in_bin(std::size_t feature) const { return most_in_bin_[feature]; }
    std::size_t most_in_any_bin() const {
        return *std::max_element(most_in_bin_.begin(), most_in_bin_.end());
    }

    /// Place of a feature's first cell among those of all features; n_cells() behind the last.
    std::size_t first_cell(std::size_t feature) const { return first_cell_[feature]; }
    std::size_t n_cells() const { return first_cell_.back(); }
    /// Whether all features have kMostCells cells, some of them unused. So it is where most are
    /// wide: then rows can be added to a histogram without a table in between.
    bool has_equal_cells() const { return n_cells() == kMostCells * n_features(); }

  private:
    std::vector<std::uint32_t> copy_by_feature(int n_threads);
    void count_rows(int n_threads);
    void place_cells();
    void join_columns(const std::vector<std::uint32_t>& n_bins);
    void copy_joint_rows(int n_threads);

    std::size_t n_rows_;
    std::vector<std::int32_t> n_value_bins_;
    std::vector<std::uint8_t> categorical_;
    std::vector<std::size_t> first_cell_;
    std::vector<std::size_t> most_in_bin_;
    RowLayout plain_;
    RowLayout joint_;
    std::size_t rows_to_join_;  ///< from here on the joint layout is faster
    LargeVector<std::uint8_t> by_feature_;
    LargeVector<std::uint8_t> joint_rows_;
};

}  // namespace spinney
