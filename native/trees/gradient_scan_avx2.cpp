#include "native/trees/gradient_scan.hpp"

#if defined(__AVX2__)
#include <immintrin.h>

#define NAME(x) x##_avx2
#define LANES 4
#include "native/trees/gradient_scan.inl"
#endif
