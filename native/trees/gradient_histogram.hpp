/// Sums of gradients of a node's rows, per bundle and code: the hot loop of boosting.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "native/trees/packed_gradients.hpp"
#include "native/trees/training_bins.hpp"

namespace spinney {

/// The sums in three arrays, one entry per cell. Where all hessians are 1, hessian == weight.
struct WideCells {
    std::int64_t* gradient = nullptr;
    std::int64_t* hessian = nullptr;
    std::int64_t* weight = nullptr;

    GradientSums at(std::size_t cell) const {
        return {gradient[cell], hessian[cell], weight[cell]};
    }
    WideCells from(std::size_t cell) const {
        return {gradient + cell, hessian + cell, weight + cell};
    }
};

/// Some of a node's rows: listed, or all from `first` on.
struct RowRange {
    const std::uint32_t* listed = nullptr;  ///< null: rows first, first + 1, ...
    std::size_t first = 0;
    std::size_t size = 0;

    std::size_t at(std::size_t i) const { return listed == nullptr ? first + i : listed[i]; }
    RowRange part(std::size_t begin, std::size_t n) const {
        return {listed == nullptr ? nullptr : listed + begin, first + begin, n};
    }
};

/// A node's histogram: packed (one word per cell) while its rows fit the packing, otherwise wide.
/// A bundle none of whose cells holds more rows than fit is always packed: cells cannot overflow,
/// though the sum of several may. Code 0 of several features may, too. Nobody reads it: what is in
/// the usual bin of a feature is the node's total without its other bins.
///
/// Invariant: histogram(parent) = histogram(left) + histogram(right), exactly.
class GradientHistogram {
  public:
    explicit GradientHistogram(const TrainingBins& bins) : bins_(&bins) {}

    /// Takes the form for this many rows; the cells are not filled.
    void reset(const PackedGradients& gradients, std::size_t n_rows);

    /// Whether all bundles are packed, and the sums of all their cells fit a word.
    bool is_packed() const { return packed_form_; }
    bool is_packed(std::size_t bundle) const {
        return packed_form_ || bins_->most_in_cell(bundle) <= most_in_word_;
    }
    std::uint64_t* packed(std::size_t bundle) { return packed_.data() + bins_->first_cell(bundle); }
    WideCells wide(std::size_t bundle) { return wide_cells().from(bins_->first_cell(bundle)); }
    WideCells wide_cells();
    GradientSums cell(const Packing& packing, std::size_t bundle, std::size_t code);

  private:
    const TrainingBins* bins_;
    bool packed_form_ = false;
    std::size_t most_in_word_ = 0;  ///< rows that a word holds; 0: nothing is packed
    bool has_hessians_ = false;
    std::vector<std::uint64_t> packed_;
    std::vector<std::int64_t> wide_;
};

/// Fills histograms; keeps its tables between calls.
class HistogramBuilder {
  public:
    HistogramBuilder(const TrainingBins& bins, int n_threads)
        : bins_(bins), n_threads_(n_threads) {}

    /// The whole histogram, by threads that share its rows or its columns.
    void build(const PackedGradients& gradients, const RowRange& rows, GradientHistogram& to);

    /// Whether there are so many rows that threads should share them.
    bool shares_rows(const GradientHistogram& to, std::size_t n_rows) const;
    void build_by_rows(const PackedGradients& gradients, const RowRange& rows,
                       GradientHistogram& to);
    /// Some blocks of a layout, by the calling thread; `to` has its form already.
    void build_blocks(const PackedGradients& gradients, const RowRange& rows,
                      const RowLayout& layout, std::span<const ColumnBlock> blocks,
                      GradientHistogram& to) const;

    /// One bundle of the other child, in place of the parent's: parent - child. `to` may be
    /// `parent`; it is another one where the difference is small enough to be packed again.
    static void subtract(const Packing& packing, GradientHistogram& parent,
                         GradientHistogram& child, GradientHistogram& to, std::size_t bundle,
                         std::size_t n_cells);

    /// The sums of all rows of a histogram: of the cells of one bundle, or of the rows themselves
    /// where code 0 of every bundle may have left its word.
    GradientSums total_of(const PackedGradients& gradients, const RowRange& rows,
                          GradientHistogram& histogram) const;

    /// Takes rows out of one bundle of a packed histogram, one by one.
    void take_out(const PackedGradients& gradients, std::span<const std::uint32_t> rows,
                  GradientHistogram& from, std::size_t bundle) const;

  private:
    struct Task;
    class Target;
    template <class Cell>
    class Tables;

    void add_packed(const PackedGradients& gradients, const Task& task) const;
    void add_wide(const PackedGradients& gradients, const Task& task) const;
    template <class Cell>
    void add_sums_of(const PackedGradients& gradients, const Task& task,
                     std::size_t most_rows) const;
    void merge(GradientHistogram& to, std::size_t n_parts, bool has_hessians);

    const TrainingBins& bins_;
    int n_threads_;
    std::vector<GradientHistogram> parts_;  ///< of rows; the first part is the histogram itself
};

}  // namespace spinney
