#include "native/data/bin_search.hpp"

#if defined(__AVX2__)
#include <immintrin.h>

namespace spinney {
namespace {

/// How many of 16 sorted numbers are < x.
unsigned count_below(const float* group, __m256 x) {
    const __m256i low = _mm256_castps_si256(_mm256_cmp_ps(_mm256_load_ps(group), x, _CMP_LT_OQ));
    const __m256i high =
        _mm256_castps_si256(_mm256_cmp_ps(_mm256_load_ps(group + 8), x, _CMP_LT_OQ));
    // Two bytes of the mask per comparison, in an order that counting does not care about.
    const auto mask = static_cast<unsigned>(_mm256_movemask_epi8(_mm256_packs_epi32(low, high)));
    return static_cast<unsigned>(_mm_popcnt_u32(mask)) / 2;
}

unsigned count_below(const double* group, __m256d x) {
    const auto four = [group, x](int at) {
        return _mm256_castpd_si256(_mm256_cmp_pd(_mm256_load_pd(group + at), x, _CMP_LT_OQ));
    };
    const __m256i low = _mm256_packs_epi32(four(0), four(4));
    const __m256i high = _mm256_packs_epi32(four(8), four(12));
    const auto mask = static_cast<unsigned>(_mm256_movemask_epi8(_mm256_packs_epi16(low, high)));
    return static_cast<unsigned>(_mm_popcnt_u32(mask)) / 2;
}

__m256 broadcast(const float* value) { return _mm256_broadcast_ss(value); }
__m256d broadcast(const double* value) { return _mm256_broadcast_sd(value); }

#include "native/data/bin_search_two_steps.inl"

}  // namespace

void bin_search_avx2(const float* values, std::size_t n, const CutTable<float>& table, int n_groups,
                     std::uint8_t* counts) {
    search(values, n, table, n_groups, counts);
}

void bin_search_avx2(const double* values, std::size_t n, const CutTable<double>& table,
                     int n_groups, std::uint8_t* counts) {
    search(values, n, table, n_groups, counts);
}

}  // namespace spinney

#endif
