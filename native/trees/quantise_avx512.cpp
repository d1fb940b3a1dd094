#include "native/trees/quantise.hpp"

#if defined(__AVX512F__)
#define NAME(x) x##_avx512
#include "native/trees/quantise.inl"
#endif
