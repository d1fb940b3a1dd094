/// Memory for large arrays that are read at random.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace spinney {

/// Asks the system for pages of 2 MB where an array is large enough: a processor remembers the
/// places of some thousand pages, which is 12 MB of small ones. Only a wish; without it the array
/// is as any other. What does not fill a large page has small ones, or its empty rest would take
/// memory, too.
template <class T>
struct LargePageAllocator {
    using value_type = T;

    LargePageAllocator() = default;
    template <class Other>
    explicit LargePageAllocator(const LargePageAllocator<Other>&) {}

    T* allocate(std::size_t n) {
        const std::size_t bytes = whole_pages(n);
        if (bytes < 2 * kPage) return std::allocator<T>().allocate(n);
        void* memory = ::operator new(bytes, std::align_val_t{kPage});
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        madvise(memory, n * sizeof(T) / kPage * kPage, MADV_HUGEPAGE);
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t n) {
        if (whole_pages(n) < 2 * kPage) return std::allocator<T>().deallocate(memory, n);
        ::operator delete(memory, std::align_val_t{kPage});
    }
    bool operator==(const LargePageAllocator&) const { return true; }

  private:
    static constexpr std::size_t kPage = std::size_t{1} << 21;
    static std::size_t whole_pages(std::size_t n) {
        return (n * sizeof(T) + kPage - 1) / kPage * kPage;
    }
};

template <class T>
using LargeVector = std::vector<T, LargePageAllocator<T>>;

/// The same for arrays that are filled at once, by whoever: resize() leaves new numbers unset, so
/// that their pages are first touched by the threads that write them.
template <class T>
struct UnsetAllocator : LargePageAllocator<T> {
    UnsetAllocator() = default;
    template <class Other>
    explicit UnsetAllocator(const UnsetAllocator<Other>&) {}

    template <class Number>
    void construct(Number* place) {
        ::new (static_cast<void*>(place)) Number;
    }
    template <class Number, class... Arguments>
    void construct(Number* place, Arguments&&... arguments) {
        ::new (static_cast<void*>(place)) Number(std::forward<Arguments>(arguments)...);
    }
};

template <class T>
using UnsetVector = std::vector<T, UnsetAllocator<T>>;

}  // namespace spinney
