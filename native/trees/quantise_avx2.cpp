#include "native/trees/quantise.hpp"

#if defined(__AVX2__)
#define NAME(x) x##_avx2
#include "native/trees/quantise.inl"
#endif
