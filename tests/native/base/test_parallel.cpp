#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "native/base/failure.hpp"
#include "native/base/parallel.hpp"
#include "tests/native/check.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <sys/resource.h>
#endif

using spinney::parallel_blocks;
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

std::string message_of(int n_threads, std::size_t n_chunks,
                       spinney::FunctionRef<void(std::size_t)> task) {
    try {
        parallel_for(n_threads, n_chunks, task);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "nothing thrown";
}

}  // namespace

TEST(every_chunk_runs_exactly_once_for_every_number_of_threads) {
    for (const int n_threads : {-3, 0, 1, 2, 3, 8}) {
        for (const std::size_t n_chunks : {0UL, 1UL, 2UL, 7UL, 1000UL}) {
            std::vector<std::atomic<int>> runs(n_chunks);
            parallel_for(n_threads, n_chunks, [&](std::size_t chunk) { ++runs[chunk]; });
            CHECK(std::ranges::all_of(runs, [](const auto& count) { return count == 1; }));
        }
    }
}

TEST(one_thread_or_one_chunk_is_a_loop_in_order_on_the_caller) {
    for (const auto& [n_threads, n_chunks] : {std::pair{1, 50}, {0, 50}, {-1, 50}, {8, 1}}) {
        std::vector<std::size_t> order;
        bool on_caller = true;
        const auto caller = std::this_thread::get_id();
        parallel_for(n_threads, static_cast<std::size_t>(n_chunks), [&](std::size_t chunk) {
            order.push_back(chunk);
            on_caller = on_caller && std::this_thread::get_id() == caller;
        });
        CHECK(order.size() == static_cast<std::size_t>(n_chunks));
        CHECK(std::ranges::is_sorted(order));
        CHECK(on_caller);
    }
}

TEST(workers_take_part_and_so_does_the_caller) {
    std::atomic<int> arrived = 0;
    std::atomic<bool> all_met = true;
    std::atomic<bool> caller_works = false;
    const auto caller = std::this_thread::get_id();
    parallel_for(4, 4, [&](std::size_t) {
        if (std::this_thread::get_id() == caller) {
            caller_works = true;
        }
        if (!meet(arrived, 4)) {
            all_met = false;
        }
    });
    CHECK(all_met);
    CHECK(caller_works);
}

TEST(at_most_n_threads_work_on_a_call_though_the_pool_has_more) {
    sum_of_squares(16, 16);
    std::mutex mutex;
    std::set<std::thread::id> threads;
    std::atomic<int> inside = 0;
    std::atomic<int> most = 0;
    parallel_for(3, 60, [&](std::size_t) {
        const int now = ++inside;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        std::this_thread::sleep_for(200us);
        const std::scoped_lock lock(mutex);
        threads.insert(std::this_thread::get_id());
        --inside;
    });
    CHECK(most <= 3);
    CHECK(threads.size() <= 3);
}

TEST(a_nested_call_is_a_loop_on_the_same_thread) {
    for (const int n_threads : {1, 4}) {
        std::vector<std::uint64_t> sums(20);
        std::atomic<int> strays = 0;
        parallel_for(n_threads, sums.size(), [&](std::size_t chunk) {
            const auto self = std::this_thread::get_id();
            std::size_t last = 0;  // no lock: only this thread may write it
            parallel_for(4, 100, [&](std::size_t inner) {
                strays += std::this_thread::get_id() == self && inner >= last ? 0 : 1;
                last = inner;
                sums[chunk] += inner;
            });
        });
        CHECK(strays == 0);
        CHECK(std::ranges::all_of(sums, [](std::uint64_t sum) { return sum == 4950; }));
    }
}

TEST(after_a_nested_call_or_a_throw_the_next_call_is_parallel_again) {
    parallel_for(2, 2, [](std::size_t) { sum_of_squares(2, 4); });
    message_of(1, 1, [](std::size_t) { throw std::runtime_error("serial"); });
    std::atomic<int> arrived = 0;
    std::atomic<bool> all_met = true;
    parallel_for(2, 2, [&](std::size_t) { all_met = meet(arrived, 2) && all_met; });
    CHECK(all_met);
}

TEST(many_outside_threads_share_the_workers) {
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 12; ++caller) {
        callers.emplace_back([&wrong, caller] {
            for (std::size_t round = 0; round < 150; ++round) {
                const std::size_t n_chunks =
                    1 + (round * 7 + static_cast<std::size_t>(caller)) % 40;
                if (sum_of_squares(1 + caller % 5, n_chunks) != expected_sum(n_chunks)) {
                    ++wrong;
                }
            }
        });
    }
    callers.clear();
    CHECK(wrong == 0);
}

TEST(a_caller_finishes_alone_while_all_workers_are_held_by_another_job) {
    std::atomic<int> holding = 0;
    std::atomic<bool> release = false;
    // The pool may have more workers than this holds; the inner job is right either way.
    std::jthread holder([&] {
        parallel_for(64, 64, [&](std::size_t) {
            ++holding;
            while (!release) {
                std::this_thread::sleep_for(100us);
            }
        });
    });
    while (holding == 0) {
        std::this_thread::sleep_for(100us);
    }
    CHECK(sum_of_squares(64, 500) == expected_sum(500));
    release = true;
}

