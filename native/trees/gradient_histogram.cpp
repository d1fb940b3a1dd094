#include "native/trees/gradient_histogram.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "native/base/parallel.hpp"

namespace spinney {
namespace {

/// Below this many additions a second thread costs more than it saves.
constexpr std::size_t kWorthAThread = 1 << 14;
/// Rows ahead whose bins are asked for while the current row is added.
constexpr std::size_t kPrefetchRows = 24;

void prefetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

/// One addition per row and feature. Neighbouring additions go to different tables, so none waits
/// for the one before. The width is a constant, so the loop over features unrolls.
template <std::size_t kWidth>
void add_rows(const FeatureBlock& block, const std::uint64_t* gradients, std::size_t n,
              std::uint64_t* cells) {
    const std::uint8_t* bins = block.bins;
    for (std::size_t i = 0; i < n; ++i, bins += kWidth) {
        for (std::size_t j = 0; j < kWidth; ++j)
            cells[j * kCellsPerFeature + bins[j]] += gradients[i];
    }
}

template <std::size_t kWidth>
void add_listed_rows(const FeatureBlock& block, const std::uint64_t* gradients,
                     std::span<const std::uint32_t> rows, std::uint64_t* cells) {
    const std::size_t n = rows.size();
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t ahead = rows[std::min(i + kPrefetchRows, n - 1)];
        prefetch(block.bins + ahead * kWidth);
        prefetch(gradients + ahead);
        const std::uint64_t gradient = gradients[rows[i]];
        const std::uint8_t* bins = block.bins + rows[i] * kWidth;
        for (std::size_t j = 0; j < kWidth; ++j) cells[j * kCellsPerFeature + bins[j]] += gradient;
    }
}

using AddRows = void (*)(const FeatureBlock&, const std::uint64_t*, std::size_t, std::uint64_t*);
using AddListedRows = void (*)(const FeatureBlock&, const std::uint64_t*,
                               std::span<const std::uint32_t>, std::uint64_t*);

template <std::size_t... kWidths>
constexpr auto rows_kernels(std::index_sequence<kWidths...>) {
    return std::array<AddRows, sizeof...(kWidths)>{add_rows<kWidths + 1>...};
}
template <std::size_t... kWidths>
constexpr auto listed_kernels(std::index_sequence<kWidths...>) {
    return std::array<AddListedRows, sizeof...(kWidths)>{add_listed_rows<kWidths + 1>...};
}
constexpr auto kAddRows = rows_kernels(std::make_index_sequence<kBlockFeatures>{});
constexpr auto kAddListedRows = listed_kernels(std::make_index_sequence<kBlockFeatures>{});

}  // namespace

/// Words of at most packing.max_rows rows at a time; a wide histogram is filled between them.
void GradientHistogram::build_block(const FeatureBlock& block, const PackedGradients& gradients,
                                    std::span<const std::uint32_t> rows, std::size_t n_rows) {
    const Packing& packing = gradients.packing();
    const std::size_t n_cells = block.width * kCellsPerFeature;
    const std::size_t first_cell = block.first_feature * kCellsPerFeature;
    std::vector<std::uint64_t> between(is_packed() ? 0 : n_cells);
    std::uint64_t* cells = is_packed() ? packed_.data() + first_cell : between.data();
    std::fill_n(cells, n_cells, 0);
    if (!is_packed()) std::fill_n(wide_.data() + first_cell, n_cells, GradientSums{});
    for (std::size_t first = 0; first < n_rows; first += packing.max_rows) {
        const std::size_t n = std::min(packing.max_rows, n_rows - first);
        if (rows.empty()) {
            FeatureBlock part = block;
            part.bins += first * block.width;
            kAddRows[block.width - 1](part, gradients.words().data() + first, n, cells);
        } else {
            kAddListedRows[block.width - 1](block, gradients.words().data(), rows.subspan(first, n),
                                            cells);
        }
        if (is_packed()) return;
        for (std::size_t i = 0; i < n_cells; ++i) {
            wide_[first_cell + i] += packing.unpack(cells[i]);
            cells[i] = 0;
        }
    }
}

void GradientHistogram::build_wide_block(const FeatureBlock& block,
                                         const PackedGradients& gradients,
                                         std::span<const std::uint32_t> rows, std::size_t n_rows) {
    GradientSums* cells = wide_.data() + block.first_feature * kCellsPerFeature;
    std::fill_n(cells, block.width * kCellsPerFeature, GradientSums{});
    for (std::size_t i = 0; i < n_rows; ++i) {
        const std::size_t row = rows.empty() ? i : rows[i];
        const std::uint8_t* bins = block.bins + row * block.width;
        for (std::size_t j = 0; j < block.width; ++j) {
            cells[j * kCellsPerFeature + bins[j]] += gradients.sums()[row];
        }
    }
}

void GradientHistogram::build(const PackedGradients& gradients, std::span<const std::uint32_t> rows,
                              int n_threads) {
    const std::size_t n_rows = rows.empty() ? data_.n_rows() : rows.size();
    const std::size_t n_cells = data_.n_features() * kCellsPerFeature;
    const bool packed = gradients.is_packed() && n_rows <= gradients.packing().max_rows;
    packed_.resize(packed ? n_cells : 0);
    wide_.resize(packed ? 0 : n_cells);
    const auto blocks = data_.blocks();
    const bool parallel = n_rows * data_.n_features() >= kWorthAThread;
    parallel_for(parallel ? n_threads : 1, blocks.size(), [&](std::size_t b) {
        gradients.is_packed() ? build_block(blocks[b], gradients, rows, n_rows)
                              : build_wide_block(blocks[b], gradients, rows, n_rows);
    });
}

void GradientHistogram::subtract(const GradientHistogram& child, const Packing& packing,
                                 int n_threads) {
    const std::size_t n_features = data_.n_features();
    const int threads = n_features * kCellsPerFeature >= kWorthAThread ? n_threads : 1;
    parallel_blocks(threads, n_features, kBlockFeatures, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin * kCellsPerFeature; i < end * kCellsPerFeature; ++i) {
            if (is_packed()) {
                packed_[i] -= child.packed_[i];
            } else if (child.is_packed()) {
                wide_[i] = wide_[i] - packing.unpack(child.packed_[i]);
            } else {
                wide_[i] = wide_[i] - child.wide_[i];
            }
        }
    });
}

}  // namespace spinney
