/// Gradients as integers, packed so that one 64-bit addition adds a row to a cell.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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
/// Not packed: three words per row, and a finer grid. For few rows, where packing saves nothing.
inline constexpr Packing kFine = {0, 0, 30, 30, 0};

/// Tables that weigh at most this much are grown on the fine grid.
inline constexpr double kFewRows = 512.0;

/// What a tree is grown from: one entry per row of the table.
///
/// Whole weights repeat: they multiply the integers of a row, so that weight 3 is the row three
/// times. Other weights are already in the gradients and hessians, where their products find the
/// grid that suits them; here they only count, for the least weight of a leaf.
struct GradientInput {
    std::span<const float> gradients;
    std::span<const float> hessians;        ///< empty: all 1
    std::span<const std::int64_t> weights;  ///< empty: all 1
    bool weights_repeat = true;
    double weight_scale = 1.0;  ///< weight = integer * scale, a power of two; 1 if they repeat
    double total_weight = 0.0;

    std::int64_t repeats(std::size_t row) const {
        return weights.empty() || !weights_repeat ? 1 : weights[row];
    }
};

/// The gradients of one tree on their grids.
///
/// The grid depends on the largest gradient, on whether hessians differ and on the total weight: on
/// nothing that changes when a row of weight 3 becomes three rows.
class PackedGradients {
  public:
    void fill(const GradientInput& input, int n_threads);

    const Packing& packing() const { return packing_; }
    bool is_packed() const { return !words_.empty(); }
    std::span<const std::uint64_t> words() const { return words_; }
    std::span<const GradientSums> sums() const { return sums_; }
    GradientSums of_row(std::size_t row) const {
        return is_packed() ? packing_.unpack(words_[row]) : sums_[row];
    }
    double gradient_scale() const { return gradient_scale_; }
    double hessian_scale() const { return hessian_scale_; }

  private:
    Packing packing_ = kFine;
    std::vector<std::uint64_t> words_;  ///< unweighted, beyond a few rows
    std::vector<GradientSums> sums_;    ///< otherwise
    double gradient_scale_ = 1.0;       ///< gradient = integer * scale; a power of two
    double hessian_scale_ = 1.0;
};

}  // namespace spinney
