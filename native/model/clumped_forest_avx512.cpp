#include "native/model/clumped_forest.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>

namespace spinney {
namespace {

/// Rows whose steps are spelled out side by side: so many chains of some forty cycles keep the
/// processor busy; eight do not, and thirty-two no better.
constexpr std::size_t kTogether = 16;
/// Clumps that all rows pass, before those that have arrived are left out.
constexpr int kFirstClumps = 3;

/// Exits of the crown for sixteen rows.
[[gnu::always_inline]] inline __m512i exits_of(const Crown& crown, __m512i paths) {
    static_assert(kCrownExits == 32);
    return _mm512_permutex2var_epi32(_mm512_loadu_si512(crown.exits), paths,
                                     _mm512_loadu_si512(crown.exits + 16));
}

/// Which of the rows that came to a question go right.
template <bool kMissing>
[[gnu::always_inline]] inline __mmask16 go_right(__mmask16 came, const RowKey* keys, __m512i limit,
                                                 __m512i not_above) {
    const __m512i own = _mm512_load_si512(keys);
    const __mmask16 right = _mm512_mask_cmpgt_epu32_mask(came, own, limit);
    return kMissing ? _mm512_mask_cmpneq_epu32_mask(right, own, not_above) : right;
}

/// Thirty-two rows past all questions of the crown, whatever way each takes.
template <bool kMissing>
[[gnu::always_inline]] inline void pass_crown(const Crown& crown, const RowKey* columns,
                                              std::uint32_t* exits) {
    __m512i low = _mm512_setzero_si512();
    __m512i high = low;
    __mmask16 low_came[kCrownExits];
    __mmask16 high_came[kCrownExits];
    low_came[1] = high_came[1] = 0xFFFF;
#pragma GCC unroll 31
    for (unsigned q = 1; q < kCrownExits; ++q) {
        const unsigned level = 31U - static_cast<unsigned>(__builtin_clz(q));
        const __m512i limit = _mm512_set1_epi32(static_cast<int>(crown.limits[q]));
        const __m512i not_above = _mm512_set1_epi32(static_cast<int>(crown.not_above[q]));
        const __m512i step = _mm512_set1_epi32(1 << (kCrownLevels - 1 - level));
        const auto* keys = reinterpret_cast<const RowKey*>(
            reinterpret_cast<const std::byte*>(columns) + crown.columns[q]);
        const __mmask16 low_right = go_right<kMissing>(low_came[q], keys, limit, not_above);
        const __mmask16 high_right = go_right<kMissing>(high_came[q], keys + 16, limit, not_above);
        low = _mm512_mask_or_epi32(low, low_right, low, step);
        high = _mm512_mask_or_epi32(high, high_right, high, step);
        if (2 * q >= kCrownExits) continue;
        low_came[2 * q] = _kandn_mask16(low_right, low_came[q]);
        low_came[2 * q + 1] = low_right;
        high_came[2 * q] = _kandn_mask16(high_right, high_came[q]);
        high_came[2 * q + 1] = high_right;
    }
    _mm512_storeu_si512(exits, exits_of(crown, low));
    _mm512_storeu_si512(exits + 16, exits_of(crown, high));
}

/// The lower half. Not the cast of the same meaning: GCC 12 takes what that leaves undefined for a
/// mistake.
[[gnu::always_inline]] inline __m256i lower_half(__m512i all) {
    return reinterpret_cast<__m256i>(__builtin_shufflevector(all, all, 0, 1, 2, 3));
}

/// Keys of one row.
template <int kVectors>
struct Keys {
    __m512i vectors[kVectors];

    [[gnu::always_inline]] explicit Keys(const RowKey* keys) {
        for (int v = 0; v < kVectors; ++v) vectors[v] = _mm512_load_si512(keys + v * 16);
    }

