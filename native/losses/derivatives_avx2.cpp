#include <bit>

#include "native/losses/derivatives.hpp"
#include "native/losses/point_losses.hpp"

#if defined(__AVX2__)
#define NAME(x) x##_avx2
#include "native/losses/derivatives.inl"
#endif
