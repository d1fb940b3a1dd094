// Found before the compiler's own by the one test that has this folder on its include path, so that
// the kernel's source stays as it is.
#include "tests/native/model/avx512_bytes_emulated.hpp"
