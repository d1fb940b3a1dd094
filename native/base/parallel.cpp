#include "native/base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "native/base/failure.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#define SPINNEY_HAS_FORK 1
#else
#define SPINNEY_HAS_FORK 0
#endif

namespace spinney {
namespace {

constexpr std::size_t kMaxWorkers = 1024;

/// True while this thread is inside a chunk: a nested call must not wait for other threads.
thread_local bool inside_chunk = false;

class ChunkScope {
  public:
    ChunkScope() noexcept : outer_(inside_chunk) { inside_chunk = true; }
    ~ChunkScope() { inside_chunk = outer_; }
    ChunkScope(const ChunkScope&) = delete;
    ChunkScope& operator=(const ChunkScope&) = delete;

  private:
    bool outer_;
};

/// Tells the processor that this thread is waiting for another one.
void relax() noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_ia32_pause();
#endif
}

/// Waits a little while without giving up the processor, before going to sleep.
///
/// A kernel follows the one before within microseconds, and waking a sleeping thread takes longer
/// than that. The wait adapts: when sleeps turn out to be long (a busy machine, or nothing to do)
/// it shrinks to next to nothing, so that a thread does not spin while others want the processor.
class ShortWait {
  public:
    /// Whether it was over before the patience was.
    template <class Predicate>
    bool operator()(const Predicate& is_over) noexcept {
        start_ = Clock::now();
        while (!is_over()) {
            for (int i = 0; i < 16 && !is_over(); ++i) relax();
            if (Clock::now() - start_ > patience_) return is_over();
        }
        patience_ = std::min(patience_ * 2, kMost);
        return true;
    }

    /// To be called when the sleep that followed has ended.
    void learn_from_sleep() noexcept {
        const bool was_short = Clock::now() - start_ < 2 * kMost;
        patience_ = was_short ? std::min(patience_ * 2, kMost) : std::max(patience_ / 2, kLeast);
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::nanoseconds kLeast{1000};
    static constexpr std::chrono::nanoseconds kMost{50000};
    Clock::time_point start_;
    std::chrono::nanoseconds patience_ = kMost;
};

/// A mutex for a few instructions: what it guards is never waited for inside.
class SpinLock {
  public:
    void lock() noexcept {
        for (int tries = 0; flag_.test_and_set(std::memory_order_acquire); ++tries) {
            if (tries < 64) {
                relax();
            } else {
                std::this_thread::yield();  // its holder may have lost the processor
            }
        }
    }
    void unlock() noexcept { flag_.clear(std::memory_order_release); }

  private:
    std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

/// One call of parallel_for; lives on the caller's stack until no worker is inside.
struct Job {
    FunctionRef<void(std::size_t)> task;
    std::size_t n_chunks;
    /// Every chunk below has begun. Relaxed: what chunks write is published by workers_inside.
    std::atomic<std::size_t> next_chunk{0};
    /// Workers that joined and have not left. Joining happens under Pool::lock_; leaving does not,
    /// and is the last thing a worker does with the job.
    std::atomic<std::size_t> workers_inside{0};

    // Guarded by Pool::lock_.
    std::size_t free_seats;  ///< workers that may still join
    std::size_t failed_chunk = std::numeric_limits<std::size_t>::max();
    std::exception_ptr failure{};

    bool has_work() const noexcept {
        return free_seats > 0 && next_chunk.load(std::memory_order_relaxed) < n_chunks;
    }
};

/// Workers that wait a moment, then park on a condition variable, until a job has a free seat.
///
/// Never destroyed: workers are detached and may be parked in it while the process exits, and an
/// exit that joins threads hangs when one of them is gone (fork) or frozen (Windows).
class Pool {
  public:
    /// Runs the job on the caller and at most job.free_seats workers; rethrows its failure.
    void run(Job& job) {
        open(job);
        work_on(job);
        close(job);
        if (job.failure) {
            std::rethrow_exception(job.failure);
        }
    }

  private:
    void open(Job& job) {
        const std::size_t wanted = job.free_seats;
        if (n_workers_.load(std::memory_order_relaxed) < std::min(wanted, kMaxWorkers)) {
            start_workers(wanted);
        }
        {
            const std::scoped_lock guard(lock_);
            open_jobs_.push_back(&job);
        }
        n_opened_.fetch_add(1);  // seq_cst, like the counts of sleepers: one of us sees the other
        if (n_parked_.load() > 0) {
            const std::scoped_lock guard(sleep_);
            for (std::size_t i = std::min(wanted, n_parked_.load()); i > 0; --i) {
                wake_.notify_one();
            }
        }
    }

    /// Waits for the chunks that workers hold; afterwards no other thread knows the job.
    void close(Job& job) {
        {
            const std::scoped_lock guard(lock_);
            std::erase(open_jobs_, &job);
        }
        const auto all_left = [&job] { return job.workers_inside.load() == 0; };
        thread_local ShortWait wait_for_workers;
        if (wait_for_workers(all_left)) return;
        std::unique_lock guard(sleep_);
        ++n_waiting_;
        left_.wait(guard, all_left);
        --n_waiting_;
        wait_for_workers.learn_from_sleep();
    }

