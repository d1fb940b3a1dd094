/// Gradients as integers, packed so that one 64-bit addition adds a row to a cell.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "native/base/large_pages.hpp"
#include "native/base/prefetch.hpp"

namespace spinney {

/// Sums over some rows: weighted gradient and hessian in units of their grids, and the weight.
struct GradientSums {
    std::int64_t gradient = 0;
    std::int64_t hessian = 0;
    std::int64_t weight = 0;

    GradientSums& operator+=(const GradientSums& other) {
        gradient += other.gradient;
        hessian += other.hessian;
        weight += other.weight;
        return *this;
    }
    GradientSums operator-(const GradientSums& other) const {
        return {gradient - other.gradient, hessian - other.hessian, weight - other.weight};
    }
};

/// How three sums share 64 bits: gradient (signed) on top, then hessian, then the count of rows.
///
/// Overflow is impossible: at most `max_rows` rows are added to a cell before it is emptied, a row
/// adds at most 2^(gradient_bits - 1) - 1 in absolute value, 2^hessian_bits - 1 and 1, and the
/// fields are wide enough for max_rows times that. The signed field is on top, so a borrow leaves
/// the word.
struct Packing {
    int hessian_shift;  ///< place of the hessian; equal to the width of the count
    int gradient_shift;
    int gradient_bits;  ///< of one row, with sign
    int hessian_bits;   ///< of one row; 0: every hessian is 1, and the count stands for it
    std::size_t max_rows;

    /// The word of one row, what is added to its cells, from four bytes: the hessian in the low
    /// bits, the gradient above.
    constexpr std::uint64_t word(std::int32_t row) const {
        const auto gradient = static_cast<std::uint64_t>(std::int64_t{row >> hessian_bits});
        const auto mask = (std::uint64_t{1} << hessian_bits) - 1;
        const std::uint64_t hessian = static_cast<std::uint64_t>(row) & mask;
        return (gradient << gradient_shift) + (hessian << hessian_shift) + 1;
    }

    /// The word of some rows.
    std::uint64_t pack(const GradientSums& sums) const {
        const auto hessian = static_cast<std::uint64_t>(hessian_bits == 0 ? 0 : sums.hessian);
        return (static_cast<std::uint64_t>(sums.gradient) << gradient_shift) +
               (hessian << hessian_shift) + static_cast<std::uint64_t>(sums.weight);
    }

    GradientSums unpack(std::uint64_t cell) const {
        const std::uint64_t count = cell & ((std::uint64_t{1} << hessian_shift) - 1);
        const std::uint64_t middle =
            (cell >> hessian_shift) & ((std::uint64_t{1} << (gradient_shift - hessian_shift)) - 1);
        const std::int64_t gradient = static_cast<std::int64_t>(cell) >> gradient_shift;
        return {gradient, static_cast<std::int64_t>(hessian_bits == 0 ? count : middle),
                static_cast<std::int64_t>(count)};
    }
};

/// 14 + 13 bits per row, and 26 + 25 + 13 bits for the sums of 4096 rows.
inline constexpr Packing kWithHessian = {13, 38, 14, 13, 4096};
/// 24 bits per row, and 40 + 24 bits for the sums of 65 535 rows.
inline constexpr Packing kWithoutHessian = {24, 24, 24, 0, 65535};
/// Not packed: a finer grid. For few rows, where packing saves nothing, and for gradients of which
/// a few are so large that the others would vanish.
inline constexpr Packing kFine = {0, 0, 30, 30, 0};
/// The same with hessians of which 4096 rows fit half a word: enough for most tables whose hessians
/// are far apart, and faster.
inline constexpr Packing kFineGradients = {0, 0, 30, 20, 0};

/// Whether max_rows of the largest rows fit every field.
constexpr bool cannot_overflow(const Packing& packing) {
    const std::uint64_t rows = packing.max_rows;
    const std::uint64_t most_gradient = (std::uint64_t{1} << (packing.gradient_bits - 1)) - 1;
    const std::uint64_t most_hessian = (std::uint64_t{1} << packing.hessian_bits) - 1;
    const int hessian_width = packing.gradient_shift - packing.hessian_shift;
    return rows < (std::uint64_t{1} << packing.hessian_shift) &&
           rows * most_hessian < (std::uint64_t{1} << hessian_width) &&
           rows * most_gradient < (std::uint64_t{1} << (63 - packing.gradient_shift));
}
static_assert(cannot_overflow(kWithHessian) && cannot_overflow(kWithoutHessian));

/// Tables that weigh at most this much are grown on the fine grid...
inline constexpr double kFewRows = 512.0;
/// ... unless their histograms have more cells than this: then going through them takes the time,
/// and cells of one word take a third of it.
inline constexpr std::size_t kFewCells = std::size_t{1} << 16;
/// The mean gradient must be this many steps of the packed grid, or the fine one is used. Rounding
/// then changes a gradient by a thirtieth of the mean at most, and without direction.
inline constexpr double kLeastMeanSteps = 16.0;
/// Hessians below so many steps are lost: rounding changes them by an eighth or more, and rows with
/// none at all can never make a leaf of their own. A grid may lose one row in so many.
inline constexpr double kLeastSteps = 4.0;
inline constexpr double kMostLost = 1.0 / 16.0;

/// What a tree is grown from: one entry per row of the table.
///
/// Whole weights repeat: they multiply the integers of a row, so that weight 3 is the row three
/// times. Other weights are already in the gradients and hessians, where their products find the
/// grid that suits them; here they only count, for the least weight of a leaf. Weights of all rows
/// add up to less than 2^32.
struct GradientInput {
    std::span<const float> gradients;
    std::span<const float> hessians;        ///< empty: all 1
    std::span<const std::int64_t> weights;  ///< empty: all 1
    bool weights_repeat = true;
    double weight_scale = 1.0;       ///< weight = integer * scale, a power of two; 1 if they repeat
    float largest_gradient = -1.0F;  ///< in magnitude, of all rows; negative: not known
    float largest_hessian = -1.0F;
    /// Whether rows of small hessians matter as the others do. Of log-odds they do not: there a
    /// small hessian has a small gradient.
    bool every_hessian_counts = true;

