#include "native/trees/cut_ceilings.hpp"

#if defined(__AVX512F__)
#define NAME(x) x##_avx512
#include "native/trees/cut_ceilings.inl"
#endif
