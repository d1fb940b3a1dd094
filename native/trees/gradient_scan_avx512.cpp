#include "native/trees/gradient_scan.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>

#define NAME(x) x##_avx512
#define LANES 8
#include "native/trees/gradient_scan.inl"
#endif
