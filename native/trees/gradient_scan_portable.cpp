#include "native/trees/gradient_scan.hpp"

#define NAME(x) x##_portable
#include "native/trees/gradient_scan.inl"
