#include <chrono>
#include <cstddef>
#include <set>
#include <thread>
#include <vector>

#include "native/base/thread_choice.hpp"
#include "tests/native/check.hpp"

using spinney::parallel_for;

namespace {

/// A clock that stands still until it is told to move.
struct StoppedClock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<StoppedClock>;
    static constexpr bool is_steady = true;

    static inline time_point at{};
    static time_point now() { return at; }
};

using Choice = spinney::TimedThreadChoice<StoppedClock>;
using std::chrono::microseconds;

/// Whether each of some rounds, which take so long alone and with threads, was one thread's.
std::vector<bool> rounds_alone(Choice& choice, std::size_t n, microseconds alone,
                               microseconds together) {
    std::vector<bool> found;
    for (std::size_t i = 0; i < n; ++i) {
        choice.run([&] { StoppedClock::at += choice.is_alone() ? alone : together; });
        found.push_back(choice.is_alone());
    }
    return found;
}

std::size_t count_alone(const std::vector<bool>& rounds, std::size_t first, std::size_t last) {
    std::size_t n = 0;
    for (std::size_t i = first; i < last; ++i) n += rounds[i] ? 1 : 0;
    return n;
}

}  // namespace

TEST(both_ways_are_tried_and_the_faster_one_is_kept) {
    Choice far_apart;
    const auto slow_threads = rounds_alone(far_apart, 256, microseconds(90), microseconds(130));
    CHECK(count_alone(slow_threads, 0, 3) == 0);
    CHECK(count_alone(slow_threads, 3, 256) == 253);
    Choice side_by_side;
    const auto fast_threads = rounds_alone(side_by_side, 256, microseconds(90), microseconds(60));
    CHECK(count_alone(fast_threads, 3, 6) == 3);
    CHECK(count_alone(fast_threads, 6, 256) == 0);
}

TEST(cores_that_were_moved_are_found_out) {
    Choice choice;
    rounds_alone(choice, 256, microseconds(90), microseconds(130));
    const auto moved = rounds_alone(choice, 256, microseconds(90), microseconds(60));
    CHECK(count_alone(moved, 6, 256) == 0);
}

TEST(long_rounds_are_never_one_thread_s) {
    Choice choice;
    const auto rounds = rounds_alone(choice, 300, microseconds(500), microseconds(2000));
    CHECK(count_alone(rounds, 0, 300) == 0);
}

TEST(a_round_that_was_interrupted_decides_nothing) {
    Choice choice;
    std::size_t round = 0;
    for (std::size_t i = 0; i < 7; ++i, ++round) {
        choice.run([&] {
            const auto usual = choice.is_alone() ? microseconds(90) : microseconds(60);
            StoppedClock::at += round == 1 ? microseconds(900) : usual;
        });
    }
    CHECK(!choice.is_alone());
}

TEST(loops_of_a_lone_round_stay_on_the_caller) {
    Choice choice;
    rounds_alone(choice, 6, microseconds(90), microseconds(130));
    std::set<std::thread::id> ids;
    std::size_t n = 0;
    const auto loop = [&] {
        parallel_for(4, 64, [&](std::size_t) {  // no lock: it would be a race with other threads
            ids.insert(std::this_thread::get_id());
            ++n;
        });
    };
    choice.run(loop);
    choice.again(loop);
    CHECK(choice.is_alone());
    CHECK(n == 128);
    CHECK(ids.size() == 1 && *ids.begin() == std::this_thread::get_id());
}

CHECK_MAIN
