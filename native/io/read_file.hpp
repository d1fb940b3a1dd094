/// Reading a whole file into memory.
#pragma once

#include <cstdint>
#include <span>

namespace spinney {

/// Fills `into` from the beginning of an open file. False if the file ends before. Throws
/// std::system_error where the operating system cannot read. By one thread: two are no faster.
bool read_file(int descriptor, std::span<std::uint8_t> into);

}  // namespace spinney
