#include "native/trees/gradient_histogram.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "native/base/isa.hpp"
#include "native/base/parallel.hpp"
#include "native/trees/gradient_scan.hpp"

namespace spinney {
namespace {

/// Below this many additions a second thread costs more than it saves.
constexpr std::size_t kWorthAThread = 1 << 13;
/// Rows a thread takes at a time; also the most between two flushes of the tables.
constexpr std::size_t kChunkRows = 4096;
/// From here on threads share rows rather than features: each has a histogram of its own.
constexpr std::size_t kRowsToShare = 16384;
/// Blocks whose tables are filled together.
constexpr std::size_t kGroupBlocks = 4;
/// Rows ahead whose bins are asked for while the current row is added.
constexpr std::size_t kPrefetchRows = 20;

#if defined(__x86_64__) && defined(__GNUC__)
FlushCells* active_flush() {
    return pick<FlushCells>(flush_cells_portable, flush_cells_avx2, flush_cells_avx512);
}
SubtractCells* active_subtract() {
    return pick<SubtractCells>(subtract_cells_portable, subtract_cells_avx2, subtract_cells_avx512);
}
#else
FlushCells* active_flush() { return flush_cells_portable; }
SubtractCells* active_subtract() { return subtract_cells_portable; }
#endif

void prefetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

/// Tables of a thread. Invariant: all cells are zero while no task uses them.
struct Workspace {
    std::vector<std::uint64_t> cells;
    std::vector<std::uint64_t> words;
    std::vector<GradientSums> wide_cells;
    std::vector<GradientSums> sums;

    static Workspace& of_thread() {
        thread_local Workspace workspace;
        return workspace;
    }
};

/// One addition per row and feature. Neighbouring additions go to different tables, so none waits
/// for the one before. The width is a constant, so the loop over features unrolls.
template <std::size_t kWidth>
void add_rows(const std::uint8_t* bins, std::size_t stride, const std::uint64_t* words,
              std::size_t n, std::uint64_t* cells) {
    for (std::size_t i = 0; i < n; ++i, bins += stride) {
        const std::uint64_t word = words[i];
        for (std::size_t j = 0; j < kWidth; ++j) cells[j * kMostCells + bins[j]] += word;
    }
}

/// The same for listed rows, which are anywhere in memory.
template <std::size_t kWidth>
void add_listed_rows(const std::uint8_t* bins, std::size_t stride, const std::uint64_t* words,
                     const std::uint32_t* rows, std::size_t n, std::uint64_t* cells) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint8_t* ahead = bins + rows[std::min(i + kPrefetchRows, n - 1)] * stride;
        prefetch(ahead);
        prefetch(ahead + kWidth - 1);  // a row may lie on two cache lines
        const std::uint64_t word = words[i];
        const std::uint8_t* row = bins + rows[i] * stride;
        for (std::size_t j = 0; j < kWidth; ++j) cells[j * kMostCells + row[j]] += word;
    }
}

using AddRows = void (*)(const std::uint8_t*, std::size_t, const std::uint64_t*, std::size_t,
                         std::uint64_t*);
using AddListedRows = void (*)(const std::uint8_t*, std::size_t, const std::uint64_t*,
                               const std::uint32_t*, std::size_t, std::uint64_t*);

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

WideCells view(std::vector<std::int64_t>& cells, std::size_t n, bool has_hessians) {
    std::int64_t* weights = cells.data() + n;
    return {cells.data(), has_hessians ? cells.data() + 2 * n : weights, weights};
}

}  // namespace

void GradientHistogram::reset(const PackedGradients& gradients, std::size_t n_rows) {
    packed_form_ = gradients.is_packed() && n_rows <= gradients.packing().max_rows;
    has_hessians_ = gradients.has_hessians();
    // Buffers only grow: a histogram that is used again is not cleared, but overwritten.
    if (packed_form_ && packed_.size() < bins_->n_cells()) packed_.resize(bins_->n_cells());
    const std::size_t n_wide = bins_->n_cells() * (has_hessians_ ? 3 : 2);
    if (!packed_form_ && wide_.size() < n_wide) wide_.resize(n_wide);
}

WideCells GradientHistogram::wide_cells() { return view(wide_, bins_->n_cells(), has_hessians_); }

GradientSums GradientHistogram::cell(const Packing& packing, std::size_t feature, std::size_t bin) {
    return packed_form_ ? packing.unpack(packed(feature)[bin]) : wide(feature).at(bin);
}

