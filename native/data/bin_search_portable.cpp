#include <algorithm>
#include <array>

#include "native/data/bin_search.hpp"

namespace spinney {
namespace {

/// Binary search without branches, sixteen values at a time so that their loads overlap.
template <class T>
void search(const T* values, std::size_t n, const CutTable<T>& table, int n_groups,
            std::uint8_t* counts) {
    constexpr std::size_t kLanes = 16;
    std::uint32_t first_half = 8;
    while (first_half < 8U * static_cast<std::uint32_t>(n_groups)) first_half *= 2;
    const T* cuts = table.cuts;
    for (std::size_t start = 0; start < n; start += kLanes) {
        const std::size_t lanes = std::min(kLanes, n - start);
        std::array<T, kLanes> x{};
        std::copy_n(values + start, lanes, x.begin());
        std::array<std::uint32_t, kLanes> below{};
        for (std::uint32_t half = first_half; half > 0; half /= 2) {
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                const bool is_below = cuts[below[lane] + half - 1] < x[lane];
                below[lane] += is_below ? half : 0U;
            }
        }
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            counts[start + lane] = static_cast<std::uint8_t>(below[lane]);
        }
    }
}

}  // namespace

void bin_search_portable(const float* values, std::size_t n, const CutTable<float>& table,
                         int n_groups, std::uint8_t* counts) {
    search(values, n, table, n_groups, counts);
}

void bin_search_portable(const double* values, std::size_t n, const CutTable<double>& table,
                         int n_groups, std::uint8_t* counts) {
    search(values, n, table, n_groups, counts);
}

}  // namespace spinney
