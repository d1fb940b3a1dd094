#include "native/trees/vector_gains.hpp"

#if defined(__AVX2__)
#define NAME(x) x##_avx2
#include "native/trees/vector_gains.inl"
#endif
