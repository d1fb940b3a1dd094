#include "native/base/elementary.hpp"
#include "native/losses/ranking_pairs.hpp"

#if defined(__AVX512F__)
#define NAME(x) x##_avx512
#include "native/losses/ranking_pairs.inl"
#endif
