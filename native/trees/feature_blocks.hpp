/// Bins laid out for growing: by blocks of features for histograms, by column for partitions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spinney {

/// Features that are added up together: 16 tables of 256 cells of 8 bytes fill a first-level cache.
inline constexpr std::size_t kBlockFeatures = 16;

struct FeatureBlock {
    std::size_t first_feature = 0;
    std::size_t width = 0;               ///< features, at most kBlockFeatures
    const std::uint8_t* bins = nullptr;  ///< row r, feature first_feature + j: bins[r * width + j]
};

/// Two copies of the bins, one byte per value each.
///
/// Histograms walk rows and want a row's bins side by side; partitions walk rows of one feature.
class FeatureBlocks {
  public:
    /// bins: row-major (n_rows, n_features).
    FeatureBlocks(std::span<const std::uint8_t> bins, std::span<const std::int32_t> n_value_bins,
                  std::span<const std::uint8_t> categorical, int n_threads);

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_features() const { return n_value_bins_.size(); }
    std::span<const FeatureBlock> blocks() const { return blocks_; }
    const std::uint8_t* column(std::size_t feature) const {
        return by_column_.data() + feature * n_rows_;
    }
    /// Bins of values; the bin behind them holds missing values.
    std::size_t n_value_bins(std::size_t feature) const {
        return static_cast<std::size_t>(n_value_bins_[feature]);
    }
    bool is_categorical(std::size_t feature) const { return categorical_[feature] != 0; }

  private:
    std::size_t n_rows_;
    std::vector<std::int32_t> n_value_bins_;
    std::vector<std::uint8_t> categorical_;
    std::vector<FeatureBlock> blocks_;
    std::vector<std::uint8_t> by_block_;
    std::vector<std::uint8_t> by_column_;
};

}  // namespace spinney
