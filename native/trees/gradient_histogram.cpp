#include "native/trees/gradient_histogram.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "native/base/isa.hpp"
#include "native/base/parallel.hpp"
#include "native/trees/gradient_scan.hpp"
#include "native/trees/histogram_adders.hpp"

namespace spinney {
namespace {

/// Rows a thread takes at a time; also the most between two flushes of the tables.
constexpr std::size_t kChunkRows = 4096;
/// From here on threads share rows rather than columns: each has a histogram of its own.
constexpr std::size_t kRowsToShare = 16384;

#if defined(__x86_64__) && defined(__GNUC__)
FlushCells* active_flush() {
    return pick<FlushCells>(flush_cells_portable, flush_cells_avx2, flush_cells_avx512);
}
SubtractCells* active_subtract() {
    return pick<SubtractCells>(subtract_cells_portable, subtract_cells_avx2, subtract_cells_avx512);
}
SubtractWords* active_subtract_words() {
    return pick<SubtractWords>(subtract_words_portable, subtract_words_avx2, subtract_words_avx512);
}
#else
SubtractWords* active_subtract_words() { return subtract_words_portable; }
FlushCells* active_flush() { return flush_cells_portable; }
SubtractCells* active_subtract() { return subtract_cells_portable; }
#endif

WideCells view(std::vector<std::int64_t>& cells, std::size_t n, bool has_hessians) {
    std::int64_t* weights = cells.data() + n;
    return {cells.data(), has_hessians ? cells.data() + 2 * n : weights, weights};
}

}  // namespace

void GradientHistogram::reset(const PackedGradients& gradients, std::size_t n_rows) {
    most_in_word_ = gradients.is_packed() ? gradients.packing().max_rows : 0;
    packed_form_ = n_rows <= most_in_word_;
    has_hessians_ = gradients.has_hessians();
    // Buffers only grow: a histogram that is used again is not cleared, but overwritten.
    const std::size_t n = bins_->n_cells();
    if (most_in_word_ > 0 && packed_.size() < n) packed_.resize(n);
    if (packed_form_ || bins_->most_in_any_cell() <= most_in_word_) return;
    const std::size_t n_wide = n * (has_hessians_ ? 3 : 2);
    if (wide_.size() < n_wide) wide_.resize(n_wide);
}

WideCells GradientHistogram::wide_cells() { return view(wide_, bins_->n_cells(), has_hessians_); }

GradientSums GradientHistogram::cell(const Packing& packing, std::size_t bundle, std::size_t code) {
    return is_packed(bundle) ? packing.unpack(packed(bundle)[code]) : wide(bundle).at(code);
}

/// Some blocks of columns, and the rows that whoever runs it takes chunk by chunk.
struct HistogramBuilder::Task {
    const RowLayout& layout;
    std::span<const ColumnBlock> blocks;
    RowRange rows;
    std::atomic<std::size_t>* next_chunk;  ///< shared with the tasks that have the same blocks
    GradientHistogram& to;
};

void HistogramBuilder::build(const PackedGradients& gradients, const RowRange& rows,
                             GradientHistogram& to) {
    to.reset(gradients, rows.size);
    if (shares_rows(to, rows.size)) return build_by_rows(gradients, rows, to);
    const RowLayout& layout = bins_.layout_for(rows.size);
    const std::span<const ColumnBlock> blocks = layout.blocks;
    parallel_for(n_threads_, blocks.size(), [&](std::size_t b) {
        build_blocks(gradients, rows, layout, blocks.subspan(b, 1), to);
    });
}

bool HistogramBuilder::shares_rows(const GradientHistogram& to, std::size_t n_rows) const {
    return n_threads_ > 1 && !to.is_packed() && n_rows >= kRowsToShare &&
           bins_.layout_for(n_rows).blocks.size() < 4 * static_cast<std::size_t>(n_threads_);
}

void HistogramBuilder::build_blocks(const PackedGradients& gradients, const RowRange& rows,
                                    const RowLayout& layout, std::span<const ColumnBlock> blocks,
                                    GradientHistogram& to) const {
    std::atomic<std::size_t> next_chunk{0};
    const Task task = {layout, blocks, rows, &next_chunk, to};
    gradients.is_packed() ? add_packed(gradients, task) : add_wide(gradients, task);
}

void HistogramBuilder::build_by_rows(const PackedGradients& gradients, const RowRange& rows,
                                     GradientHistogram& to) {
    const auto n_parts = static_cast<std::size_t>(n_threads_);
    while (parts_.size() + 1 < n_parts) parts_.emplace_back(bins_);
    for (GradientHistogram& part : parts_) part.reset(gradients, rows.size);
    const RowLayout& layout = bins_.layout_for(rows.size);
    std::atomic<std::size_t> next_chunk{0};
    parallel_for(n_threads_, n_parts, [&](std::size_t p) {
        const Task task = {layout, layout.blocks, rows, &next_chunk, p == 0 ? to : parts_[p - 1]};
        gradients.is_packed() ? add_packed(gradients, task) : add_wide(gradients, task);
    });
    merge(to, n_parts, gradients.has_hessians());
}

/// Where the tables of a task end up.
class HistogramBuilder::Target {
  public:
    Target(const TrainingBins& bins, const Packing& packing, const Task& task)
        : bins_(bins), packing_(packing), task_(task) {
        for (const ColumnBlock& block : task.blocks) {
            const bool in_place = tables_of(block) != nullptr;
            for (const JointColumn& column : task.layout.columns_of(block)) {
                if (!in_place && is_packed(column)) continue;  // overwritten
                for (const JointColumn::Member& member : column.members) clear(member.bundle);
            }
        }
    }

