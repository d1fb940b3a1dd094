/// Timing of a kernel: the fastest of many repeats, because noise only ever adds.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>

namespace bench {

template <class Work>
double fastest_seconds(int repeats, const Work& work) {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repeats; ++i) {
        const auto start = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        best = std::min(best, passed.count());
    }
    return best;
}

inline void report(const char* kernel, const char* isa, int threads, double seconds, double n_items,
                   const char* item) {
    std::printf(
        "{\"kernel\": \"%s\", \"isa\": \"%s\", \"threads\": %d, \"seconds\": %.6f, "
        "\"ns_per_%s\": %.3f, \"millions_per_second\": %.1f}\n",
        kernel, isa, threads, seconds, item, 1e9 * seconds / n_items, n_items / seconds / 1e6);
    std::fflush(stdout);
}

}  // namespace bench
