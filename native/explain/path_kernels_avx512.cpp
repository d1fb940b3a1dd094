#include "native/explain/path_kernels.hpp"

#if defined(__AVX512F__)
#define LANES 8
#define NAME(x) x##_avx512
#include "native/explain/path_kernels.inl"
#endif
