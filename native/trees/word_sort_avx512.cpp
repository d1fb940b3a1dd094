#include "native/trees/word_sort.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>

#include <algorithm>

namespace spinney {
namespace {

// Bitonic sorting: runs of 64 words are sorted and merged in registers, longer ones by passes over
// memory that end in those. Two sorted runs are merged by comparing one with the reverse of the
// other, so that no run has to be sorted downwards; then words half, a quarter, ... of a run apart
// are compared. There is no branch on a word: 512 words take 45 steps in every order.

using Words = __m512i;

constexpr std::size_t kLanes = 16;
constexpr std::size_t kVectors = 4;  // sorted in registers
constexpr std::size_t kRun = kLanes * kVectors;
constexpr __mmask16 kAll = 0xFFFF;  // with it functions need no value for other lanes

#define SPINNEY_INLINE [[gnu::always_inline]] inline

SPINNEY_INLINE Words load(const std::uint32_t* words) { return _mm512_loadu_si512(words); }
SPINNEY_INLINE void store(std::uint32_t* words, Words x) { _mm512_storeu_si512(words, x); }

SPINNEY_INLINE Words reversed(Words x) {
    const Words at = _mm512_set_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_maskz_permutexvar_epi32(kAll, at, x);
}
SPINNEY_INLINE Words reversed_eights(Words x) {
    const Words at = _mm512_set_epi32(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    return _mm512_maskz_permutexvar_epi32(kAll, at, x);
}
SPINNEY_INLINE Words reversed_fours(Words x) {
    return _mm512_maskz_shuffle_epi32(kAll, x, static_cast<_MM_PERM_ENUM>(0x1B));
}
SPINNEY_INLINE Words swapped_eights(Words x) {
    return _mm512_maskz_shuffle_i64x2(0xFF, x, x, 0x4E);
}
SPINNEY_INLINE Words swapped_fours(Words x) { return _mm512_maskz_shuffle_i64x2(0xFF, x, x, 0xB1); }
SPINNEY_INLINE Words swapped_pairs(Words x) {
    return _mm512_maskz_shuffle_epi32(kAll, x, static_cast<_MM_PERM_ENUM>(0x4E));
}
SPINNEY_INLINE Words swapped_ones(Words x) {
    return _mm512_maskz_shuffle_epi32(kAll, x, static_cast<_MM_PERM_ENUM>(0xB1));
}

/// The lower of each lane and its partner, in lanes of `upper` the higher.
SPINNEY_INLINE Words compared(Words x, Words partners, __mmask16 upper) {
    return _mm512_mask_max_epu32(_mm512_maskz_min_epu32(kAll, x, partners), upper, x, partners);
}

SPINNEY_INLINE void compare(Words& low, Words& high) {
    const Words least = _mm512_maskz_min_epu32(kAll, low, high);
    high = _mm512_maskz_max_epu32(kAll, low, high);
    low = least;
}

/// As `compare`, with the words of `high` in reverse.
SPINNEY_INLINE void compare_reversed(Words& low, Words& high) {
    high = reversed(high);
    compare(low, high);
}

/// Lanes that rise and then fall, or are such a sequence turned around, become sorted.
SPINNEY_INLINE Words merged_lanes(Words x) {
    x = compared(x, swapped_eights(x), 0xFF00);
    x = compared(x, swapped_fours(x), 0xF0F0);
    x = compared(x, swapped_pairs(x), 0xCCCC);
    return compared(x, swapped_ones(x), 0xAAAA);
}

SPINNEY_INLINE Words sorted_lanes(Words x) {
    x = compared(x, swapped_ones(x), 0xAAAA);
    x = compared(x, reversed_fours(x), 0xCCCC);
    x = compared(x, swapped_ones(x), 0xAAAA);
    x = compared(x, reversed_eights(x), 0xF0F0);
    x = compared(x, swapped_pairs(x), 0xCCCC);
    x = compared(x, swapped_ones(x), 0xAAAA);
    x = compared(x, reversed(x), 0xFF00);
    x = compared(x, swapped_fours(x), 0xF0F0);
    x = compared(x, swapped_pairs(x), 0xCCCC);
    return compared(x, swapped_ones(x), 0xAAAA);
}

SPINNEY_INLINE void load_run(const std::uint32_t* words, Words* x) {
    for (std::size_t v = 0; v < kVectors; ++v) x[v] = load(words + v * kLanes);
}

SPINNEY_INLINE void store_merged(std::uint32_t* words, Words* x) {
    for (std::size_t v = 0; v < kVectors; ++v) store(words + v * kLanes, merged_lanes(x[v]));
}

void sort_run(std::uint32_t* words) {
    Words x[kVectors];
    load_run(words, x);
    for (Words& lanes : x) lanes = sorted_lanes(lanes);
    compare_reversed(x[0], x[1]);
    compare_reversed(x[2], x[3]);
    for (Words& lanes : x) lanes = merged_lanes(lanes);
    compare_reversed(x[0], x[3]);
    compare_reversed(x[1], x[2]);
    compare(x[0], x[1]);
    compare(x[2], x[3]);
    store_merged(words, x);
}

/// A run that is half a merge of longer ones.
void merge_run(std::uint32_t* words) {
    Words x[kVectors];
    load_run(words, x);
    compare(x[0], x[2]);
    compare(x[1], x[3]);
    compare(x[0], x[1]);
    compare(x[2], x[3]);
    store_merged(words, x);
}

/// Two sorted stretches of `half` words become one.
void merge(std::uint32_t* words, std::size_t half) {
    std::uint32_t* upper = words + half;
    for (std::size_t i = 0, k = half - kLanes; i < half / 2; i += kLanes, k -= kLanes) {
        Words low[2] = {load(words + i), load(words + k)};
        Words high[2] = {load(upper + k), load(upper + i)};
        for (int j = 0; j < 2; ++j) compare_reversed(low[j], high[j]);
        store(words + i, low[0]);
        store(words + k, low[1]);
        store(upper + i, high[0]);
        store(upper + k, high[1]);
    }
    for (std::size_t apart = half / 2; apart >= kRun; apart /= 2) {
        for (std::size_t first = 0; first < 2 * half; first += 2 * apart) {
            for (std::size_t i = first; i < first + apart; i += kLanes) {
                Words low = load(words + i);
                Words high = load(words + i + apart);
                compare(low, high);
                store(words + i, low);
                store(words + i + apart, high);
            }
        }
    }
    for (std::size_t first = 0; first < 2 * half; first += kRun) merge_run(words + first);
}

/// Of each lane: how many lanes up to it are in the mask.
SPINNEY_INLINE Words counted(__mmask16 mask) {
    const Words zero = _mm512_setzero_si512();
    Words x = _mm512_maskz_set1_epi32(mask, 1);
    x = _mm512_add_epi32(x, _mm512_maskz_alignr_epi32(kAll, x, zero, 15));
    x = _mm512_add_epi32(x, _mm512_maskz_alignr_epi32(kAll, x, zero, 14));
    x = _mm512_add_epi32(x, _mm512_maskz_alignr_epi32(kAll, x, zero, 12));
    return _mm512_add_epi32(x, _mm512_maskz_alignr_epi32(kAll, x, zero, 8));
}

/// Copies sorted words, with ranks that are 0, 1, 2, ...
std::uint32_t number_ranks(const std::uint32_t* words, std::size_t n, std::uint32_t* into) {
    const Words rows = _mm512_set1_epi32(0xFFFF);
    Words before = _mm512_set1_epi32(static_cast<int>(words[0] >> 16));
    std::uint32_t n_lower = 0;
    for (std::size_t i = 0; i < n; i += kLanes) {
        const Words x = load(words + i);
        const Words ranks = _mm512_maskz_srli_epi32(kAll, x, 16);
        const Words previous = _mm512_maskz_alignr_epi32(kAll, ranks, before, 15);
        const std::size_t n_here = std::min(n - i, kLanes);
        const auto here = static_cast<__mmask16>((1U << n_here) - 1U);
        const __mmask16 is_new = _mm512_mask_cmpneq_epi32_mask(here, ranks, previous);
        const Words own =
            _mm512_add_epi32(counted(is_new), _mm512_set1_epi32(static_cast<int>(n_lower)));
        const Words numbered =
            _mm512_or_si512(_mm512_maskz_slli_epi32(kAll, own, 16), _mm512_and_si512(x, rows));
        _mm512_mask_storeu_epi32(into + i, here, numbered);
        n_lower += static_cast<std::uint32_t>(__builtin_popcount(is_new));
        before = ranks;
    }
    return n_lower;
}

}  // namespace

std::uint32_t sort_words_avx512(std::uint32_t* words, std::size_t n, std::uint32_t* into) {
    const std::size_t end = (n + kRun - 1) / kRun * kRun;
    std::size_t room = kRun;
    while (room < n) room *= 2;
    std::fill(words + n, words + room, ~std::uint32_t{0});
    for (std::size_t first = 0; first < end; first += kRun) sort_run(words + first);
    for (std::size_t half = kRun; half < n; half *= 2) {
        // A stretch with nothing but what was filled in behind it is sorted already.
        for (std::size_t first = 0; first + half < n; first += 2 * half) merge(words + first, half);
    }
    return number_ranks(words, n, into);
}

}  // namespace spinney
#endif
