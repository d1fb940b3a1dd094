/// The one way to use several threads: a pool of our own, shared by the whole process.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace spinney {

template <class Signature>
class FunctionRef;

/// A borrowed callable: two pointers, no allocation; what it returns is dropped.
/// Must not outlive the callable it was made from.
template <class... Arguments>
class FunctionRef<void(Arguments...)> {
  public:
    template <class Callable>
        requires(!std::same_as<std::remove_cvref_t<Callable>, FunctionRef> &&
                 std::is_object_v<std::remove_reference_t<Callable>> &&
                 std::is_invocable_v<Callable&, Arguments...>)
    FunctionRef(Callable&& callable) noexcept  // implicit, so that a lambda is passed as it is
        : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
          call_([](void* object, Arguments... arguments) {
              using Object = std::remove_reference_t<Callable>;
              static_cast<void>(
                  (*static_cast<Object*>(object))(std::forward<Arguments>(arguments)...));
          }) {}

    void operator()(Arguments... arguments) const {
        call_(object_, std::forward<Arguments>(arguments)...);
    }

  private:
    void* object_;
    void (*call_)(void*, Arguments...);
};

/// Calls task(chunk) once for every chunk in [0, n_chunks) and returns when all calls have ended.
///
/// At most n_threads threads work on the call: the caller, always, and parked workers of the pool.
/// One thread or one chunk is a plain loop on the caller.
///
/// Which thread runs a chunk, and in which order chunks end, is an accident: the next chunk goes to
/// whoever asks first. So a result may depend on the chunk number, never on the thread; write into
/// a place of the chunk's own and combine in chunk order after the call.
///
/// Nested: a call from inside a chunk is a plain loop on that thread.
/// Outside threads may call at the same time; they share the workers. No call waits for a worker to
/// begin, only for chunks that have begun, so every caller can finish alone and none can deadlock.
///
/// Exceptions: after a throw no further chunk begins. The caller gets exactly one exception, that
/// of the lowest chunk that threw. Chunks begin in increasing order, so this is the exception the
/// plain loop would have thrown, for every number of threads.
///
/// fork(): the child may call this at once, whatever the parent's threads were doing. A chunk that
/// forks may go on in the child as long as the child never returns from the chunk.
///
/// Cost: no allocation once the workers exist; waking a parked worker takes microseconds, so a
/// chunk should be worth tens of them.
void parallel_for(int n_threads, std::size_t n_chunks, FunctionRef<void(std::size_t)> task);

/// Calls task(first, last) for [0, block), [block, 2 * block), ... up to n_items, as parallel_for.
///
/// The boundaries depend on n_items and block only, never on n_threads: a floating-point sum per
/// block, added in block order, has the same bits for every number of threads.
void parallel_blocks(int n_threads, std::size_t n_items, std::size_t block,
                     FunctionRef<void(std::size_t, std::size_t)> task);

}  // namespace spinney
