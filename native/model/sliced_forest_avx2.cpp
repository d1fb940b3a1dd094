#include "native/model/sliced_forest.hpp"

#if defined(__AVX2__)
#include <immintrin.h>

namespace spinney {
namespace {

using Bytes = __m256i;

Bytes all_equal(std::int8_t byte) { return _mm256_set1_epi8(byte); }
void store(Bytes bytes, std::uint8_t* to) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(to), bytes);
}

/// Four instructions: a comparison reads memory only on its smaller side, so it is asked who goes
/// left.
Bytes advance(Bytes leaves, const std::int8_t* bytes, Bytes limit, Bytes from, Bytes to) {
    const Bytes column = _mm256_load_si256(reinterpret_cast<const __m256i*>(bytes));
    const Bytes goes_left = _mm256_cmpgt_epi8(limit, column);
    const Bytes goes_right = _mm256_andnot_si256(goes_left, _mm256_cmpeq_epi8(leaves, from));
    return _mm256_blendv_epi8(leaves, to, goes_right);
}

/// The byte of each bin in the set by two look-ups of sixteen, the bit in it by a third.
void answer(const std::uint8_t* goes_right, const std::int8_t* bins, std::int8_t* answers) {
    const auto load_twice = [](const std::uint8_t* from) {
        return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    };
    const __m256i low = load_twice(goes_right);
    const __m256i high = load_twice(goes_right + 16);
    const __m256i powers = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
    const __m256i one = _mm256_set1_epi8(1);
    for (std::size_t i = 0; i < kByteRows; i += sizeof(Bytes)) {
        const __m256i bin = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bins + i));
        const __m256i place =
            _mm256_and_si256(_mm256_srli_epi16(bin, 3), _mm256_set1_epi8(15));  // modulo 16
        const __m256i byte = _mm256_blendv_epi8(_mm256_shuffle_epi8(low, place),
                                                _mm256_shuffle_epi8(high, place), bin);
        const __m256i bit = _mm256_shuffle_epi8(powers, _mm256_and_si256(bin, _mm256_set1_epi8(7)));
        const __m256i is_set = _mm256_cmpeq_epi8(_mm256_and_si256(byte, bit), bit);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(answers + i), _mm256_and_si256(is_set, one));
    }
}

}  // namespace
}  // namespace spinney

#define NAME(x) x##_avx2
#include "native/model/sliced_forest.inl"
#endif
