#include "native/data/cut_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spinney {
namespace {

/// Tables of at most this many cells: a table stays in the first-level cache beside the rows.
constexpr std::size_t kMostCells = 2048;
constexpr std::size_t kFewestCells = 256;

template <class T>
LinearCells<T> linear_cells(std::span<const T> cuts, std::size_t n_cells) {
    const auto cells = static_cast<T>(n_cells);
    // One cell more at either end, for what lies outside the cuts.
    return {cuts.front(), (cells - T{2}) / (cuts.back() - cuts.front()), T{0}, cells - T{1}};
}

template <class T>
BitCells<T> bit_cells(std::span<const T> cuts, std::size_t n_cells) {
    const auto low = OrderedBits<T>::of(cuts.front());
    const auto high = OrderedBits<T>::of(cuts.back());
    int shift = 0;
    while (((high - low) >> shift) >= n_cells) ++shift;
    return {low, high, shift};
}

}  // namespace

template <std::floating_point T>
template <class Cells>
bool CutGrid<T>::lay(std::span<const T> cuts, const Cells& cell_of, std::size_t n_cells,
                     int most_steps) {
    std::vector<int> count(n_cells, 0);
    for (const T cut : cuts) {
        ++count[static_cast<std::size_t>(cell_of(cut, OrderedBits<T>::of(cut)))];
    }
    const int most = *std::max_element(count.begin(), count.end());
    if (most > most_steps) return false;
    n_steps_ = most;
    first_cut_.resize(n_cells + 1);
    int before = 0;
    for (std::size_t cell = 0; cell < n_cells; ++cell) {
        first_cut_[cell] = static_cast<std::uint8_t>(before);
        before += count[cell];
    }
    first_cut_[n_cells] = static_cast<std::uint8_t>(cuts.size() + 1);
    return true;
}

template <std::floating_point T>
bool CutGrid<T>::lay_both(std::span<const T> cuts, std::size_t n_cells, int most_steps) {
    linear_ = linear_cells(cuts, n_cells);
    is_linear_ = std::isfinite(linear_.low) && std::isfinite(linear_.scale) &&
                 linear_.scale > T{0} && lay(cuts, linear_, n_cells, most_steps);
    if (is_linear_) return true;
    bits_ = bit_cells(cuts, n_cells);
    return lay(cuts, bits_, n_cells, most_steps);
}

template <std::floating_point T>
CutGrid<T>::CutGrid(std::span<const T> cuts) {
    // Rounded to a narrower type, cuts may have become equal: no cell would part them.
    const bool increasing = std::adjacent_find(cuts.begin(), cuts.end(),
                                               [](T a, T b) { return !(a < b); }) == cuts.end();
    if (cuts.empty() || !increasing) return;
    cut_bits_.assign(256, std::numeric_limits<typename OrderedBits<T>::Type>::max());
    std::transform(cuts.begin(), cuts.end(), cut_bits_.begin(), OrderedBits<T>::of);
    for (std::size_t n_cells = kFewestCells; n_cells <= kMostCells; n_cells *= 2) {
        if (n_cells >= 2 * cuts.size() && lay_both(cuts, n_cells, 1)) return;
    }
    if (!lay_both(cuts, kMostCells, kMostGridSteps)) first_cut_.clear();
}

template class CutGrid<float>;
template class CutGrid<double>;

}  // namespace spinney
