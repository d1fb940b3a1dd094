/// Whether short work is sooner done by one thread than by several, learnt by the clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "native/base/parallel.hpp"

namespace spinney {

/// For work that is done again and again, consists of many short loops, and gives the same result
/// with every number of threads.
///
/// Handing a loop to another core and waiting for it takes from a third of a microsecond to three:
/// a hypervisor may put two cores side by side or far apart, and change that while a program runs.
/// So no fixed size of a loop is right. Nor is a choice for each loop: what one core has written
/// the other has to fetch. So some rounds of the work are done in one way, some in the other, and
/// those that follow in the way that was faster.
template <class Clock>
class TimedThreadChoice {
  public:
    /// Runs one round. With one thread all parallel loops in it are plain ones.
    template <class Round>
    void run(const Round& round) {
        const std::size_t turn = n_rounds_++ % kPeriod;
        if (turn == 0) together_ = alone_ = kNever;
        const bool tries_alone = turn >= kTries && turn < 2 * kTries && together_ < kWorthThreads;
        is_alone_ = tries_alone || (turn >= 2 * kTries && alone_ < together_);
        const auto start = Clock::now();
        again(round);
        if (turn >= 2 * kTries || turn % kTries == 0)
            return;  // the first one fetches what it needs
        double& known = is_alone_ ? alone_ : together_;
        known = std::min(known, seconds_since(start));
    }

    /// Whether the last round was one thread's.
    bool is_alone() const { return is_alone_; }

    /// Runs what belongs to the last round in the same way.
    template <class Work>
    void again(const Work& work) const {
        if (!is_alone_) return work();
        parallel_for(1, 1, [&](std::size_t) { work(); });
    }

  private:
    static double seconds_since(typename Clock::time_point start) {
        return std::chrono::duration<double>(Clock::now() - start).count();
    }

    /// Rounds of each way at the beginning of a period.
    static constexpr std::size_t kTries = 3;
    static constexpr std::size_t kPeriod = 256;
    /// Seconds of a round from which on threads pay wherever their cores are.
    static constexpr double kWorthThreads = 1e-3;
    static constexpr double kNever = 1e9;

    std::size_t n_rounds_ = 0;
    bool is_alone_ = false;
    double together_ = kNever;  ///< seconds of the fastest round tried in this period
    double alone_ = kNever;
};

using ThreadChoice = TimedThreadChoice<std::chrono::steady_clock>;

}  // namespace spinney
