#include "native/data/bin_search.hpp"

namespace spinney {
namespace {

/// Values at a time: their cells are found by vectors, and stay in the first-level cache.
constexpr std::size_t kTile = 64;

template <int kSteps, class T, class Cells>
void search(const BinTask<T> task, const Cells cell_of, const CutGrid<T>& grid) {
    const T* const cuts = task.table->cuts;
    const std::uint8_t* const first_cut = grid.first_cut();
    const std::int32_t nan_cell = grid.nan_cell();
    T x[kTile] = {};
    std::int32_t cell[kTile];
    const std::byte* value = task.values;
    std::uint8_t* bin = task.bins;
    for (std::size_t start = 0; start < task.n; start += kTile) {
        const std::size_t n = task.n - start < kTile ? task.n - start : kTile;
        for (std::size_t i = 0; i < n; ++i, value += task.value_stride) {
            x[i] = *reinterpret_cast<const T*>(value);
        }
        for (std::size_t i = 0; i < kTile; ++i) cell[i] = x[i] == x[i] ? cell_of(x[i]) : nan_cell;
        for (std::size_t i = 0; i < n; ++i, bin += task.bin_stride) {
            unsigned below = first_cut[cell[i]];
            for (int step = 0; step < kSteps; ++step) below += cuts[below] < x[i] ? 1U : 0U;
            *bin = static_cast<std::uint8_t>(below);
        }
    }
}

template <class T, class Cells>
void search(const BinTask<T>& task, const Cells& cell_of, const CutGrid<T>& grid) {
    static_assert(kMostGridSteps == 3);
    switch (grid.n_steps()) {
        case 1:
            return search<1>(task, cell_of, grid);
        case 2:
            return search<2>(task, cell_of, grid);
        default:
            return search<3>(task, cell_of, grid);
    }
}

template <class T>
void search(const BinTask<T>& task, const CutGrid<T>& grid) {
    grid.is_linear() ? search(task, grid.linear(), grid) : search(task, grid.bits(), grid);
}

}  // namespace

void bin_search_grid(const BinTask<float>& task, const CutGrid<float>& grid) { search(task, grid); }
void bin_search_grid(const BinTask<double>& task, const CutGrid<double>& grid) {
    search(task, grid);
}

}  // namespace spinney
