/// The path kernels for the instruction set in use.
#pragma once

#include "native/base/isa.hpp"
#include "native/explain/path_kernels.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define SPINNEY_PATH_KERNEL(name) pick(name##_portable, name##_avx2, name##_avx512)
#else
#define SPINNEY_PATH_KERNEL(name) (&name##_portable)
#endif
