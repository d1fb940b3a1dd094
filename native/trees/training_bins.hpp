/// The bins that trees of a boosted sum are grown on.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "native/base/large_pages.hpp"
#include "native/data/sparse_bins.hpp"
#include "native/trees/feature_bundles.hpp"

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

/// Features whose bins are codes of one byte per row. Of a single feature the codes are its bins.
/// Of several no row is outside the usual bins of two: code 0 is a row that is outside of none, and
/// each feature has codes of its own for its other bins.
struct Bundle {
    std::vector<std::uint32_t> features;  ///< increasing
    std::size_t n_codes = 1;              ///< that occur: cells behind them hold no row

    bool is_shared() const { return features.size() > 1; }
};

/// Where the bins of a feature are among the codes of its bundle.
struct FeaturePlace {
    std::uint32_t bundle = 0;
    std::uint32_t first_code = 0;  ///< of the bins that are not the usual one
    std::uint32_t n_bins = 1;      ///< up to the last one that occurs
    std::uint8_t usual = 0;
    bool is_shared = false;

    std::uint8_t code(std::size_t bin) const {
        if (!is_shared) return static_cast<std::uint8_t>(bin);
        if (bin == usual) return 0;
        return static_cast<std::uint8_t>(first_code + bin - (bin > usual ? 1 : 0));
    }
    std::uint8_t bin(std::uint8_t code) const {
        if (!is_shared) return code;
        if (code < first_code || code >= first_code + n_bins - 1) return usual;
        const std::size_t place = code - first_code;
        return static_cast<std::uint8_t>(place < usual ? place : place + 1);
    }
};

/// Whether features that never differ from their usual bin in the same row share a byte. It does
/// not change a tree.
enum class Bundling : std::uint8_t { kAuto, kNever, kAlways };

/// Bundles that share a byte per row: one addition serves them all. The byte is the sum of code *
/// stride, so cell c of the joint table belongs to code c / stride % n_codes of a member.
///
/// A table of flags and other features of few bins has fewer columns than features. A feature of
/// many bins is a column of its own.
struct JointColumn {
    struct Member {
        std::uint32_t bundle;
        std::uint32_t stride;
        std::uint32_t n_codes;  ///< that occur: codes behind them hold no row
    };
    std::vector<Member> members;
    std::size_t n_cells = 1;
};

/// One way in which the bytes of a row lie side by side.
struct RowLayout {
    const std::uint8_t* rows = nullptr;  ///< row r begins at rows + r * columns.size()
    std::vector<JointColumn> columns;
    std::vector<ColumnBlock> blocks;         ///< some for every thread
    std::vector<ColumnBlock> blocks_of_one;  ///< for one thread alone: as few as caches allow

    std::span<const JointColumn> columns_of(const ColumnBlock& block) const {
        return std::span(columns).subspan(block.first_column, block.width);
    }
};

