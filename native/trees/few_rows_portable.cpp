#include "native/trees/few_rows.hpp"

#define NAME(x) x##_portable
#include "native/trees/few_rows.inl"
