/// From values to bins: one byte per value, by cut points or by category code.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "native/data/columns.hpp"
#include "native/data/cut_grid.hpp"

namespace spinney {

inline constexpr int kMaxValueBins = 255;

/// Cut points padded with +infinity to 16 groups of 16, for a search in two steps: how many groups
/// lie wholly below x, then how many cuts of the next group do. No branch depends on the data.
template <class T>
struct CutTable {
    alignas(64) T last_of_group[16];
    alignas(64) T cuts[256];
};

/// How one feature becomes a byte.
///
/// Numbers: bin = how many cuts are < x, so bin b holds (cut[b-1], cut[b]]. Codes: bin =
/// table[code]. Missing, and codes beyond the table: the last bin, missing_bin().
class FeatureBins {
  public:
    static FeatureBins numeric(std::span<const double> cuts);
    /// n_value_bins: every entry of the table is below it.
    static FeatureBins categorical(std::span<const std::uint8_t> bin_of_code, int n_value_bins);

    int n_value_bins() const { return n_value_bins_; }
    std::uint8_t missing_bin() const { return static_cast<std::uint8_t>(n_value_bins_); }
    bool is_categorical() const { return is_categorical_; }
    const CutTable<float>& narrow() const { return narrow_; }
    const CutTable<double>& wide() const { return wide_; }
    const CutGrid<float>& narrow_grid() const { return narrow_grid_; }
    const CutGrid<double>& wide_grid() const { return wide_grid_; }
    std::span<const std::uint8_t> bin_of_code() const { return bin_of_code_; }

  private:
    int n_value_bins_ = 1;
    bool is_categorical_ = false;
    /// Cuts rounded down to float32: x <= c and x <= round_down(c) are the same for a float32 x.
    CutTable<float> narrow_{};
    CutTable<double> wide_{};
    CutGrid<float> narrow_grid_;
    CutGrid<double> wide_grid_;
    std::vector<std::uint8_t> bin_of_code_;
};

/// Bins of n rows of one feature, from row `first` on; n is at most kBinBlockRows. The types of
/// column and bins must agree.
inline constexpr std::size_t kBinBlockRows = 256;
void bin_rows(const ColumnView& column, std::size_t first, std::size_t n,
              const FeatureBins& feature, std::uint8_t* bins);

/// Fills bins[row * n_features + feature]. Throws Failure if the types of columns and mapper
/// differ.
void bin_columns(const Columns& columns, std::span<const FeatureBins> mapper,
                 std::span<std::uint8_t> bins, int n_threads);

}  // namespace spinney
