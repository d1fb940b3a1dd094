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

/// The bits of a number as an integer without a sign, in the order of the numbers.
template <std::floating_point T>
struct OrderedBits {
    using Type = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

    [[gnu::always_inline]] static Type of(T x) {
        using Signed = std::make_signed_t<Type>;
        constexpr int kSign = 8 * sizeof(T) - 1;
        const auto bits = std::bit_cast<Type>(x + T{0});  // -0 becomes 0: they are one number
        const auto if_negative = static_cast<Type>(static_cast<Signed>(bits) >> kSign);
        return bits ^ (if_negative | Type{1} << kSign);
    }
};

/// Cells of equal width on the number line. Never decreasing in x, whatever is rounded.
template <std::floating_point T>
struct LinearCells {
    T low;
    T scale;  ///< cells per unit
    T first;  ///< number of the first cell: 0, but no compiler may know and make it a branch
    T last;   ///< number of the last cell

    [[gnu::always_inline]] std::int32_t operator()(T x, typename OrderedBits<T>::Type) const {
        const T place = (x - low) * scale;
        const T above = place > first ? place : first;  // NaN too
        return static_cast<std::int32_t>(above < last ? above : last);
    }
};

/// Cells of equal width on the numbers' bits: nearly those of the logarithm, for features of many
/// magnitudes.
template <std::floating_point T>
struct BitCells {
    using Bits = typename OrderedBits<T>::Type;

    Bits low;
    Bits high;  ///< that of the last cut, so that nothing lies behind the last cell
    int shift;

    [[gnu::always_inline]] std::int32_t operator()(T, Bits bits) const {
        const Bits above = bits > low ? bits : low;
        const Bits inside = above < high ? above : high;
        return static_cast<std::int32_t>((inside - low) >> shift);
    }
};

/// What a search needs of a grid.
template <std::floating_point T>
struct GridTables {
    /// first_cut[cell]: number of cuts in the cells before; first_cut[nan_cell]: the bin of missing
    /// values, which no cut is below.
    const std::uint8_t* first_cut;
    std::int32_t nan_cell;
    /// Ordered bits of the cuts, then the largest there are, 256 in all: integers are compared and
    /// counted in half the instructions of floats.
    const typename OrderedBits<T>::Type* cut_bits;
    int n_steps;  ///< most cuts that share a cell
    bool is_linear;
    LinearCells<T> linear;
    BitCells<T> bits;
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
    GridTables<T> tables() const {
        return {first_cut_.data(),
                static_cast<std::int32_t>(first_cut_.size()) - 1,
                cut_bits_.data(),
                n_steps_,
                is_linear_,
                linear_,
                bits_};
    }

  private:
    template <class Cells>
    bool lay(std::span<const T> cuts, const Cells& cell_of, std::size_t n_cells, int most_steps);
    bool lay_both(std::span<const T> cuts, std::size_t n_cells, int most_steps);

    std::vector<std::uint8_t> first_cut_;
    std::vector<typename OrderedBits<T>::Type> cut_bits_;
    LinearCells<T> linear_{};
    BitCells<T> bits_{};
    bool is_linear_ = true;
    int n_steps_ = 0;
};

extern template class CutGrid<float>;
extern template class CutGrid<double>;

}  // namespace spinney
