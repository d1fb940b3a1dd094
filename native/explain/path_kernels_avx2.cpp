#include "native/explain/path_kernels.hpp"

#if defined(__AVX2__)
#define LANES 4
#define NAME(x) x##_avx2
#include "native/explain/path_kernels.inl"
#endif