TEST(asking_for_64_threads_gives_the_right_sums) {
    for (int round = 0; round < 50; ++round) {
        CHECK(sum_of_squares(64, 1000) == expected_sum(1000));
    }
}

TEST(the_exception_of_the_lowest_chunk_arrives_for_every_number_of_threads) {
    for (int round = 0; round < 100; ++round) {
        for (const int n_threads : {1, 2, 4, 16}) {
            const std::string message = message_of(n_threads, 200, [](std::size_t chunk) {
                if (chunk >= 17) {
                    throw std::runtime_error("chunk " + std::to_string(chunk));
                }
            });
            CHECK(message == "chunk 17");
        }
    }
}

TEST(of_chunks_that_throw_at_once_the_lowest_wins_whether_it_throws_first_or_last) {
    for (const bool lowest_is_last : {false, true}) {
        std::atomic<int> arrived = 0;
        std::atomic<int> thrown = 0;
        const std::string message = message_of(4, 4, [&](std::size_t chunk) {
            meet(arrived, 4);
            const int others_first = lowest_is_last == (chunk == 0) ? (lowest_is_last ? 3 : 1) : 0;
            while (thrown < others_first) {
                std::this_thread::sleep_for(100us);
            }
            std::this_thread::sleep_for(others_first > 0 ? 5ms : 0ms);  // until it is recorded
            ++thrown;
            throw std::runtime_error("chunk " + std::to_string(chunk));
        });
        CHECK(message == "chunk 0");
        CHECK(thrown == 4);
    }
}

TEST(after_a_throw_no_new_chunk_begins_and_the_pool_stays_usable) {
    for (const int n_threads : {1, 4}) {
        std::atomic<std::size_t> begun = 0;
        message_of(n_threads, 100000, [&](std::size_t chunk) {
            ++begun;
            if (chunk == 0) {
                throw std::runtime_error("stop");
            }
            std::this_thread::sleep_for(1ms);  // others begin few chunks before the throw is seen
        });
        CHECK(begun < 50000);
        CHECK(sum_of_squares(n_threads, 100) == expected_sum(100));
    }
}

TEST(an_exception_needs_no_type_and_arrives_once) {
    int arrivals = 0;
    for (int round = 0; round < 20; ++round) {
        try {
            parallel_for(4, 64, [](std::size_t) { throw 7; });
        } catch (int number) {
            arrivals += number == 7 ? 1 : 100;
        }
        parallel_for(4, 64, [](std::size_t) {});
    }
    CHECK(arrivals == 20);
}

TEST(an_exception_inside_a_nested_call_travels_through_both) {
    const std::string message = message_of(3, 9, [](std::size_t outer) {
        parallel_for(3, 9, [outer](std::size_t inner) {
            if (outer >= 2 && inner >= 5) {
                throw std::runtime_error(std::to_string(outer) + "/" + std::to_string(inner));
            }
        });
    });
    CHECK(message == "2/5");
}

TEST(blocks_cover_all_items_with_boundaries_independent_of_threads) {
    using Block = std::pair<std::size_t, std::size_t>;
    for (const std::size_t n_items : {0UL, 1UL, 9UL, 10UL, 11UL, 95UL}) {
        std::vector<Block> expected;
        for (std::size_t first = 0; first < n_items; first += 10) {
            expected.emplace_back(first, std::min(first + 10, n_items));
        }
        for (const int n_threads : {1, 2, 7}) {
            std::vector<Block> blocks((n_items + 9) / 10);
            parallel_blocks(n_threads, n_items, 10, [&](std::size_t first, std::size_t last) {
                blocks[first / 10] = {first, last};
            });
            CHECK(blocks == expected);
        }
    }
}

TEST(a_block_may_be_larger_than_any_number_of_items_but_not_empty) {
    {
        std::pair<std::size_t, std::size_t> seen;
        parallel_blocks(2, 5, SIZE_MAX,
                        [&](std::size_t first, std::size_t last) { seen = {first, last}; });
        CHECK(seen == std::pair<std::size_t, std::size_t>(0, 5));
    }
    CHECK_THROWS(spinney::Failure, parallel_blocks(2, 5, 0, [](std::size_t, std::size_t) {}));
}

TEST(a_mutable_callable_is_borrowed_and_not_copied) {
    std::size_t calls = 0;
    auto counter = [calls](std::size_t) mutable { return ++calls; };
    parallel_for(1, 5, counter);
    CHECK(counter(0) == 6);
}

#if defined(__unix__) || defined(__APPLE__)
TEST(parked_workers_use_no_processor_time) {
    sum_of_squares(16, 1000);
    std::this_thread::sleep_for(20ms);  // until the last worker has parked
    const auto used = [] {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000L + usage.ru_utime.tv_usec +
               usage.ru_stime.tv_usec;
    };
    const auto before = used();
    std::this_thread::sleep_for(200ms);
    CHECK(used() - before < 20000);
}
#endif

CHECK_MAIN
