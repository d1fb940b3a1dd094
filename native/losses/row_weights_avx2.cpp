#include <bit>

#include "native/base/elementary.hpp"
#include "native/losses/row_weights.hpp"
#include "native/losses/share_bits.hpp"

#if defined(__AVX2__)
#define NAME(x) x##_avx2
#include "native/losses/row_weights.inl"
#endif
