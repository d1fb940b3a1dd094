#include "native/trees/key_moves.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>

namespace spinney {
namespace {

constexpr std::size_t kLanes = 16;

constexpr __mmask16 kAll = 0xFFFF;  // with it functions need no value for other lanes

/// Which of sixteen keys go left: the marks of all rows are one register.
[[gnu::always_inline]] inline __mmask16 left_of(__m512i keys, __m512i marks) {
    const __m512i rows = _mm512_and_si512(keys, _mm512_set1_epi32(0xFFFF));
    const __m512i at = _mm512_maskz_srli_epi32(kAll, rows, 5);
    const __m512i words = _mm512_maskz_permutexvar_epi32(kAll, at, marks);
    const __m512i bits =
        _mm512_maskz_srlv_epi32(kAll, words, _mm512_and_si512(rows, _mm512_set1_epi32(31)));
    return _mm512_test_epi32_mask(bits, _mm512_set1_epi32(1));
}

[[gnu::always_inline]] inline __mmask16 first_lanes(std::size_t n) {
    return static_cast<__mmask16>((1U << n) - 1U);
}

[[gnu::always_inline]] inline std::size_t count(__mmask16 mask) {
    return static_cast<std::size_t>(__builtin_popcount(mask));
}

/// A node of up to sixteen rows.
[[gnu::always_inline]] inline void move_few(std::uint32_t* keys, std::size_t n, __m512i marks) {
    const __mmask16 own = first_lanes(n);
    const __m512i some = _mm512_maskz_loadu_epi32(own, keys);
    const auto left = static_cast<__mmask16>(left_of(some, marks) & own);
    const auto right = static_cast<__mmask16>(own & ~left);
    const std::size_t n_left = count(left);
    _mm512_mask_storeu_epi32(keys, first_lanes(n_left), _mm512_maskz_compress_epi32(left, some));
    _mm512_mask_storeu_epi32(keys + n_left, first_lanes(n - n_left),
                             _mm512_maskz_compress_epi32(right, some));
}

/// What is stored too much is overwritten by the next; keys that were not read yet are not reached.
template <bool kLeft, bool kRight>
[[gnu::always_inline]] inline void move_many(std::uint32_t* keys, std::size_t n, __m512i marks,
                                             std::uint32_t* room) {
    std::size_t n_left = 0;
    std::size_t n_right = 0;
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        const __m512i some = _mm512_loadu_si512(keys + i);
        const __mmask16 left = left_of(some, marks);
        const auto right = static_cast<__mmask16>(~left);
        if (kLeft) _mm512_storeu_si512(keys + n_left, _mm512_maskz_compress_epi32(left, some));
        if (kRight) _mm512_storeu_si512(room + n_right, _mm512_maskz_compress_epi32(right, some));
        n_left += count(left);
        n_right += count(right);
    }
    const __mmask16 own = first_lanes(n - i);
    const __m512i some = _mm512_maskz_loadu_epi32(own, keys + i);
    const auto left = static_cast<__mmask16>(left_of(some, marks) & own);
    const auto right = static_cast<__mmask16>(own & ~left);
    if (kLeft) {
        _mm512_mask_storeu_epi32(keys + n_left, first_lanes(count(left)),
                                 _mm512_maskz_compress_epi32(left, some));
    }
    if (!kRight) return;
    _mm512_storeu_si512(room + n_right, _mm512_maskz_compress_epi32(right, some));
    n_left += count(left);
    n_right += count(right);
    for (i = 0; i + kLanes <= n_right; i += kLanes) {
        _mm512_storeu_si512(keys + n_left + i, _mm512_loadu_si512(room + i));
    }
    _mm512_mask_storeu_epi32(keys + n_left + i, first_lanes(n_right - i),
                             _mm512_loadu_si512(room + i));
}

template <bool kLeft, bool kRight>
void move_features(const BlockPart& part, __m512i marks, std::uint32_t* room) {
    std::uint32_t* keys = part.keys;
    for (std::size_t f = 0; f < part.moves.size(); ++f, keys += part.stride) {
        if (part.moves[f] == 0) continue;
        if (part.n <= kLanes) {
            move_few(keys, part.n, marks);
        } else {
            move_many<kLeft, kRight>(keys, part.n, marks, room);
        }
    }
}

}  // namespace

void move_block_avx512(const BlockPart& part, const std::uint32_t* left_bits, std::uint32_t* room) {
    const __m512i marks = _mm512_loadu_si512(left_bits);
    if (!part.wants_left) {
        move_features<false, true>(part, marks, room);
    } else if (!part.wants_right) {
        move_features<true, false>(part, marks, room);
    } else {
        move_features<true, true>(part, marks, room);
    }
}

}  // namespace spinney
#endif