    std::int64_t repeats(std::size_t row) const {
        return weights.empty() || !weights_repeat ? 1 : weights[row];
    }
    std::int64_t weight(std::size_t row) const { return weights.empty() ? 1 : weights[row]; }
};

/// The gradients of one tree on their grids.
///
/// The grid depends on the largest gradient, on whether hessians differ, on the total weight, on
/// the mean gradient, on the share of small hessians and on the number of cells: on nothing that
/// changes when a row of weight 3 becomes three rows, and on no row that is not grown on.
class PackedGradients {
  public:
    /// rows: the ones grown on; empty: all. n_cells: of a histogram. Failure(kInvalidInput) if a
    /// gradient is infinite.
    void fill(const GradientInput& input, std::span<const std::uint32_t> rows, int n_threads,
              std::size_t n_cells = 0);

    const Packing& packing() const { return packing_; }
    /// Whether rows have words; otherwise they have sums.
    bool is_packed() const { return packed_; }
    bool has_hessians() const { return has_hessians_; }
    GradientSums of_row(std::size_t row) const {
        if (packed_) {
            const int shift = packing_.hessian_bits;
            const std::int32_t mask = (std::int32_t{1} << shift) - 1;
            return {gradients_[row] >> shift, has_hessians_ ? gradients_[row] & mask : 1, 1};
        }
        const std::int64_t w = input_.repeats(row);
        return {w * gradients_[row], w * (has_hessians_ ? hessians_[row] : 1), input_.weight(row)};
    }
    /// Rows whose hessians add up to less than 2^32 steps, whichever they are; not packed.
    std::size_t most_rows_in_pair() const {
        return static_cast<std::size_t>(0xffffffff / most_hessian_);
    }
    /// Asks for what of_row needs.
    void prefetch_row(std::size_t row) const {
        prefetch(gradients_.data() + row);
        if (!hessians_.empty()) prefetch(hessians_.data() + row);
        if (!input_.weights.empty()) prefetch(input_.weights.data() + row);
    }
    /// One number per row, for Packing::word.
    const std::int32_t* packed_rows() const { return gradients_.data(); }

    double gradient_scale() const { return gradient_scale_; }
    double hessian_scale() const { return hessian_scale_; }
    /// The power of two that puts the largest just below 2^bits.
    double gradient_step(int bits) const;
    double hessian_step(int bits) const;
    /// Rows grown on, counting whole weights as repetitions.
    double n_repeats() const { return n_repeats_; }

  private:
    void place(const GradientInput& input, const Packing& packing, int n_threads);
    double mean_steps(const GradientInput& input, std::span<const std::uint32_t> rows,
                      int n_threads) const;
    bool loses_hessians(const GradientInput& input, std::span<const std::uint32_t> rows,
                        int n_threads) const;

    Packing packing_ = kFine;
    bool packed_ = false;
    bool has_hessians_ = false;
    GradientInput input_;
    LargeVector<std::int32_t> gradients_;  ///< packed: hessian in the low bits, gradient above
    LargeVector<std::int32_t> hessians_;   ///< not packed, and hessians differ
    float largest_gradient_ = 0.0F;
    float largest_hessian_ = 0.0F;
    double gradient_scale_ = 1.0;  ///< gradient = integer * scale; a power of two
    double hessian_scale_ = 1.0;
    double n_repeats_ = 0.0;
    std::int64_t most_repeats_ = 1;  ///< of one row
    double most_hessian_ = 1.0;      ///< of a row, in steps, as often as it is repeated
    std::int64_t all_steps_ = 0;     ///< sum of the magnitudes of all gradients, in steps
};

}  // namespace spinney
