/// The features of a table as native code sees them: borrowed, strided, never copied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spinney {

enum class ValueType : std::uint8_t {
    kFloat32,  ///< number; NaN is missing
    kFloat64,  ///< number; NaN is missing
    kCode32,   ///< int32 category code; negative is missing
};

/// One feature of n rows. Dense: value of row r at data + r * stride. Sparse: values at listed
/// rows, zero elsewhere.
struct ColumnView {
    ValueType type = ValueType::kFloat64;
    const std::byte* data = nullptr;
    std::ptrdiff_t stride = 0;           ///< bytes between neighbours; unused when sparse
    std::span<const std::int32_t> rows;  ///< sparse only: strictly increasing row numbers
    bool is_sparse = false;

    /// Sparse: place of the first stored value at this row or behind it.
    std::size_t stored_from(std::size_t row) const {
        const auto is_before = [](std::int32_t listed, std::size_t wanted) {
            return static_cast<std::size_t>(listed) < wanted;
        };
        return static_cast<std::size_t>(std::lower_bound(rows.begin(), rows.end(), row, is_before) -
                                        rows.begin());
    }

    const std::byte* address(std::size_t row) const {
        return data + static_cast<std::ptrdiff_t>(row) * stride;
    }
    template <class T>
    T at(std::size_t row) const {
        return *reinterpret_cast<const T*>(address(row));
    }
};

struct Columns {
    std::size_t n_rows = 0;
    std::vector<ColumnView> features;
};

}  // namespace spinney
