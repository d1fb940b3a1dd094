#include "native/data/bin_search.hpp"

#if defined(__AVX512F__)
#define NAME(x) x##_avx512
#include "native/data/bin_search_grid.inl"
#endif
