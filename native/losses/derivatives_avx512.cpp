#include <bit>

#include "native/losses/derivatives.hpp"
#include "native/losses/point_losses.hpp"

#if defined(__AVX512F__)
#define NAME(x) x##_avx512
#include "native/losses/derivatives.inl"
#endif
