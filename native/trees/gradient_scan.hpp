/// The kernels of split search: sums of cells, and the best cut of one feature.
#pragma once

#include <array>
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

/// What the quality of a cut depends on besides the sums on its left, in integer units. A cut
/// counts if the weight and the hessian on its left are within these limits.
struct CutTerms {
    double gradient;  ///< total of the node
    double span;      ///< total of its hessians, and l2 for each side
    double l1;
    double l2;
    std::int64_t least_weight;
    std::int64_t most_weight;
    std::int64_t least_hessian;  ///< at least 1 where l2 is 0: no cut divides by 0
    std::int64_t most_hessian;
    double to_beat = 0.0;  ///< cuts of a lower quality need not be found
};

struct Cut {
    double quality = -1.0;  ///< in squares of gradient units; below 0: none
    std::size_t bin = 0;
    std::uint64_t left = 0;  ///< of packed cells whose sums fit a word: what is on its left
};

/// Adds packed cells to wide ones, and clears them.
using FlushCells = void(std::uint64_t* cells, std::size_t n, const Packing& packing,
                        const WideCells& to);
/// to = parent - child, all packed; to may be parent.
using SubtractWords = void(std::uint64_t* to, const std::uint64_t* parent,
                           const std::uint64_t* child, std::size_t n);
/// to = parent - child; the child may be packed (then `wide` is not read), and so may `to`.
struct Subtraction {
    WideCells parent;
    WideCells wide_child;
    const std::uint64_t* packed_child;  ///< null: wide
    WideCells wide_to;
    std::uint64_t* packed_to;  ///< null: wide
};
using SubtractCells = void(const Subtraction& task, std::size_t n, const Packing& packing);
/// The best cut behind one of n cells, the lowest among equals, if it reaches terms.to_beat;
/// `start` is on the left of every cut. With a and b the gradients on both sides (shrunk by l1) and
/// c and d the hessians (plus l2), the loss removed is half of a^2/c + b^2/d - G^2/(H + l2), and
///     a^2/c + b^2/d = ((a d - b c)^2 / (c d) + (a + b)^2) / (c + d).
/// c + d is the same for every cut, and so is a + b unless l1 shrinks; quality is the rest, in
/// which nothing large cancels: one division per cut, and none where a product tells that cuts are
/// worse than one that was found. Without l1, a d - b c = a (c + d) - G c. The
/// integers are below 2^51, so they are exact as doubles; sums of cells hold at most what the
/// node's rows add up to, so packed fields do not overflow.
using BestCutPacked = Cut(const std::uint64_t* cells, std::size_t n, std::uint64_t start,
                          const CutTerms& terms, const Packing& packing);
/// The same of packed cells whose sums do not fit a word: they are added up unpacked.
using BestCutNarrow = Cut(const std::uint64_t* cells, std::size_t n, const GradientSums& start,
                          const CutTerms& terms, const Packing& packing);
using BestCutWide = Cut(const WideCells& cells, std::size_t n, const GradientSums& start,
                        const CutTerms& terms);

FlushCells flush_cells_portable, flush_cells_avx2, flush_cells_avx512;
SubtractWords subtract_words_portable, subtract_words_avx2, subtract_words_avx512;
SubtractCells subtract_cells_portable, subtract_cells_avx2, subtract_cells_avx512;
BestCutPacked best_cut_packed_portable, best_cut_packed_avx2, best_cut_packed_avx512;
BestCutNarrow best_cut_narrow_portable, best_cut_narrow_avx2, best_cut_narrow_avx512;
BestCutWide best_cut_wide_portable, best_cut_wide_avx2, best_cut_wide_avx512;

}  // namespace spinney