    /// The cells of a block themselves, cleared, if they are laid out like its tables: then rows
    /// are added where they belong. Null otherwise.
    std::uint64_t* tables_of(const ColumnBlock& block) const {
        if (!bins_.has_equal_cells() || &task_.layout != &bins_.plain()) return nullptr;
        for (const JointColumn& column : task_.layout.columns_of(block)) {
            if (!is_packed(column)) return nullptr;
        }
        return task_.to.packed(block.first_column);
    }

    /// Whether a column's table can hold all rows of the task.
    bool is_packed(const JointColumn& column) const {
        return std::all_of(
            column.members.begin(), column.members.end(),
            [this](const auto& member) { return task_.to.is_packed(member.bundle); });
    }

    /// Puts a column's table in place of the cells of its bundles if it holds all rows, otherwise
    /// adds it to them; clears it.
    template <class Cell>
    void take(const JointColumn& column, Cell* table) const {
        const bool is_all = is_packed(column);
        // From the member of the largest stride down: its codes are stretches of the table. Once it
        // has its sums the stretches are laid over each other, and the table is that of the others.
        for (std::size_t m = column.members.size(); m-- > 1;) {
            const JointColumn::Member& member = column.members[m];
            std::array<Cell, kMostCells> cells{};
            for (std::size_t code = 0; code < member.n_codes; ++code) {
                Cell* stretch = table + code * member.stride;
                for (std::size_t i = 0; i < member.stride; ++i) cells[code] += stretch[i];
                if (code == 0) continue;
                for (std::size_t i = 0; i < member.stride; ++i) table[i] += stretch[i];
                std::fill_n(stretch, member.stride, Cell{});
            }
            take(member.bundle, cells.data(), is_all);
        }
        take(column.members[0].bundle, table, is_all);
    }

  private:
    void clear(std::size_t bundle) const {
        const std::size_t n = bins_.n_cells(bundle);
        if (task_.to.is_packed(bundle)) {
            std::fill_n(task_.to.packed(bundle), n, 0);
            return;
        }
        const WideCells to = task_.to.wide(bundle);
        std::fill_n(to.gradient, n, 0);
        std::fill_n(to.weight, n, 0);
        std::fill_n(to.hessian, n, 0);
    }

    void take(std::size_t bundle, std::uint64_t* table, bool is_all) const {
        const std::size_t n = bins_.n_cells(bundle);
        if (!task_.to.is_packed(bundle)) {
            return active_flush()(table, n, packing_, task_.to.wide(bundle));
        }
        std::uint64_t* to = task_.to.packed(bundle);
        if (is_all) {
            std::copy_n(table, n, to);
        } else {
            for (std::size_t i = 0; i < n; ++i) to[i] += table[i];
        }
        std::fill_n(table, n, 0);
    }

