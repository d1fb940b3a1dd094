#include <bit>

#include "native/losses/derivatives.hpp"
#include "native/losses/point_losses.hpp"

#define NAME(x) x##_portable
#include "native/losses/derivatives.inl"