/// Some blocks of features, and the rows that whoever runs it takes chunk by chunk.
struct HistogramBuilder::Task {
    std::size_t first_block;
    std::size_t last_block;
    RowRange rows;
    std::atomic<std::size_t>* next_chunk;  ///< shared with the tasks that have the same blocks
    GradientHistogram* packed_to;          ///< null: wide
    WideCells wide_to;
};

void HistogramBuilder::build(const PackedGradients& gradients, const RowRange& rows,
                             GradientHistogram& to) {
    to.reset(gradients, rows.size);
    const std::size_t n_blocks = bins_.blocks().size();
    const bool alone = n_threads_ <= 1 || rows.size * bins_.n_features() < kWorthAThread;
    const auto threads = alone ? std::size_t{1} : static_cast<std::size_t>(n_threads_);
    const bool share_rows =
        !to.is_packed() && rows.size >= kRowsToShare && n_blocks < kGroupBlocks * threads;
    const std::size_t n_parts = share_rows ? threads : 1;
    const std::size_t group =
        share_rows ? kGroupBlocks
                   : std::clamp<std::size_t>((n_blocks + threads - 1) / threads, 1, kGroupBlocks);
    const std::size_t n_groups = (n_blocks + group - 1) / group;
    if (parts_.size() + 1 < n_parts) parts_.resize(n_parts - 1);
    std::vector<std::atomic<std::size_t>> next_chunk(n_groups);
    const bool has_hessians = gradients.has_hessians();
    for (std::size_t p = 1; p < n_parts; ++p) part(p, has_hessians);  // allocates
    parallel_for(static_cast<int>(threads), n_groups * n_parts, [&](std::size_t index) {
        const std::size_t g = index / n_parts;
        const std::size_t p = index % n_parts;
        const Task task = {g * group,
                           std::min((g + 1) * group, n_blocks),
                           rows,
                           &next_chunk[g],
                           to.is_packed() ? &to : nullptr,
                           p > 0            ? part(p, has_hessians)
                           : to.is_packed() ? WideCells{}
                                            : to.wide_cells()};
        gradients.is_packed() ? add_packed(gradients, task) : add_wide(gradients, task);
    });
    if (n_parts > 1) merge(to.wide_cells(), n_parts, has_hessians);
}

WideCells HistogramBuilder::part(std::size_t index, bool has_hessians) {
    std::vector<std::int64_t>& cells = parts_[index - 1];
    const std::size_t n = bins_.n_cells();
    if (cells.size() < n * (has_hessians ? 3 : 2)) cells.resize(n * 3);
    return view(cells, n, has_hessians);
}

namespace {

void clear(const WideCells& cells, std::size_t first, std::size_t last) {
    std::fill(cells.gradient + first, cells.gradient + last, 0);
    std::fill(cells.weight + first, cells.weight + last, 0);
    if (cells.hessian != cells.weight) std::fill(cells.hessian + first, cells.hessian + last, 0);
}

}  // namespace

/// Words of at most kChunkRows rows, then a flush of the tables into the histogram. A packed
/// histogram has no more rows than its packing allows, so its cells are added up as words.
void HistogramBuilder::add_packed(const PackedGradients& gradients, const Task& task) const {
    Workspace& space = Workspace::of_thread();
    space.cells.resize(kGroupBlocks * kBlockFeatures * kMostCells);
    space.words.resize(kChunkRows);
    const auto blocks =
        bins_.blocks().subspan(task.first_block, task.last_block - task.first_block);
    const std::size_t first_feature = blocks.front().first_feature;
    const std::size_t last_feature = blocks.back().first_feature + blocks.back().width;
    const std::size_t first_cell = bins_.first_cell(first_feature);
    const std::size_t last_cell = bins_.first_cell(last_feature);
    // A packed histogram of one chunk is the tables themselves.
    const bool is_one_chunk = task.rows.size <= kChunkRows;
    if (task.packed_to == nullptr) {
        clear(task.wide_to, first_cell, last_cell);
    } else if (!is_one_chunk) {
        std::fill_n(task.packed_to->packed(first_feature), last_cell - first_cell, 0);
    }
    FlushCells* flush = active_flush();
    const std::size_t stride = bins_.n_features();
    for (;;) {
        const std::size_t begin = kChunkRows * task.next_chunk->fetch_add(1);
        if (begin >= task.rows.size) break;
        const RowRange rows = task.rows.part(begin, std::min(kChunkRows, task.rows.size - begin));
        gradients.gather_words(rows.listed, rows.first, rows.size, space.words.data());
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            const FeatureBlock& block = blocks[b];
            const std::uint8_t* bins = bins_.rows() + block.first_feature;
            std::uint64_t* cells = space.cells.data() + b * kBlockFeatures * kMostCells;
            if (rows.listed == nullptr) {
                kAddRows[block.width - 1](bins + rows.first * stride, stride, space.words.data(),
                                          rows.size, cells);
            } else {
                kAddListedRows[block.width - 1](bins, stride, space.words.data(), rows.listed,
                                                rows.size, cells);
            }
            for (std::size_t j = 0; j < block.width; ++j) {
                const std::size_t feature = block.first_feature + j;
                const std::size_t n = bins_.n_value_bins(feature) + 1;
                std::uint64_t* table = cells + j * kMostCells;
                if (task.packed_to != nullptr) {
                    std::uint64_t* to = task.packed_to->packed(feature);
                    for (std::size_t i = 0; i < n; ++i) {
                        to[i] = is_one_chunk ? table[i] : to[i] + table[i];
                    }
                    std::fill_n(table, n, 0);
                } else {
                    flush(table, n, gradients.packing(),
                          task.wide_to.from(bins_.first_cell(feature)));
                }
            }
        }
    }
}

