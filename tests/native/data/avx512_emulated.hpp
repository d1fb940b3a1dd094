/// The few AVX-512 intrinsics of native/data/bin_search_avx512.cpp as plain loops, so that its
/// logic is tested on every machine. From Intel's descriptions of the instructions, not from any
/// implementation; what the kernel does not use is not here, and a new use fails to compile.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

/// The registers: one struct per type, as the intrinsics do not convert between them either.
struct __m512 {
    float lane[16];
};
struct __m512d {
    double lane[8];
};
using __mmask16 = std::uint16_t;
using __mmask8 = std::uint8_t;

/// "Less than, ordered, quiet": false if either side is NaN. The number the instruction encodes.
inline constexpr int _CMP_LT_OQ = 0x11;

namespace emulated {

template <class Register, class T>
Register load(const T* from) {
    // The instruction faults where this throws.
    if (std::bit_cast<std::uintptr_t>(from) % 64 != 0) throw std::logic_error("load not aligned");
    Register loaded;
    for (std::size_t i = 0; i < 64 / sizeof(T); ++i) loaded.lane[i] = from[i];
    return loaded;
}

template <class Register, class T>
Register set1(T value) {
    Register filled;
    for (T& lane : filled.lane) lane = value;
    return filled;
}

template <class Mask, class Register>
Mask compare(const Register& a, const Register& b, int predicate) {
    if (predicate != _CMP_LT_OQ) throw std::logic_error("this comparison is not emulated");
    unsigned mask = 0;
    for (unsigned i = 0; i < 8 * sizeof(Mask); ++i) mask |= (a.lane[i] < b.lane[i] ? 1U : 0U) << i;
    return static_cast<Mask>(mask);
}

}  // namespace emulated

inline __m512 _mm512_load_ps(const void* from) {
    return emulated::load<__m512>(static_cast<const float*>(from));
}
inline __m512d _mm512_load_pd(const void* from) {
    return emulated::load<__m512d>(static_cast<const double*>(from));
}
inline __m512 _mm512_set1_ps(float value) { return emulated::set1<__m512>(value); }
inline __m512d _mm512_set1_pd(double value) { return emulated::set1<__m512d>(value); }
inline __mmask16 _mm512_cmp_ps_mask(__m512 a, __m512 b, int predicate) {
    return emulated::compare<__mmask16>(a, b, predicate);
}
inline __mmask8 _mm512_cmp_pd_mask(__m512d a, __m512d b, int predicate) {
    return emulated::compare<__mmask8>(a, b, predicate);
}
inline int _mm_popcnt_u32(unsigned bits) { return std::popcount(bits); }
