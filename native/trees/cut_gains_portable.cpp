#include "native/trees/cut_gains.hpp"

#define NAME(x) x##_portable
#include "native/trees/cut_gains.inl"
