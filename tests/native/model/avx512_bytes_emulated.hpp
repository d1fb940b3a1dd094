/// The AVX-512 intrinsics of native/model/sliced_forest_avx512.cpp as plain loops, so that its
/// logic is tested on every machine. From Intel's descriptions of the instructions, not from any
/// implementation; what the kernel does not use is not here, and a new use fails to compile.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

struct __m128i {
    std::uint8_t lane[16];
};
struct __m512i {
    std::uint8_t lane[64];
};
using __mmask16 = std::uint16_t;
using __mmask64 = std::uint64_t;

namespace emulated {

/// The mask of lanes for which `answer(i)` is true.
template <class Answer>
__mmask64 mask_of(const Answer& answer) {
    __mmask64 mask = 0;
    for (int i = 0; i < 64; ++i) mask |= static_cast<__mmask64>(answer(i) ? 1 : 0) << i;
    return mask;
}

template <class Value>
__m512i lanes_of(const Value& value) {
    __m512i filled;
    for (int i = 0; i < 64; ++i) filled.lane[i] = static_cast<std::uint8_t>(value(i));
    return filled;
}

inline bool has(__mmask64 mask, int i) { return ((mask >> i) & 1) != 0; }

/// The instruction faults where this throws.
inline void check_aligned(const void* address) {
    if (std::bit_cast<std::uintptr_t>(address) % 64 != 0) throw std::logic_error("not aligned");
}

}  // namespace emulated

inline __m512i _mm512_loadu_si512(const void* from) {
    __m512i loaded;
    std::memcpy(loaded.lane, from, 64);
    return loaded;
}
inline void _mm512_storeu_si512(void* to, __m512i a) { std::memcpy(to, a.lane, 64); }
inline __m512i _mm512_load_si512(const void* from) {
    emulated::check_aligned(from);
    return _mm512_loadu_si512(from);
}
inline void _mm512_store_si512(void* to, __m512i a) {
    emulated::check_aligned(to);
    _mm512_storeu_si512(to, a);
}
inline __m128i _mm_loadu_si128(const __m128i* from) {
    __m128i loaded;
    std::memcpy(loaded.lane, from, 16);
    return loaded;
}
inline __m512i _mm512_set1_epi8(char byte) {
    return emulated::lanes_of([&](int) { return byte; });
}
inline __m512i _mm512_set1_epi64(long long number) {
    std::uint8_t bytes[8];
    std::memcpy(bytes, &number, 8);
    return emulated::lanes_of([&](int i) { return bytes[i % 8]; });
}
inline __m512i _mm512_maskz_broadcast_i32x4(__mmask16 mask, __m128i a) {
    return emulated::lanes_of([&](int i) { return (mask >> (i / 4)) & 1 ? a.lane[i % 16] : 0; });
}
inline __m512i _mm512_and_si512(__m512i a, __m512i b) {
    return emulated::lanes_of([&](int i) { return a.lane[i] & b.lane[i]; });
}
inline __m512i _mm512_srli_epi16(__m512i a, unsigned count) {
    __m512i shifted;
    for (int i = 0; i < 64; i += 2) {
        const unsigned word = a.lane[i] | static_cast<unsigned>(a.lane[i + 1]) << 8;
        shifted.lane[i] = static_cast<std::uint8_t>(word >> count);
        shifted.lane[i + 1] = static_cast<std::uint8_t>(word >> count >> 8);
    }
    return shifted;
}
inline __mmask64 _mm512_movepi8_mask(__m512i a) {
    return emulated::mask_of([&](int i) { return a.lane[i] >= 128; });
}
inline __m512i _mm512_shuffle_epi8(__m512i a, __m512i at) {
    return emulated::lanes_of(
        [&](int i) { return at.lane[i] >= 128 ? 0 : a.lane[i / 16 * 16 + at.lane[i] % 16]; });
}
inline __m512i _mm512_mask_blend_epi8(__mmask64 mask, __m512i a, __m512i b) {
    return emulated::lanes_of(
        [&](int i) { return emulated::has(mask, i) ? b.lane[i] : a.lane[i]; });
}
inline __m512i _mm512_mask_mov_epi8(__m512i a, __mmask64 mask, __m512i b) {
    return _mm512_mask_blend_epi8(mask, a, b);
}
inline __mmask64 _mm512_test_epi8_mask(__m512i a, __m512i b) {
    return emulated::mask_of([&](int i) { return (a.lane[i] & b.lane[i]) != 0; });
}
inline __m512i _mm512_maskz_set1_epi8(__mmask64 mask, char byte) {
    return emulated::lanes_of([&](int i) { return emulated::has(mask, i) ? byte : 0; });
}
inline __mmask64 _mm512_cmpeq_epi8_mask(__m512i a, __m512i b) {
    return emulated::mask_of([&](int i) { return a.lane[i] == b.lane[i]; });
}
inline __mmask64 _mm512_mask_cmple_epi8_mask(__mmask64 mask, __m512i a, __m512i b) {
    return emulated::mask_of([&](int i) {
        return emulated::has(mask, i) &&
               static_cast<std::int8_t>(a.lane[i]) <= static_cast<std::int8_t>(b.lane[i]);
    });
}
