/// Cells of equal width laid over the cut points of a feature: one look-up finds the bin of a
/// number, or nearly.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace spinney {

/// With more cuts per cell than this, two steps over sixteen groups are faster.
inline constexpr int kMostGridSteps = 3;

/// Cells of equal width on the number line. Never decreasing in x, whatever is rounded.
template <std::floating_point T>
struct LinearCells {
    T low;
    T scale;  ///< cells per unit
    T first;  ///< number of the first cell: 0, but no compiler may know and make it a branch
    T last;   ///< number of the last cell

    std::int32_t operator()(T x) const {
        const T place = (x - low) * scale;
        const T above = place > first ? place : first;  // NaN too
        return static_cast<std::int32_t>(above < last ? above : last);
    }
};

/// Cells of equal width on the numbers' bits, which are in the order of the numbers: nearly those
/// of the logarithm, for features of many magnitudes.
template <std::floating_point T>
struct BitCells {
    using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    using Unsigned = std::make_unsigned_t<Bits>;

    Bits low;
    Bits high;  ///< that of the last cut, so that nothing lies behind the last cell
    int shift;

    static Bits ordered_bits(T x) {
        const auto bits = std::bit_cast<Bits>(x + T{0});  // -0 becomes 0: they are one number
        constexpr int kSign = 8 * sizeof(T) - 1;
        return bits ^ ((bits >> kSign) & ~(Bits{1} << kSign));
    }

    std::int32_t operator()(T x) const {
        const Bits bits = ordered_bits(x);
        const Bits above = bits > low ? bits : low;
        const Bits inside = above < high ? above : high;
        const Unsigned distance = static_cast<Unsigned>(inside) - static_cast<Unsigned>(low);
        return static_cast<std::int32_t>(distance >> shift);
    }
};

/// Where to begin counting cuts below a number: those of all cells before its own are below it, so
/// only those of its own cell need comparing. Empty unless few cuts share a cell.
template <std::floating_point T>
class CutGrid {
  public:
    CutGrid() = default;
    /// The cuts must be strictly increasing, 254 at most.
    explicit CutGrid(std::span<const T> cuts);

    bool empty() const { return first_cut_.empty(); }
    bool is_linear() const { return is_linear_; }
    /// Most cuts that share a cell.
    int n_steps() const { return n_steps_; }
    const LinearCells<T>& linear() const { return linear_; }
    const BitCells<T>& bits() const { return bits_; }
    /// first_cut()[cell]: number of cuts in the cells before; first_cut()[nan_cell()]: the bin of
    /// missing values, which no cut is below.
    const std::uint8_t* first_cut() const { return first_cut_.data(); }
    std::int32_t nan_cell() const { return static_cast<std::int32_t>(first_cut_.size()) - 1; }

  private:
    template <class Cells>
    bool lay(std::span<const T> cuts, const Cells& cell_of, std::size_t n_cells, int most_steps);
    bool lay_both(std::span<const T> cuts, std::size_t n_cells, int most_steps);

    std::vector<std::uint8_t> first_cut_;
    LinearCells<T> linear_{};
    BitCells<T> bits_{};
    bool is_linear_ = true;
    int n_steps_ = 0;
};

extern template class CutGrid<float>;
extern template class CutGrid<double>;

}  // namespace spinney
