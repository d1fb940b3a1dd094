#include "native/io/read_file.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#if defined(_WIN32)
#include <io.h>
#else
#include <unistd.h>
#endif

namespace spinney {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  ///< systems take no more than 2^31 - 1

/// As many bytes as the system gives at once; 0 where the file has ended.
std::size_t read_some(int descriptor, std::span<std::uint8_t> into, std::size_t from) {
    for (;;) {
#if defined(_WIN32)
        static_cast<void>(from);  // parts come one after the other
        const auto n = _read(descriptor, into.data(), static_cast<unsigned>(into.size()));
#else
        const auto n = ::pread(descriptor, into.data(), into.size(), static_cast<off_t>(from));
#endif
        if (n >= 0) return static_cast<std::size_t>(n);
        if (errno != EINTR) throw std::system_error(errno, std::generic_category());
    }
}

}  // namespace

bool read_file(int descriptor, std::span<std::uint8_t> into) {
    std::size_t from = 0;
    while (from < into.size()) {
        const std::size_t n_asked = std::min(into.size() - from, kMostAtOnce);
        const std::size_t n = read_some(descriptor, into.subspan(from, n_asked), from);
        if (n == 0) return false;
        from += n;
    }
    return true;
}

}  // namespace spinney
