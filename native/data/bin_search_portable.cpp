#include <algorithm>
#include <array>

#include "native/data/bin_search.hpp"

namespace spinney {
namespace {

/// Binary search without branches, sixteen values at a time so that their loads overlap.
template <class T>
void search(const BinTask<T>& task) {
    constexpr std::size_t kLanes = 16;
    std::uint32_t first_half = 8;
    while (first_half < 8U * static_cast<std::uint32_t>(task.n_groups)) first_half *= 2;
    const T* cuts = task.table->cuts;
    for (std::size_t start = 0; start < task.n; start += kLanes) {
        const std::size_t lanes = std::min(kLanes, task.n - start);
        std::array<T, kLanes> x{};
        for (std::size_t lane = 0; lane < lanes; ++lane) x[lane] = *task.value(start + lane);
        std::array<std::uint32_t, kLanes> below{};
        for (std::uint32_t half = first_half; half > 0; half /= 2) {
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                const bool is_below = cuts[below[lane] + half - 1] < x[lane];
                below[lane] += is_below ? half : 0U;
            }
        }
        std::uint8_t* bins = task.bins + static_cast<std::ptrdiff_t>(start) * task.bin_stride;
        for (std::size_t lane = 0; lane < lanes; ++lane, bins += task.bin_stride) {
            *bins = x[lane] == x[lane] ? static_cast<std::uint8_t>(below[lane]) : task.missing_bin;
        }
    }
}

}  // namespace

void bin_search_portable(const BinTask<float>& task) { search(task); }
void bin_search_portable(const BinTask<double>& task) { search(task); }

}  // namespace spinney