    template <class Cell>
    void take(std::size_t bundle, Cell* table, bool /*is_all*/) const {
        const std::size_t n = bins_.n_cells(bundle);
        const WideCells to = task_.to.wide(bundle);
        const bool has_hessians = to.hessian != to.weight;
        for (std::size_t i = 0; i < n; ++i) {
            const auto sums = static_cast<GradientSums>(table[i]);
            to.gradient[i] += sums.gradient;
            if (has_hessians) to.hessian[i] += sums.hessian;
            to.weight[i] += sums.weight;
        }
        std::fill_n(table, n, Cell{});
    }

    const TrainingBins& bins_;
    const Packing& packing_;
    const Task& task_;
};

/// The tables of a task in a thread's memory. Several chunks: every column has a table of its own.
/// One: all blocks use those of the first.
template <class Cell>
class HistogramBuilder::Tables {
  public:
    Tables(std::vector<Cell>& cells, const Task& task)
        : is_one_chunk(task.rows.size <= kChunkRows),
          first_column_(task.blocks.front().first_column) {
        const ColumnBlock& last = task.blocks.back();
        const std::size_t n =
            is_one_chunk ? kBlockColumns : last.first_column + last.width - first_column_;
        if (cells.size() < n * kMostCells) cells.resize(n * kMostCells);
        cells_ = cells.data();
    }
    Cell* of(const ColumnBlock& block) const {
        return cells_ + (is_one_chunk ? 0 : block.first_column - first_column_) * kMostCells;
    }

    const bool is_one_chunk;

  private:
    std::size_t first_column_;
    Cell* cells_;
};

/// Words of kChunkRows rows at most, then a flush of the tables into wide cells. Columns whose
/// cells cannot overflow keep their tables to the end.
void HistogramBuilder::add_packed(const PackedGradients& gradients, const Task& task) const {
    const Target target(bins_, gradients.packing(), task);
    const Tables<std::uint64_t> tables(Workspace::of_thread().cells, task);
    const auto take = [&](const ColumnBlock& block, bool at_end) {
        std::uint64_t* table = tables.of(block);
        for (const JointColumn& column : task.layout.columns_of(block)) {
            if (tables.is_one_chunk || target.is_packed(column) == at_end)
                target.take(column, table);
            table += kMostCells;
        }
    };
    const Adders& add = gradients.has_hessians() ? kAddersWithHessian : kAddersWithoutHessian;
    const std::int32_t* packed = gradients.packed_rows();
    const std::size_t stride = task.layout.columns.size();
    for (;;) {
        const std::size_t begin = kChunkRows * task.next_chunk->fetch_add(1);
        if (begin >= task.rows.size) break;
        const RowRange rows = task.rows.part(begin, std::min(kChunkRows, task.rows.size - begin));
        for (const ColumnBlock& block : task.blocks) {
            const std::uint8_t* bins = task.layout.rows + block.first_column;
            std::uint64_t* in_place = target.tables_of(block);
            std::uint64_t* cells = in_place != nullptr ? in_place : tables.of(block);
            if (rows.listed == nullptr) {
                add.all[block.width - 1](bins + rows.first * stride, stride, packed + rows.first,
                                         rows.size, cells);
            } else {
                add.listed[block.width - 1](bins, stride, packed, rows.listed, rows.size, cells);
            }
            if (in_place == nullptr) take(block, false);
        }
    }
    if (tables.is_one_chunk) return;
    for (const ColumnBlock& block : task.blocks) {
        if (target.tables_of(block) == nullptr) take(block, true);
    }
}

void HistogramBuilder::add_wide(const PackedGradients& gradients, const Task& task) const {
    const std::size_t most_rows = gradients.most_rows_in_pair();
    if (most_rows >= kChunkRows) return add_sums_of<SumPair>(gradients, task, most_rows);
    add_sums_of<GradientSums>(gradients, task, task.rows.size);
}

/// Sums in place of words: for weighted rows, and where the grid is too fine to pack. Tables are
/// flushed into wide cells before they hold more than most_rows.
template <class Cell>
void HistogramBuilder::add_sums_of(const PackedGradients& gradients, const Task& task,
                                   std::size_t most_rows) const {
    const Target target(bins_, gradients.packing(), task);
    auto& [cells, of_rows] = Workspace::of_thread().of<Cell>();
    const Tables<Cell> tables(cells, task);
    of_rows.resize(kChunkRows);
    const auto take = [&](const ColumnBlock& block) {
        Cell* table = tables.of(block);
        for (const JointColumn& column : task.layout.columns_of(block)) {
            target.take(column, table);
            table += kMostCells;
        }
    };
    const std::size_t stride = task.layout.columns.size();
    std::size_t n_added = 0;
    for (;;) {
        const std::size_t begin = kChunkRows * task.next_chunk->fetch_add(1);
        if (begin >= task.rows.size) break;
        const RowRange rows = task.rows.part(begin, std::min(kChunkRows, task.rows.size - begin));
        for (std::size_t i = 0; i < rows.size; ++i) {
            gradients.prefetch_row(rows.at(std::min(i + kPrefetchRows, rows.size - 1)));
            of_rows[i] = static_cast<Cell>(gradients.of_row(rows.at(i)));
        }
        if (n_added + rows.size > most_rows) {
            for (const ColumnBlock& block : task.blocks) take(block);
            n_added = 0;
        }
        n_added += rows.size;
        for (const ColumnBlock& block : task.blocks) {
            kSumAdders<Cell>[block.width - 1](task.layout.rows + block.first_column, stride, rows,
                                              of_rows.data(), tables.of(block));
            if (tables.is_one_chunk) take(block);
        }
    }
    if (tables.is_one_chunk) return;
    for (const ColumnBlock& block : task.blocks) take(block);
}

void HistogramBuilder::merge(GradientHistogram& to, std::size_t n_parts, bool has_hessians) {
    const auto add = [](auto* sums, const auto* more, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) sums[i] += more[i];
    };
    parallel_blocks(n_threads_, bins_.n_bundles(), 4, [&](std::size_t begin, std::size_t end) {
        for (std::size_t bundle = begin; bundle < end; ++bundle) {
            const std::size_t n = bins_.n_cells(bundle);
            for (std::size_t p = 1; p < n_parts; ++p) {
                GradientHistogram& part = parts_[p - 1];
                if (to.is_packed(bundle)) {
                    add(to.packed(bundle), part.packed(bundle), n);
                    continue;
                }
                const WideCells sums = to.wide(bundle);
                const WideCells more = part.wide(bundle);
                add(sums.gradient, more.gradient, n);
                add(sums.weight, more.weight, n);
                if (has_hessians) add(sums.hessian, more.hessian, n);
            }
        }
    });
}