    /// Those of the slots in the low bits of eight words; what is above the low bits is not looked
    /// at.
    [[gnu::always_inline]] __m256i of(__m256i slots) const {
        const __m512i wide = _mm512_castsi256_si512(slots);
        if constexpr (kVectors == 1) {
            return lower_half(_mm512_maskz_permutexvar_epi32(0xFF, wide, vectors[0]));
        }
        const __m512i first = _mm512_permutex2var_epi32(vectors[0], wide, vectors[kVectors > 1]);
        if constexpr (kVectors <= 2) return lower_half(first);
        const __m512i second =
            _mm512_permutex2var_epi32(vectors[kVectors - 2], wide, vectors[kVectors - 1]);
        const __mmask16 is_second = _mm512_test_epi32_mask(wide, _mm512_set1_epi32(32));
        return lower_half(_mm512_mask_mov_epi32(first, is_second, second));
    }
};

/// Where a row goes from a clump.
template <int kVectors, bool kMissing>
[[gnu::always_inline]] inline std::uint32_t pass_clump(const ClumpTask& task, std::uint32_t at,
                                                       const Keys<kVectors>& keys) {
    const auto& clump =
        *reinterpret_cast<const Clump*>(reinterpret_cast<const std::byte*>(task.clumps) + at);
    const __m256i own = keys.of(_mm256_load_si256(reinterpret_cast<const __m256i*>(clump.exits)));
    const __m256i limits = _mm256_load_si256(reinterpret_cast<const __m256i*>(clump.limits));
    // Lane 7 would compare what stands behind the limits.
    unsigned answers = _mm256_mask_cmpgt_epu32_mask(kClumpAnswers - 1, own, limits);
    if constexpr (kMissing) {
        const __mmask8 missing = _mm256_cmpeq_epu32_mask(own, _mm256_set1_epi32(-1));
        answers &= ~static_cast<unsigned>(missing & clump.missing_left);
    }
    const unsigned exit = task.exits_by_answers[clump.first_exit + answers];
    return clump.exits[exit] & ~kSlotBits;
}

/// Rows past their first clumps. One that has arrived looks at the first clump of the tree and
/// forgets what it saw.
template <int kVectors, bool kMissing>
[[gnu::always_inline]] inline std::size_t set_out(const ClumpTask& task, std::size_t row,
                                                  std::size_t n_waiting) {
    std::uint32_t at[kTogether];
    const RowKey* first = task.rows + row * kVectors * 16;
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kTogether; ++i) at[i] = task.leaves[row + i];
#pragma GCC unroll 4
    for (int step = 0; step < kFirstClumps; ++step) {
#pragma GCC unroll 16
        for (std::size_t i = 0; i < kTogether; ++i) {
            const bool is_leaf = static_cast<std::int32_t>(at[i]) < 0;
            const std::uint32_t to = pass_clump<kVectors, kMissing>(
                task, is_leaf ? 0 : at[i], Keys<kVectors>(first + i * 16 * kVectors));
            at[i] = is_leaf ? at[i] : to;
        }
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kTogether; ++i) {
        task.leaves[row + i] = at[i];
        task.waiting[n_waiting] = static_cast<std::uint32_t>(row + i);
        n_waiting += (at[i] >> 31) ^ 1;
    }
    return n_waiting;
}

template <int kVectors, bool kMissing>
void find(const ClumpTask& task) {
    for (std::size_t row = 0; row < task.n_rows; row += kCrownRows) {
        pass_crown<kMissing>(*task.crown, task.columns + row * task.n_slots, task.leaves + row);
    }
    std::size_t n_waiting = 0;
    std::size_t n_fetched = 0;
    for (std::size_t row = 0; row < task.n_rows; row += kTogether) {
        // The next tree is on its way while this one is passed: clumps are read in no order, and
        // waiting for the third cache took up to half of the time.
        const std::size_t n_fetch = (row + kTogether) * task.n_next / task.n_rows;
        for (; n_fetched < n_fetch; ++n_fetched) _mm_prefetch(task.next + n_fetched, _MM_HINT_T1);
        n_waiting = set_out<kVectors, kMissing>(task, row, n_waiting);
    }
    while (n_waiting > 0) {
        std::size_t n_left = 0;
        for (std::size_t i = 0; i < n_waiting; ++i) {
            const std::size_t row = task.waiting[i];
            const Keys<kVectors> keys(task.rows + row * kVectors * 16);
            const std::uint32_t to = pass_clump<kVectors, kMissing>(task, task.leaves[row], keys);
            task.leaves[row] = to;
            task.waiting[n_left] = static_cast<std::uint32_t>(row);
            n_left += (to >> 31) ^ 1;
        }
        n_waiting = n_left;
    }
}

template <int kVectors>
void find(const ClumpTask& task) {
    task.any_missing ? find<kVectors, true>(task) : find<kVectors, false>(task);
}

}  // namespace

void find_clumped_avx512(const ClumpTask& task) {
    if (task.n_vectors == 1) return find<1>(task);
    if (task.n_vectors == 2) return find<2>(task);
    find<4>(task);
}

}  // namespace spinney
#endif
