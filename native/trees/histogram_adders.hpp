/// The additions of the hot loop of boosting: rows to the tables of a block of columns.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "native/base/prefetch.hpp"
#include "native/trees/gradient_histogram.hpp"

namespace spinney {

/// Rows ahead whose bins are asked for while the current row is added.
inline constexpr std::size_t kPrefetchRows = 32;

/// Sums in two numbers, which one instruction adds: weights below, hessians above 32 bits. Weights
/// of all rows fit; of hessians as many rows as PackedGradients::most_rows_in_pair says.
struct SumPair {
    std::int64_t gradient = 0;
    std::uint64_t hessian_and_weight = 0;

    SumPair() = default;
    explicit SumPair(const GradientSums& sums)
        : gradient(sums.gradient),
          hessian_and_weight((static_cast<std::uint64_t>(sums.hessian) << 32) +
                             static_cast<std::uint64_t>(sums.weight)) {}
    SumPair& operator+=(const SumPair& other) {
        gradient += other.gradient;
        hessian_and_weight += other.hessian_and_weight;
        return *this;
    }
    explicit operator GradientSums() const {
        return {gradient, static_cast<std::int64_t>(hessian_and_weight >> 32),
                static_cast<std::int64_t>(hessian_and_weight & 0xffffffffU)};
    }
};

/// Tables of a thread. Invariant: all cells are zero while no task uses them.
struct Workspace {
    template <class Cell>
    struct OfRows {
        std::vector<Cell> cells;
        std::vector<Cell> rows;
    };

    std::vector<std::uint64_t> cells;
    OfRows<SumPair> pairs;
    OfRows<GradientSums> sums;

    template <class Cell>
    OfRows<Cell>& of() {
        if constexpr (std::is_same_v<Cell, SumPair>)
            return pairs;
        else
            return sums;
    }

    static Workspace& of_thread() {
        thread_local Workspace workspace;
        return workspace;
    }
};

/// One addition per row and feature, of the word of the row. Neighbouring additions go to different
/// tables, so none waits for the one before. The width is a constant, so the loop over features
/// unrolls; it is bound by its stores, and making the word costs nothing beside them.
template <const Packing& kPacking, std::size_t kWidth>
void add_rows(const std::uint8_t* bins, std::size_t stride, const std::int32_t* gradients,
              std::size_t n, std::uint64_t* cells) {
    for (std::size_t i = 0; i < n; ++i, bins += stride) {
        const std::uint64_t word = kPacking.word(gradients[i]);
        for (std::size_t j = 0; j < kWidth; ++j) cells[j * kMostCells + bins[j]] += word;
    }
}

/// The same for listed rows, which are anywhere in memory.
template <const Packing& kPacking, std::size_t kWidth>
void add_listed_rows(const std::uint8_t* bins, std::size_t stride, const std::int32_t* gradients,
                     const std::uint32_t* rows, std::size_t n, std::uint64_t* cells) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t row_ahead = rows[std::min(i + kPrefetchRows, n - 1)];
        const std::uint8_t* ahead = bins + row_ahead * stride;
        prefetch(ahead);
        prefetch(ahead + kWidth - 1);  // a row may lie on two cache lines
        prefetch(gradients + row_ahead);
        const std::uint64_t word = kPacking.word(gradients[rows[i]]);
        const std::uint8_t* row = bins + rows[i] * stride;
        for (std::size_t j = 0; j < kWidth; ++j) cells[j * kMostCells + row[j]] += word;
    }
}

/// The same for rows that have sums in place of words; sums[i] is of row i of the range.
template <class Cell, std::size_t kWidth>
void add_sums(const std::uint8_t* bins, std::size_t stride, const RowRange& rows, const Cell* sums,
              Cell* cells) {
    for (std::size_t i = 0; i < rows.size; ++i) {
        prefetch(bins + rows.at(std::min(i + kPrefetchRows, rows.size - 1)) * stride);
        const std::uint8_t* row = bins + rows.at(i) * stride;
        for (std::size_t j = 0; j < kWidth; ++j) cells[j * kMostCells + row[j]] += sums[i];
    }
}

using AddRows = void (*)(const std::uint8_t*, std::size_t, const std::int32_t*, std::size_t,
                         std::uint64_t*);
using AddListedRows = void (*)(const std::uint8_t*, std::size_t, const std::int32_t*,
                               const std::uint32_t*, std::size_t, std::uint64_t*);

template <class Cell>
using AddSums = void (*)(const std::uint8_t*, std::size_t, const RowRange&, const Cell*, Cell*);

/// The kernels of a packing, by width.
struct Adders {
    std::array<AddRows, kBlockColumns> all;
    std::array<AddListedRows, kBlockColumns> listed;
};
template <const Packing& kPacking, std::size_t... kWidths>
constexpr Adders make_adders(std::index_sequence<kWidths...>) {
    return {{add_rows<kPacking, kWidths + 1>...}, {add_listed_rows<kPacking, kWidths + 1>...}};
}
inline constexpr Adders kAddersWithHessian =
    make_adders<kWithHessian>(std::make_index_sequence<kBlockColumns>{});
inline constexpr Adders kAddersWithoutHessian =
    make_adders<kWithoutHessian>(std::make_index_sequence<kBlockColumns>{});

template <class Cell, std::size_t... kWidths>
constexpr std::array<AddSums<Cell>, kBlockColumns> make_sum_adders(
    std::index_sequence<kWidths...>) {
    return {add_sums<Cell, kWidths + 1>...};
}
template <class Cell>
inline constexpr std::array<AddSums<Cell>, kBlockColumns> kSumAdders =
    make_sum_adders<Cell>(std::make_index_sequence<kBlockColumns>{});

}  // namespace spinney
