/// The bins of a table of sparse columns, without one byte per value: only stored values have one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "native/data/bin_mapper.hpp"

namespace spinney {

struct SparseBins {
    /// One feature: bins of listed rows; all others are in the bin of zero.
    struct Feature {
        std::uint8_t zero_bin = 0;
        std::vector<std::int32_t> rows;  ///< strictly increasing
        std::vector<std::uint8_t> bins;
    };
    std::size_t n_rows = 0;
    std::vector<Feature> features;

    /// Row-major, as bin_columns gives it.
    void fill(std::span<std::uint8_t> bins, int n_threads) const;
};

/// Throws Failure unless all columns are sparse numbers, and as bin_columns does.
SparseBins bin_sparse_columns(const Columns& columns, std::span<const FeatureBins> mapper,
                              int n_threads);

}  // namespace spinney
