#include "native/model/sliced_forest.hpp"

#if defined(__AVX512BW__)
#include <immintrin.h>

namespace spinney {
namespace {

using Bytes = __m512i;

Bytes all_equal(std::int8_t byte) { return _mm512_set1_epi8(byte); }
void store(Bytes bytes, std::uint8_t* to) { _mm512_store_si512(to, bytes); }

Bytes advance(Bytes leaves, const std::int8_t* bytes, Bytes limit, Bytes from, Bytes to) {
    const __mmask64 is_here = _mm512_cmpeq_epi8_mask(leaves, from);
    const __mmask64 goes_right =
        _mm512_mask_cmple_epi8_mask(is_here, limit, _mm512_load_si512(bytes));
    return _mm512_mask_mov_epi8(leaves, goes_right, to);
}

/// The byte of each bin in the set by two look-ups of sixteen, the bit in it by a third.
void answer(const std::uint8_t* goes_right, const std::int8_t* bins, std::int8_t* answers) {
    const auto load_often = [](const std::uint8_t* from) {
        return _mm512_maskz_broadcast_i32x4(
            0xFFFF, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    };
    const __m512i low = load_often(goes_right);
    const __m512i high = load_often(goes_right + 16);
    const __m512i powers = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201ULL));
    for (std::size_t i = 0; i < kByteRows; i += sizeof(Bytes)) {
        const __m512i bin = _mm512_loadu_si512(bins + i);
        const __m512i place = _mm512_and_si512(_mm512_srli_epi16(bin, 3), _mm512_set1_epi8(15));
        const __m512i byte =
            _mm512_mask_blend_epi8(_mm512_movepi8_mask(bin), _mm512_shuffle_epi8(low, place),
                                   _mm512_shuffle_epi8(high, place));
        const __m512i bit = _mm512_shuffle_epi8(powers, _mm512_and_si512(bin, _mm512_set1_epi8(7)));
        const __mmask64 is_set = _mm512_test_epi8_mask(byte, bit);
        _mm512_storeu_si512(answers + i, _mm512_maskz_set1_epi8(is_set, 1));
    }
}

}  // namespace
}  // namespace spinney

#define NAME(x) x##_avx512
#include "native/model/sliced_forest.inl"
#endif
