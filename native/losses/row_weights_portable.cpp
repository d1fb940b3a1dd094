#include <bit>

#include "native/base/elementary.hpp"
#include "native/losses/row_weights.hpp"
#include "native/losses/share_bits.hpp"

#define NAME(x) x##_portable
#include "native/losses/row_weights.inl"
