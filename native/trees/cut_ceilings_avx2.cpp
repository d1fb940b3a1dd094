#include "native/trees/cut_ceilings.hpp"

#if defined(__AVX2__)
#define NAME(x) x##_avx2
#include "native/trees/cut_ceilings.inl"
#endif
