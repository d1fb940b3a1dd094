#include "native/trees/binary_cuts.hpp"

#if defined(__AVX512F__)
#define NAME(x) x##_avx512
#include "native/trees/binary_cuts.inl"
#endif
