#include "native/io/read_file.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "native/base/parallel.hpp"

#if defined(_WIN32)
#include <io.h>
#else
#include <unistd.h>
#endif

namespace spinney {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;  ///< what a thread reads at a time

/// As many bytes as the system gives at once; 0 where the file has ended.
std::size_t read_some(int descriptor, std::span<std::uint8_t> into, std::size_t from) {
    for (;;) {
#if defined(_WIN32)
        static_cast<void>(from);  // chunks come one after the other
        const auto n = _read(descriptor, into.data(), static_cast<unsigned>(into.size()));
#else
        const auto n = ::pread(descriptor, into.data(), into.size(), static_cast<off_t>(from));
#endif
        if (n >= 0) return static_cast<std::size_t>(n);
        if (errno != EINTR) throw std::system_error(errno, std::generic_category());
    }
}

}  // namespace

bool read_file(int descriptor, std::span<std::uint8_t> into, int n_threads) {
    std::atomic<bool> is_whole = true;
#if defined(_WIN32)
    n_threads = 1;
#endif
    parallel_blocks(n_threads, into.size(), kChunk, [&](std::size_t first, std::size_t last) {
        while (first < last) {
            const std::size_t n = read_some(descriptor, into.subspan(first, last - first), first);
            if (n == 0) {
                is_whole = false;
                return;
            }
            first += n;
        }
    });
    return is_whole;
}

}  // namespace spinney
