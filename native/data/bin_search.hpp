/// The kernel of binning: how many cut points lie below each of n contiguous values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "native/data/bin_mapper.hpp"

namespace spinney {

/// counts[i] = number of cuts < values[i]; NaN gives 0, as no cut is below it.
/// n_groups: groups of 16 that hold any cut, 1 to 16.
template <class T>
using BinSearch = void(const T* values, std::size_t n, const CutTable<T>& table, int n_groups,
                       std::uint8_t* counts);

void bin_search_portable(const float* values, std::size_t n, const CutTable<float>& table,
                         int n_groups, std::uint8_t* counts);
void bin_search_portable(const double* values, std::size_t n, const CutTable<double>& table,
                         int n_groups, std::uint8_t* counts);
void bin_search_avx2(const float* values, std::size_t n, const CutTable<float>& table, int n_groups,
                     std::uint8_t* counts);
void bin_search_avx2(const double* values, std::size_t n, const CutTable<double>& table,
                     int n_groups, std::uint8_t* counts);
void bin_search_avx512(const float* values, std::size_t n, const CutTable<float>& table,
                       int n_groups, std::uint8_t* counts);
void bin_search_avx512(const double* values, std::size_t n, const CutTable<double>& table,
                       int n_groups, std::uint8_t* counts);

}  // namespace spinney
