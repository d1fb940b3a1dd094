/// The pool and fork(): children, grandchildren, forks in the middle of jobs, exits, no threads
/// left.
#include "tests/native/check.hpp"

// ThreadSanitizer does not support threads in a child of a multi-threaded process ("starting new
// threads after multi-threaded fork is not supported"), so these tests run in the other builds.
#if (defined(__unix__) || defined(__APPLE__)) && !defined(__SANITIZE_THREAD__)

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <thread>
#include <vector>

#include "native/base/parallel.hpp"

using spinney::parallel_for;
using namespace std::chrono_literals;

namespace {

std::uint64_t sum_of_squares(int n_threads, std::size_t n_chunks) {
    std::vector<std::uint64_t> parts(n_chunks);
    parallel_for(n_threads, n_chunks, [&](std::size_t chunk) { parts[chunk] = chunk * chunk; });
    return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
}

std::uint64_t expected_sum(std::uint64_t n) { return n == 0 ? 0 : (n - 1) * n * (2 * n - 1) / 6; }

/// Returns true when `n` threads are in here at once; false after a generous time limit.
bool meet(std::atomic<int>& arrived, int n) {
    ++arrived;
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (arrived < n) {
        if (std::chrono::steady_clock::now() > deadline) {
            return false;
        }
        std::this_thread::sleep_for(100us);
    }
    return true;
}

/// Runs `body` in a child that gets half a minute; true when it ends with true.
template <class Body>
bool holds_in_child(Body body) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(30);  // a deadlock ends as a failure
        bool holds = false;
        try {
            holds = body();
        } catch (...) {
        }
        _exit(holds ? 0 : 1);
    }
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

bool two_threads_meet() {
    std::atomic<int> arrived = 0;
    std::atomic<bool> all_met = true;
    parallel_for(2, 2, [&](std::size_t) { all_met = meet(arrived, 2) && all_met; });
    return all_met;
}

}  // namespace

TEST(child_and_parent_both_have_workers_after_each_of_500_forks) {
    sum_of_squares(4, 100);
    int failed = 0;
    for (int round = 0; round < 500 && failed == 0; ++round) {
        const bool child_works =
            holds_in_child([] { return sum_of_squares(4, 100) == expected_sum(100); });
        failed += child_works && sum_of_squares(4, 100) == expected_sum(100) ? 0 : 1;
    }
    CHECK(failed == 0);
    CHECK(holds_in_child(two_threads_meet));
    CHECK(two_threads_meet());
}

TEST(a_fork_while_other_threads_run_jobs_leaves_the_child_able_to_work) {
    std::atomic<bool> stop = false;
    std::atomic<std::size_t> done = 0;
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 3; ++caller) {
        // Short jobs: the pool's mutex is often held at the fork. No allocation: g++ 12's address
        // sanitizer forgets to free its own allocator's lock in the child.
        callers.emplace_back([&] {
            while (!stop) {
                parallel_for(4, 8, [&done](std::size_t) { ++done; });
            }
        });
    }
    while (done < 10000) {
        std::this_thread::sleep_for(100us);
    }
    int failed = 0;
    for (int round = 0; round < 200 && failed == 0; ++round) {
        failed += holds_in_child(two_threads_meet) ? 0 : 1;
    }
    stop = true;
    CHECK(failed == 0);
}

TEST(a_child_forked_inside_a_chunk_may_start_its_own_parallel_work) {
    std::atomic<int> failed = 0;
    parallel_for(3, 6, [&](std::size_t) {
        failed += holds_in_child(two_threads_meet) ? 0 : 1;
        std::size_t last = 0;  // in the parent the chunk is still nested
        parallel_for(3, 9, [&](std::size_t inner) { last = inner; });
        failed += last == 8 ? 0 : 1;
    });
    CHECK(failed == 0);
}

TEST(a_grandchild_works_too) {
    CHECK(holds_in_child([] {
        return two_threads_meet() && holds_in_child(two_threads_meet) && two_threads_meet();
    }));
}

TEST(a_process_that_exits_while_workers_are_parked_or_busy_does_not_hang) {
    std::fflush(stdout);  // else the child's exit prints it again
    const pid_t child = fork();
    if (child == 0) {
        alarm(30);
        sum_of_squares(4, 100);
        std::thread([] {
            parallel_for(4, 4, [](std::size_t) { std::this_thread::sleep_for(30s); });
        }).detach();
        std::this_thread::sleep_for(10ms);
#if defined(__SANITIZE_ADDRESS__)
        _exit(0);  // the leak checker would count the pool the parent left behind
#else
        std::exit(0);
#endif
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#if defined(__linux__)
namespace {

std::ptrdiff_t n_tasks() {
    const auto tasks = std::filesystem::directory_iterator("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
}

}  // namespace

TEST(the_pool_grows_to_the_largest_wish_and_not_to_the_sum) {
    CHECK(holds_in_child([] {  // where the pool is empty
        std::vector<std::jthread> callers;
        for (int caller = 0; caller < 6; ++caller) {
            callers.emplace_back([] { sum_of_squares(4, 100); });
        }
        callers.clear();
        // A thread that was joined may still be listed for a moment; workers of the pool stay.
        const auto deadline = std::chrono::steady_clock::now() + 20s;
        while (n_tasks() > 1 + 3 && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(1ms);
        }
        return n_tasks() == 1 + 3;
    }));
}
#endif

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)  // which needs all addresses for itself
TEST(when_no_thread_can_be_started_the_caller_goes_on_alone) {
    CHECK(holds_in_child([] {
        const rlimit none{.rlim_cur = 0, .rlim_max = 0};
        bool refused = false;
        setrlimit(RLIMIT_AS, &none);
        try {
            for (int i = 0; i < 5000; ++i) {  // the stacks of dead threads may be used again
                std::thread([] { pause(); }).detach();
            }
        } catch (const std::exception&) {
            refused = true;
        }
        return refused && sum_of_squares(64, 300) == expected_sum(300);
    }));
}
#endif
#endif  // can fork

CHECK_MAIN
