#include "native/trees/binary_cuts.hpp"

#define NAME(x) x##_portable
#include "native/trees/binary_cuts.inl"
