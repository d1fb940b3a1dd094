#include "native/base/elementary.hpp"
#include "native/losses/ranking_pairs.hpp"

#if defined(__AVX2__)
#define NAME(x) x##_avx2
#include "native/losses/ranking_pairs.inl"
#endif
