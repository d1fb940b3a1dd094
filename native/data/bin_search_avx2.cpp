#include "native/data/bin_search.hpp"

#if defined(__AVX2__)
#include <immintrin.h>

namespace spinney {
namespace {

/// Sixteen sorted numbers in registers.
struct FloatGroup {
    __m256 low, high;
};
struct DoubleGroup {
    __m256d a, b, c, d;
};

FloatGroup load_group(const float* group) {
    return {_mm256_load_ps(group), _mm256_load_ps(group + 8)};
}

DoubleGroup load_group(const double* group) {
    return {_mm256_load_pd(group), _mm256_load_pd(group + 4), _mm256_load_pd(group + 8),
            _mm256_load_pd(group + 12)};
}

__m256 broadcast(const float* value) { return _mm256_broadcast_ss(value); }
__m256d broadcast(const double* value) { return _mm256_broadcast_sd(value); }

__m256i below(__m256 cuts, __m256 x) {
    return _mm256_castps_si256(_mm256_cmp_ps(cuts, x, _CMP_LT_OQ));
}
__m256i below(__m256d cuts, __m256d x) {
    return _mm256_castpd_si256(_mm256_cmp_pd(cuts, x, _CMP_LT_OQ));
}

/// Sixteen 16-bit answers: two equal bits of the mask each, in an order counting does not care
/// about.
unsigned count_pairs(__m256i answers) {
    const auto mask = static_cast<unsigned>(_mm256_movemask_epi8(answers));
    return static_cast<unsigned>(_mm_popcnt_u32(mask)) / 2;
}

unsigned count_below(const FloatGroup& group, __m256 x) {
    return count_pairs(_mm256_packs_epi32(below(group.low, x), below(group.high, x)));
}

unsigned count_below(const DoubleGroup& group, __m256d x) {
    const __m256i low = _mm256_packs_epi32(below(group.a, x), below(group.b, x));
    const __m256i high = _mm256_packs_epi32(below(group.c, x), below(group.d, x));
    // Four equal 16-bit answers per two numbers become two 8-bit ones.
    return count_pairs(_mm256_packs_epi16(low, high));
}

#include "native/data/bin_search_two_steps.inl"

}  // namespace

void bin_search_avx2(const BinTask<float>& task) { search(task); }
void bin_search_avx2(const BinTask<double>& task) { search(task); }

}  // namespace spinney

#endif
