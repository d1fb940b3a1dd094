#include "native/trees/quantise.hpp"

#define NAME(x) x##_portable
#include "native/trees/quantise.inl"
