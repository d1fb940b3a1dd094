#include "native/data/bin_search.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>

namespace spinney {
namespace {

/// Sixteen sorted numbers in registers.
struct FloatGroup {
    __m512 all;
};
struct DoubleGroup {
    __m512d low, high;
};

FloatGroup load_group(const float* group) { return {_mm512_load_ps(group)}; }
DoubleGroup load_group(const double* group) {
    return {_mm512_load_pd(group), _mm512_load_pd(group + 8)};
}

__m512 broadcast(const float* value) { return _mm512_set1_ps(*value); }
__m512d broadcast(const double* value) { return _mm512_set1_pd(*value); }

unsigned count_below(const FloatGroup& group, __m512 x) {
    const unsigned mask = _mm512_cmp_ps_mask(group.all, x, _CMP_LT_OQ);
    return static_cast<unsigned>(_mm_popcnt_u32(mask));
}

unsigned count_below(const DoubleGroup& group, __m512d x) {
    const unsigned low = _mm512_cmp_pd_mask(group.low, x, _CMP_LT_OQ);
    const unsigned high = _mm512_cmp_pd_mask(group.high, x, _CMP_LT_OQ);
    return static_cast<unsigned>(_mm_popcnt_u32(low | (high << 8)));
}

#include "native/data/bin_search_two_steps.inl"

}  // namespace

void bin_search_avx512(const BinTask<float>& task) { search(task); }
void bin_search_avx512(const BinTask<double>& task) { search(task); }

}  // namespace spinney

#endif
