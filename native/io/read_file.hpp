/// Reading a whole file into memory.
#pragma once

#include <cstdint>
#include <span>

namespace spinney {

/// Fills `into` from the beginning of an open file, chunk by chunk, on several threads: it is the
/// first touch of fresh pages that takes time. False if the file ends before.
/// Throws std::system_error where the operating system cannot read.
bool read_file(int descriptor, std::span<std::uint8_t> into, int n_threads);

}  // namespace spinney
