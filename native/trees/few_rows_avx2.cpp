#include "native/trees/few_rows.hpp"

#if defined(__AVX2__)
#define NAME(x) x##_avx2
#include "native/trees/few_rows.inl"
#endif
