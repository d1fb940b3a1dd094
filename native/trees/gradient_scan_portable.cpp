#include "native/trees/gradient_scan.hpp"

#define NAME(x) x##_portable
#define LANES 2
#include "native/trees/gradient_scan.inl"
