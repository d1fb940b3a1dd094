// The look-up on a grid, included by one file per instruction set with NAME(x) = x_<isa>. Only the
// cells are found by vectors; multiplications are rounded alike by all of them.

namespace spinney {
namespace {

/// Values at a time: they and their cells stay in the first-level cache.
constexpr std::size_t kTile = 64;

/// Gathers values that stand apart, four per turn, and asks for those `ahead` bytes further on.
template <class T>
[[gnu::always_inline]] inline void gather(const std::byte* value, std::ptrdiff_t stride,
                                          std::size_t n, std::ptrdiff_t ahead, T* x) {
    const auto at = [&](std::ptrdiff_t i) {
        return *reinterpret_cast<const T*>(value + i * stride);
    };
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4, value += 4 * stride) {
        __builtin_prefetch(value + ahead);
        __builtin_prefetch(value + ahead + 2 * stride);
        x[i] = at(0);
        x[i + 1] = at(1);
        x[i + 2] = at(2);
        x[i + 3] = at(3);
    }
    for (; i < n; ++i, value += stride) x[i] = at(0);
    for (; i < kTile; ++i) x[i] = T{0};
}

template <int kSteps, class T, class Cells>
[[gnu::always_inline]] inline void search(const BinTask<T> task, const Cells cell_of,
                                          const GridTables<T> grid) {
    using Bits = typename OrderedBits<T>::Type;
    T x[kTile];
    Bits bits[kTile];
    std::int32_t cell[kTile];
    const std::byte* value = task.values;
    std::uint8_t* bin = task.bins;
    for (std::size_t start = 0; start < task.n; start += kTile) {
        const std::size_t n = task.n - start < kTile ? task.n - start : kTile;
        gather(value, task.value_stride, n, kAhead * task.value_stride, x);
        value += static_cast<std::ptrdiff_t>(kTile) * task.value_stride;
        for (std::size_t i = 0; i < kTile; ++i) {
            bits[i] = OrderedBits<T>::of(x[i]);
            cell[i] = x[i] == x[i] ? cell_of(x[i], bits[i]) : grid.nan_cell;
        }
        for (std::size_t i = 0; i < n; ++i, bin += task.bin_stride) {
            unsigned below = grid.first_cut[cell[i]];
            for (int step = 0; step < kSteps; ++step) {
                below += grid.cut_bits[below] < bits[i] ? 1U : 0U;
            }
            *bin = static_cast<std::uint8_t>(below);
        }
    }
}

template <class T, class Cells>
[[gnu::always_inline]] inline void search(const BinTask<T>& task, const Cells& cell_of,
                                          const GridTables<T>& grid) {
    static_assert(kMostGridSteps == 3);
    switch (grid.n_steps) {
        case 1:
            return search<1>(task, cell_of, grid);
        case 2:
            return search<2>(task, cell_of, grid);
        default:
            return search<3>(task, cell_of, grid);
    }
}

template <class T>
void search(const BinTask<T>& task, const GridTables<T>& grid) {
    grid.is_linear ? search(task, grid.linear, grid) : search(task, grid.bits, grid);
}

}  // namespace

void NAME(bin_search_grid)(const BinTask<float>& task, const GridTables<float>& grid) {
    search(task, grid);
}
void NAME(bin_search_grid)(const BinTask<double>& task, const GridTables<double>& grid) {
    search(task, grid);
}

}  // namespace spinney
