#include "native/explain/path_kernels.hpp"

#define LANES 2
#define NAME(x) x##_portable
#include "native/explain/path_kernels.inl"
