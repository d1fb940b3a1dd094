/// The kernel of binning: how many cut points lie below each of n values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "native/data/bin_mapper.hpp"
#include "native/data/cut_grid.hpp"

namespace spinney {

/// Some rows of one feature: where their values are, and where their bins go. Both strided, so that
/// neither a C-ordered table nor the row-major bins need a copy.
template <class T>
struct BinTask {
    const CutTable<T>* table;
    int n_groups;              ///< number of cuts / 16 + 1: a spare infinity ends the last group
    std::uint8_t missing_bin;  ///< bin of NaN
    const std::byte* values;
    std::ptrdiff_t value_stride;  ///< bytes
    std::uint8_t* bins;
    std::ptrdiff_t bin_stride;
    std::size_t n;

    const T* value(std::size_t i) const {
        return reinterpret_cast<const T*>(values + static_cast<std::ptrdiff_t>(i) * value_stride);
    }
};

/// bins[i] = number of cuts < values[i], or missing_bin.
template <class T>
using BinSearch = void(const BinTask<T>& task);

void bin_search_portable(const BinTask<float>& task);
void bin_search_portable(const BinTask<double>& task);
void bin_search_avx2(const BinTask<float>& task);
void bin_search_avx2(const BinTask<double>& task);
void bin_search_avx512(const BinTask<float>& task);
void bin_search_avx512(const BinTask<double>& task);

/// The same by a grid that is not empty: plain loads, three to six nanoseconds less per value.
void bin_search_grid(const BinTask<float>& task, const CutGrid<float>& grid);
void bin_search_grid(const BinTask<double>& task, const CutGrid<double>& grid);

}  // namespace spinney
