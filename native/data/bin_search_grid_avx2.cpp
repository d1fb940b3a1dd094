#include "native/data/bin_search.hpp"

#if defined(__AVX2__)
#define NAME(x) x##_avx2
#include "native/data/bin_search_grid.inl"
#endif
