#include "native/base/elementary.hpp"
#include "native/model/links.hpp"

#if defined(__AVX512F__)
#define NAME(x) x##_avx512
#include "native/model/links.inl"
#endif