/// The bins, for histograms by row and for partitions by feature.
///
/// Histograms walk rows and want a row's bytes side by side; partitions walk one feature. By row
/// they are borrowed; by feature they are a copy. Where bundles share bytes there is a second copy
/// by row, for nodes of many rows: in small ones it costs more to take joint sums apart than
/// additions cost. Where features are bundled all of this is made of the codes of bundles, and
/// nothing is borrowed; so it is of sparse bins, which need not become one byte per value first.
class TrainingBins {
  public:
    /// bins: row-major (n_rows, n_features); must outlive this unless has_bundles().
    TrainingBins(std::span<const std::uint8_t> bins, std::span<const std::int32_t> n_value_bins,
                 std::span<const std::uint8_t> categorical, int n_threads,
                 Bundling bundling = Bundling::kAuto);
    TrainingBins(const SparseBins& bins, std::span<const std::int32_t> n_value_bins,
                 std::span<const std::uint8_t> categorical, int n_threads,
                 Bundling bundling = Bundling::kAuto);
    TrainingBins(TrainingBins&&) = default;
    TrainingBins(const TrainingBins&) = delete;  // layouts point into the copies
    TrainingBins& operator=(const TrainingBins&) = delete;

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_features() const { return n_value_bins_.size(); }
    std::size_t n_bundles() const { return bundles_.size(); }
    bool has_bundles() const { return n_bundles() < n_features(); }
    /// A column per bundle.
    const RowLayout& plain() const { return plain_; }
    /// Fewer columns, if bundles share bytes; without columns otherwise.
    const RowLayout& joint() const { return joint_; }
    /// The faster one for the histogram of so many rows.
    const RowLayout& layout_for(std::size_t n_rows) const {
        return n_rows >= rows_to_join_ ? joint_ : plain_;
    }
    /// Bundles of several features stand behind the others.
    const Bundle& bundle(std::size_t bundle) const { return bundles_[bundle]; }
    const std::uint8_t* codes(std::size_t bundle) const {
        return by_bundle_.data() + bundle * n_rows_;
    }
    const FeaturePlace& place(std::size_t feature) const { return places_[feature]; }
    /// Bins of values; the bin behind them holds missing values.
    std::size_t n_value_bins(std::size_t feature) const {
        return static_cast<std::size_t>(n_value_bins_[feature]);
    }
    bool is_categorical(std::size_t feature) const { return categorical_[feature] != 0; }
    /// Rows of the fullest cell of a bundle, and of all bundles: no cell that is read ever holds
    /// more. Nobody reads code 0 of several features.
    std::size_t most_in_cell(std::size_t bundle) const { return most_in_cell_[bundle]; }
    std::size_t most_in_any_cell() const {
        return *std::max_element(most_in_cell_.begin(), most_in_cell_.end());
    }

    /// Place of a bundle's first cell among those of all bundles; n_cells() behind the last.
    std::size_t first_cell(std::size_t bundle) const { return first_cell_[bundle]; }
    std::size_t n_cells() const { return first_cell_.back(); }
    /// Cells of a bundle that are used: a feature of its own has one for every bin.
    std::size_t n_cells(std::size_t bundle) const {
        const Bundle& one = bundles_[bundle];
        return one.is_shared() ? one.n_codes : n_value_bins(one.features[0]) + 1;
    }
    /// Whether all bundles have kMostCells cells, some of them unused. So it is where most are
    /// wide: then rows can be added to a histogram without a table in between.
    bool has_equal_cells() const { return n_cells() == kMostCells * n_bundles(); }

  private:
    /// The code of each bin.
    using CodeOf = std::array<std::uint8_t, kMostCells>;
    /// Adds the codes of a feature's bins to a byte per row.
    using AddCodes =
        FunctionRef<void(std::size_t feature, const CodeOf& code_of, std::uint8_t* codes)>;

    void copy_by_feature(const std::uint8_t* rows, int n_threads);
    std::vector<BinCounts> count_rows(int n_threads) const;
    void bundle_features(const std::vector<BinCounts>& counts, MarkAway mark, Bundling bundling,
                         int n_threads);
    void assign_codes(std::vector<std::vector<std::uint32_t>> groups,
                      const std::vector<BinCounts>& counts);
    void encode_bundles(AddCodes add, int n_threads);
    void lay_out(const std::uint8_t* borrowed_rows, int n_threads);
    void place_cells();
    void join_columns();
    void copy_joint_rows(const RowLayout& layout, LargeVector<std::uint8_t>& to, int n_threads);

    std::size_t n_rows_;
    std::vector<std::int32_t> n_value_bins_;
    std::vector<std::uint8_t> categorical_;
    std::vector<Bundle> bundles_;
    std::vector<FeaturePlace> places_;
    std::vector<std::size_t> first_cell_;
    std::vector<std::size_t> most_in_cell_;
    RowLayout plain_;
    RowLayout joint_;
    std::size_t rows_to_join_;  ///< from here on the joint layout is faster
    LargeVector<std::uint8_t> by_bundle_;
    LargeVector<std::uint8_t> plain_rows_;  ///< empty: they are borrowed
    LargeVector<std::uint8_t> joint_rows_;
};

}  // namespace spinney
