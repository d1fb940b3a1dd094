/// The questions of a forest as comparisons of bytes: each feature it asks about becomes one or
/// more columns of signed bytes, made from the thresholds the forest uses and no others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/data/bin_mapper.hpp"
#include "native/data/columns.hpp"
#include "native/model/forest.hpp"

namespace spinney {

/// Rows that travel together: six AVX2 registers of bytes.
inline constexpr std::size_t kByteRows = 192;

/// A row goes right if its byte in `column` is at least `limit`.
struct ByteQuestion {
    std::uint32_t column;
    std::int8_t limit;
};

/// How the features a forest uses become bytes.
///
/// A numeric feature with at most 254 different thresholds is one column: the number of thresholds
/// below x, less 128. Missing is 127, at least every limit, for the questions that send it right;
/// a second column, one higher and with missing at -128, serves those that send it left. Every
/// further 254 thresholds take columns of their own. A categorical feature is one column of bins,
/// missing 255, to be looked up in sets.
class ByteColumns {
  public:
    explicit ByteColumns(const ForestArrays& forest);

    std::size_t n_columns() const { return n_columns_; }

    /// The question of a numeric node of the forest.
    ByteQuestion question(std::int32_t feature, double threshold, bool missing_left) const;
    /// The column of bins of a categorical feature.
    std::uint32_t bins_of(std::int32_t feature) const;

    /// bytes[column * kByteRows + i] for rows first + i, i < n <= kByteRows. What stands behind
    /// row n means nothing.
    void read(const Columns& columns, std::size_t first, std::size_t n, std::int8_t* bytes) const;

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    /// Up to 254 thresholds of a feature, or its categories.
    struct Part {
        std::size_t feature;
        FeatureBins bins;
        std::uint32_t missing_high = kNone;  ///< column, if there is one
        std::uint32_t missing_low = kNone;
    };

    struct Uses {
        std::vector<double> thresholds;
        bool sends_missing_left = false;
        bool sends_missing_right = false;
    };

    void add_numeric(std::size_t feature, Uses uses);
    void add_categorical(const ForestArrays& forest, std::size_t feature);

    std::vector<Part> parts_;
    std::vector<std::size_t> first_part_;          ///< of each feature
    std::vector<std::vector<double>> thresholds_;  ///< of each feature, increasing
    std::uint32_t n_columns_ = 0;
};

}  // namespace spinney