/// Three sums per row and cell: for weighted rows, and where the grid is too fine to pack.
void HistogramBuilder::add_wide(const PackedGradients& gradients, const Task& task) const {
    Workspace& space = Workspace::of_thread();
    space.wide_cells.resize(kBlockFeatures * kMostCells);
    space.sums.resize(kChunkRows);
    const auto blocks =
        bins_.blocks().subspan(task.first_block, task.last_block - task.first_block);
    const std::size_t last_feature = blocks.back().first_feature + blocks.back().width;
    clear(task.wide_to, bins_.first_cell(blocks.front().first_feature),
          bins_.first_cell(last_feature));
    const std::size_t stride = bins_.n_features();
    const bool has_hessians = gradients.has_hessians();
    for (;;) {
        const std::size_t begin = kChunkRows * task.next_chunk->fetch_add(1);
        if (begin >= task.rows.size) break;
        const RowRange rows = task.rows.part(begin, std::min(kChunkRows, task.rows.size - begin));
        for (std::size_t i = 0; i < rows.size; ++i) {
            space.sums[i] =
                gradients.of_row(rows.listed == nullptr ? rows.first + i : rows.listed[i]);
        }
        for (const FeatureBlock& block : blocks) {
            for (std::size_t i = 0; i < rows.size; ++i) {
                const std::size_t row = rows.listed == nullptr ? rows.first + i : rows.listed[i];
                const std::uint8_t* bins = bins_.rows() + row * stride + block.first_feature;
                for (std::size_t j = 0; j < block.width; ++j) {
                    space.wide_cells[j * kMostCells + bins[j]] += space.sums[i];
                }
            }
            for (std::size_t j = 0; j < block.width; ++j) {
                const std::size_t feature = block.first_feature + j;
                const WideCells to = task.wide_to.from(bins_.first_cell(feature));
                for (std::size_t i = 0; i <= bins_.n_value_bins(feature); ++i) {
                    GradientSums& cell = space.wide_cells[j * kMostCells + i];
                    to.gradient[i] += cell.gradient;
                    to.weight[i] += cell.weight;
                    if (has_hessians) to.hessian[i] += cell.hessian;
                    cell = {};
                }
            }
        }
    }
}

void HistogramBuilder::merge(WideCells to, std::size_t n_parts, bool has_hessians) const {
    const std::size_t n = bins_.n_cells();
    parallel_blocks(n_threads_, n, 2048, [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = 1; p < n_parts; ++p) {
            const std::int64_t* from = parts_[p - 1].data();
            for (std::size_t i = begin; i < end; ++i) to.gradient[i] += from[i];
            for (std::size_t i = begin; i < end; ++i) to.weight[i] += from[n + i];
            if (!has_hessians) continue;
            for (std::size_t i = begin; i < end; ++i) to.hessian[i] += from[2 * n + i];
        }
    });
}

void HistogramBuilder::subtract(const Packing& packing, GradientHistogram& parent,
                                GradientHistogram& child, GradientHistogram& to,
                                std::size_t feature, std::size_t n_cells) {
    if (parent.is_packed()) {
        std::uint64_t* cells = to.packed(feature);
        const std::uint64_t* from = parent.packed(feature);
        const std::uint64_t* less = child.packed(feature);
        for (std::size_t i = 0; i < n_cells; ++i) cells[i] = from[i] - less[i];
        return;
    }
    active_subtract()({parent.wide(feature), child.is_packed() ? WideCells{} : child.wide(feature),
                       child.is_packed() ? child.packed(feature) : nullptr,
                       to.is_packed() ? WideCells{} : to.wide(feature),
                       to.is_packed() ? to.packed(feature) : nullptr},
                      n_cells, packing);
}

}  // namespace spinney
