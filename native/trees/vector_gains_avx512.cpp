#include "native/trees/vector_gains.hpp"

#if defined(__AVX512F__)
#define NAME(x) x##_avx512
#include "native/trees/vector_gains.inl"
#endif
