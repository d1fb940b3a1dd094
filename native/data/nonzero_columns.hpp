/// Dense tables of which most values are zero, such as flags of categories, as sparse columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "native/data/columns.hpp"

namespace spinney {

/// All columns, one behind the other: those of column c are [starts[c], starts[c + 1]).
template <class T>
struct NonzeroColumns {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> rows;  ///< increasing within a column
    std::vector<T> values;           ///< NaN is not zero, -0 is
};

/// A matrix of any strides, counted in values.
template <class T>
struct MatrixView {
    const T* data = nullptr;
    std::size_t n_rows = 0;
    std::size_t n_columns = 0;
    std::ptrdiff_t to_next_row = 0;
    std::ptrdiff_t to_next_column = 0;
};

/// Nothing unless rows or columns are contiguous and at most one value in `one_in` is not zero.
///
/// Cost: a few rows if it is not so at first sight; otherwise one pass at the speed of memory.
template <class T>
std::optional<NonzeroColumns<T>> nonzero_columns(const MatrixView<T>& matrix, std::size_t one_in,
                                                 int n_threads);

extern template std::optional<NonzeroColumns<float>> nonzero_columns(const MatrixView<float>&,
                                                                     std::size_t, int);
extern template std::optional<NonzeroColumns<double>> nonzero_columns(const MatrixView<double>&,
                                                                      std::size_t, int);

}  // namespace spinney
