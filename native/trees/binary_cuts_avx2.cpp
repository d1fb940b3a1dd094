#include "native/trees/binary_cuts.hpp"

#if defined(__AVX2__)
#define NAME(x) x##_avx2
#include "native/trees/binary_cuts.inl"
#endif
