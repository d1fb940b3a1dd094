/// The kernels of split search: running sums over the bins of one feature, and the best cut.
#pragma once

#include <cstddef>
#include <cstdint>

#include "native/trees/gradient_histogram.hpp"

namespace spinney {

/// Integer units → real numbers; powers of two.
struct ScanScales {
    double gradient = 1.0;
    double hessian = 1.0;
    double weight = 1.0;
};

/// Sums of the rows up to and including each bin: as integers, and as real numbers. The integers
/// are below 2^51 and the scales powers of two, so the conversion is exact. Some entries behind
/// the last bin may be read, and are ignored.
struct RunningSums {
    double gradient[kMostCells + 8] = {};
    double hessian[kMostCells + 8] = {};
    double weight[kMostCells + 8] = {};
    std::uint64_t packed[kMostCells];  ///< of packed cells
    std::int64_t wide_gradient[kMostCells];
    std::int64_t wide_hessian[kMostCells];
    std::int64_t wide_weight[kMostCells];
};

/// What the quality of a cut depends on besides the running sums.
struct CutTerms {
    double gradient;  ///< total of the node
    double hessian;
    double l1;
    double l2;
    double extra_gradient = 0.0;  ///< of missing values, when they go left
    double extra_hessian = 0.0;
};

struct Cut {
    double quality = -1.0;  ///< below 0: none
    std::size_t bin = 0;
};

/// Adds packed cells to wide ones, and clears them.
using FlushCells = void(std::uint64_t* cells, std::size_t n, const Packing& packing,
                        const WideCells& to);
using RunPacked = void(const std::uint64_t* cells, std::size_t n, const Packing& packing,
                       const ScanScales& scales, RunningSums& sums);
using RunWide = void(const WideCells& cells, std::size_t n, const ScanScales& scales,
                     RunningSums& sums);
/// The best cut behind a bin in [first, last), the lowest among equals. With a and b the gradients
/// on both sides (shrunk by l1) and c and d the hessians (plus l2), the loss removed is half of
/// a^2/c + b^2/d - G^2/(H + l2), and
///     a^2/c + b^2/d = ((a d - b c)^2 / (c d) + (a + b)^2) / (c + d).
/// c + d is the same for every cut, and so is a + b unless l1 shrinks; quality is the rest, in
/// which nothing large cancels: one division per cut.
using BestCut = Cut(const RunningSums& sums, std::size_t first, std::size_t last,
                    const CutTerms& terms);

FlushCells flush_cells_portable, flush_cells_avx2, flush_cells_avx512;
RunPacked run_packed_portable, run_packed_avx2, run_packed_avx512;
RunWide run_wide_portable, run_wide_avx2, run_wide_avx512;
BestCut best_cut_portable, best_cut_avx2, best_cut_avx512;

}  // namespace spinney
