/// Asking for memory before it is needed.
#pragma once

namespace spinney {

/// Tells the processor that the address will be read soon; costs an instruction, changes nothing.
inline void prefetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

}  // namespace spinney