GradientSums HistogramBuilder::total_of(const PackedGradients& gradients, const RowRange& rows,
                                        GradientHistogram& histogram) const {
    GradientSums total;
    if (!bins_.bundle(0).is_shared()) {  // those of one feature stand first
        for (std::size_t bin = 0; bin < bins_.n_cells(0); ++bin) {
            total += histogram.cell(gradients.packing(), 0, bin);
        }
        return total;
    }
    std::vector<GradientSums> of_chunk((rows.size + kChunkRows - 1) / kChunkRows);
    parallel_blocks(n_threads_, rows.size, kChunkRows, [&](std::size_t begin, std::size_t end) {
        GradientSums& sums = of_chunk[begin / kChunkRows];
        for (std::size_t i = begin; i < end; ++i) {
            sums += gradients.of_row(rows.at(i));
        }
    });
    for (const GradientSums& sums : of_chunk) total += sums;
    return total;
}

void HistogramBuilder::take_out(const PackedGradients& gradients,
                                std::span<const std::uint32_t> rows, GradientHistogram& from,
                                std::size_t bundle) const {
    const std::uint8_t* codes = bins_.codes(bundle);
    std::uint64_t* cells = from.packed(bundle);
    const Packing packing = gradients.packing();
    const std::int32_t* packed = gradients.packed_rows();
    for (const std::uint32_t row : rows) cells[codes[row]] -= packing.word(packed[row]);
}

void HistogramBuilder::subtract(const Packing& packing, GradientHistogram& parent,
                                GradientHistogram& child, GradientHistogram& to, std::size_t bundle,
                                std::size_t n_cells) {
    if (parent.is_packed(bundle)) {
        return active_subtract_words()(to.packed(bundle), parent.packed(bundle),
                                       child.packed(bundle), n_cells);
    }
    active_subtract()({parent.wide(bundle), child.is_packed() ? WideCells{} : child.wide(bundle),
                       child.is_packed() ? child.packed(bundle) : nullptr,
                       to.is_packed() ? WideCells{} : to.wide(bundle),
                       to.is_packed() ? to.packed(bundle) : nullptr},
                      n_cells, packing);
}

}  // namespace spinney
