#include "native/base/elementary.hpp"
#include "native/model/links.hpp"

#if defined(__AVX2__)
#define NAME(x) x##_avx2
#include "native/model/links.inl"
#endif
