#include "native/data/bin_search.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>

namespace spinney {
namespace {

/// How many of 16 sorted numbers are < x.
unsigned count_below(const float* group, __m512 x) {
    return static_cast<unsigned>(
        _mm_popcnt_u32(_mm512_cmp_ps_mask(_mm512_load_ps(group), x, _CMP_LT_OQ)));
}

unsigned count_below(const double* group, __m512d x) {
    const unsigned low = _mm512_cmp_pd_mask(_mm512_load_pd(group), x, _CMP_LT_OQ);
    const unsigned high = _mm512_cmp_pd_mask(_mm512_load_pd(group + 8), x, _CMP_LT_OQ);
    return static_cast<unsigned>(_mm_popcnt_u32(low | (high << 8)));
}

__m512 broadcast(const float* value) { return _mm512_set1_ps(*value); }
__m512d broadcast(const double* value) { return _mm512_set1_pd(*value); }

#include "native/data/bin_search_two_steps.inl"

}  // namespace

void bin_search_avx512(const float* values, std::size_t n, const CutTable<float>& table,
                       int n_groups, std::uint8_t* counts) {
    search(values, n, table, n_groups, counts);
}

void bin_search_avx512(const double* values, std::size_t n, const CutTable<double>& table,
                       int n_groups, std::uint8_t* counts) {
    search(values, n, table, n_groups, counts);
}

}  // namespace spinney

#endif
