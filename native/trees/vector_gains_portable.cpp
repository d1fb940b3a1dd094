#include "native/trees/vector_gains.hpp"

#define NAME(x) x##_portable
#include "native/trees/vector_gains.inl"