    /// Workers are shared, so the pool grows to the largest wish, not to the sum of the wishes.
    /// When the system gives no more threads the job goes on with those there are.
    void start_workers(std::size_t wanted) {
        const std::scoped_lock guard(sleep_);
        try {
            while (n_workers_.load() < std::min(wanted, kMaxWorkers)) {
                std::thread([this] { serve(); }).detach();
                ++n_workers_;
            }
        } catch (const std::exception&) {  // std::system_error, or no memory for the thread
        }
    }

    /// A worker's life.
    void serve() {
        ShortWait wait_for_job;
        for (;;) {
            const std::size_t seen = n_opened_.load();
            if (Job* job = join_job()) {
                work_on(*job);
                leave(*job);
                continue;
            }
            const auto has_opened = [this, seen] { return n_opened_.load() != seen; };
            if (wait_for_job(has_opened)) continue;
            std::unique_lock guard(sleep_);
            ++n_parked_;
            wake_.wait(guard, has_opened);
            --n_parked_;
            wait_for_job.learn_from_sleep();
        }
    }

    Job* join_job() {
        const std::scoped_lock guard(lock_);
        const auto found = std::ranges::find_if(open_jobs_, &Job::has_work);
        if (found == open_jobs_.end()) return nullptr;
        --(*found)->free_seats;
        ++(*found)->workers_inside;
        return *found;
    }

    void leave(Job& job) {
        if (job.workers_inside.fetch_sub(1) != 1) return;
        // The job may be gone from here on.
        if (n_waiting_.load() > 0) {
            const std::scoped_lock guard(sleep_);
            left_.notify_all();
        }
    }

    void work_on(Job& job) noexcept {
        const ChunkScope scope;
        for (;;) {
            const std::size_t chunk = job.next_chunk.fetch_add(1, std::memory_order_relaxed);
            if (chunk >= job.n_chunks) {
                return;
            }
            try {
                job.task(chunk);
            } catch (...) {
                record_failure(job, chunk, std::current_exception());
            }
        }
    }

    void record_failure(Job& job, std::size_t chunk, std::exception_ptr failure) noexcept {
        job.next_chunk.store(job.n_chunks, std::memory_order_relaxed);
        const std::scoped_lock guard(lock_);
        if (chunk < job.failed_chunk) {
            job.failed_chunk = chunk;
            job.failure = std::move(failure);
        }
    }

    SpinLock lock_;
    std::vector<Job*> open_jobs_;  ///< in order of arrival; each is alive on its caller's stack
    std::atomic<std::size_t> n_opened_{0};  ///< jobs so far: changes when there may be work
    std::atomic<std::size_t> n_workers_{0};

    std::mutex sleep_;  ///< for those who wait long
    std::condition_variable wake_;
    std::condition_variable left_;
    std::atomic<std::size_t> n_parked_{0};
    std::atomic<std::size_t> n_waiting_{0};
};

std::atomic<Pool*> current_pool{nullptr};

/// Made at first use, without a lock: a static local's guard, held by a thread that fork() left
/// behind, would block the child for ever.
Pool& pool() {
    Pool* existing = current_pool.load(std::memory_order_acquire);
    if (existing != nullptr) {
        return *existing;
    }
    Pool* fresh = new Pool;
    if (current_pool.compare_exchange_strong(existing, fresh, std::memory_order_acq_rel)) {
        return *fresh;
    }
    delete fresh;
    return *existing;
}

#if SPINNEY_HAS_FORK
/// In a child of fork() only the forking thread lives. The old pool has no workers, and its mutex
/// may be held by one of the dead, so it is abandoned untouched; first use makes a new one.
void forget_pool_in_child() {
    current_pool.store(nullptr, std::memory_order_relaxed);
    inside_chunk = false;
}

/// When the library is loaded, before any thread can fork.
[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, forget_pool_in_child);
#endif

}  // namespace

void parallel_for(int n_threads, std::size_t n_chunks, FunctionRef<void(std::size_t)> task) {
    if (n_threads <= 1 || n_chunks <= 1 || inside_chunk) {
        const ChunkScope scope;
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) {
            task(chunk);
        }
        return;
    }
    const std::size_t helpers = std::min(static_cast<std::size_t>(n_threads), n_chunks) - 1;
    Job job{.task = task, .n_chunks = n_chunks, .free_seats = helpers};
    pool().run(job);
}

void parallel_blocks(int n_threads, std::size_t n_items, std::size_t block,
                     FunctionRef<void(std::size_t, std::size_t)> task) {
    if (block == 0) {
        throw Failure(FailureKind::kInvalidParameter,
                      "block=0: a block holds at least one item. Use block=1 or more.");
    }
    const std::size_t n_blocks = n_items / block + (n_items % block == 0 ? 0 : 1);
    parallel_for(n_threads, n_blocks, [&](std::size_t index) {
        const std::size_t first = index * block;
        task(first, first + std::min(block, n_items - first));
    });
}

}  // namespace spinney
