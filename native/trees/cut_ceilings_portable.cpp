#include "native/trees/cut_ceilings.hpp"

#define NAME(x) x##_portable
#include "native/trees/cut_ceilings.inl"
