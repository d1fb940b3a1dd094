/// The bins that trees of a boosted sum are grown on: by row for histograms, by column for
/// partitions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spinney {

/// Cells of one feature at most: 255 bins of values, and the bin of missing values.
inline constexpr std::size_t kMostCells = 256;
/// Features that are added up together: 14 tables of 256 cells of 8 bytes leave a first-level cache
/// of 32 KB some room for rows.
inline constexpr std::size_t kBlockFeatures = 14;

/// Neighbouring features, at most kBlockFeatures.
struct FeatureBlock {
    std::size_t first_feature = 0;
    std::size_t width = 0;
};

/// One byte per value and layout. The rows are borrowed, the columns a copy.
///
/// Histograms walk rows and want a row's bins side by side; partitions walk one feature.
class TrainingBins {
  public:
    /// bins: row-major (n_rows, n_features); must outlive this.
    TrainingBins(std::span<const std::uint8_t> bins, std::span<const std::int32_t> n_value_bins,
                 std::span<const std::uint8_t> categorical, int n_threads);

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_features() const { return n_value_bins_.size(); }
    std::span<const FeatureBlock> blocks() const { return blocks_; }
    /// Row r begins at rows() + r * n_features().
    const std::uint8_t* rows() const { return rows_.data(); }
    const std::uint8_t* column(std::size_t feature) const {
        return columns_.data() + feature * n_rows_;
    }
    /// Bins of values; the bin behind them holds missing values.
    std::size_t n_value_bins(std::size_t feature) const {
        return static_cast<std::size_t>(n_value_bins_[feature]);
    }
    bool is_categorical(std::size_t feature) const { return categorical_[feature] != 0; }

    /// Place of a feature's first cell among those of all features; n_cells() behind the last.
    std::size_t first_cell(std::size_t feature) const { return first_cell_[feature]; }
    std::size_t n_cells() const { return first_cell_.back(); }

  private:
    std::size_t n_rows_;
    std::span<const std::uint8_t> rows_;
    std::vector<std::int32_t> n_value_bins_;
    std::vector<std::uint8_t> categorical_;
    std::vector<std::size_t> first_cell_;
    std::vector<FeatureBlock> blocks_;
    std::vector<std::uint8_t> columns_;
};

}  // namespace spinney
