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

/// The same by the tables of a grid that is not empty, at half the cost.
template <class T>
using GridSearch = void(const BinTask<T>& task, const GridTables<T>& grid);

void bin_search_grid_portable(const BinTask<float>& task, const GridTables<float>& grid);
void bin_search_grid_portable(const BinTask<double>& task, const GridTables<double>& grid);
void bin_search_grid_avx2(const BinTask<float>& task, const GridTables<float>& grid);
void bin_search_grid_avx2(const BinTask<double>& task, const GridTables<double>& grid);
void bin_search_grid_avx512(const BinTask<float>& task, const GridTables<float>& grid);
void bin_search_grid_avx512(const BinTask<double>& task, const GridTables<double>& grid);

/// Rows ahead whose values a search asks for while it works: those of the next block that is
/// predicted. Rows of a table in C order are too far apart for the processor to foresee.
inline constexpr std::ptrdiff_t kAhead = 192;

}  // namespace spinney
