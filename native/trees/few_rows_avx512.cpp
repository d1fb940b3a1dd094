#include "native/trees/few_rows.hpp"

#if defined(__AVX512BW__)
#include <immintrin.h>

namespace spinney {
namespace {

/// What sets of n rows are worth, in registers.
template <std::size_t kRows>
class Worths {
  public:
    explicit Worths(const std::uint16_t* worths) {
        for (std::size_t t = 0; t < kTables; ++t) tables_[t] = _mm512_loadu_si512(worths + 32 * t);
    }

    [[gnu::always_inline]] __m512i of(__m512i sets) const {
        if constexpr (kTables == 1) {
            return _mm512_permutexvar_epi16(sets, tables_[0]);
        } else if constexpr (kTables == 2) {
            return pair(sets, 0);
        } else {
            const __mmask32 bit6 = _mm512_test_epi16_mask(sets, _mm512_set1_epi16(64));
            const __m512i low = _mm512_mask_blend_epi16(bit6, pair(sets, 0), pair(sets, 2));
            if constexpr (kTables == 4) return low;
            const __mmask32 bit7 = _mm512_test_epi16_mask(sets, _mm512_set1_epi16(128));
            const __m512i high =
                _mm512_mask_blend_epi16(bit6, pair(sets, 4 % kTables), pair(sets, 6 % kTables));
            return _mm512_mask_blend_epi16(bit7, low, high);
        }
    }

  private:
    static constexpr std::size_t kTables = kRows <= 5 ? 1 : std::size_t{1} << (kRows - 5);

    [[gnu::always_inline]] __m512i pair(__m512i sets, std::size_t t) const {
        return _mm512_permutex2var_epi16(tables_[t], sets, tables_[t + 1]);
    }

    __m512i tables_[kTables];
};

[[gnu::always_inline]] inline std::uint16_t largest(__m512i words) {
    __m256i some = _mm256_max_epu16(_mm512_maskz_extracti64x4_epi64(0xFF, words, 0),
                                    _mm512_maskz_extracti64x4_epi64(0xFF, words, 1));
    __m128i few = _mm_max_epu16(_mm256_castsi256_si128(some), _mm256_extracti128_si256(some, 1));
    // The least of what is left is one instruction, the largest is not.
    few = _mm_xor_si128(few, _mm_set1_epi16(-1));
    return static_cast<std::uint16_t>(~_mm_extract_epi16(_mm_minpos_epu16(few), 0));
}

/// Calls with every set that some cut may put left.
template <std::size_t kRows, class Use>
[[gnu::always_inline]] inline void each_set(const RowsByRank& rows, const FewCuts& cuts,
                                            std::size_t f, Use use) {
    for (std::size_t r = 0; r < kRows; ++r) {
        const __m512i left = _mm512_loadu_si512(cuts.left + r * rows.n_lanes + f);
        use(left);
        if (rows.any_missing) use(_mm512_or_si512(left, _mm512_loadu_si512(cuts.missing + f)));
    }
}

/// Writes the cuts of 32 features; returns what their best are worth.
template <std::size_t kRows>
[[gnu::always_inline]] inline __m512i find_sets(const RowsByRank& rows, const Worths<kRows>& worths,
                                                const FewCuts& cuts, std::size_t f) {
    __m512i ranks[kRows];
    for (std::size_t r = 0; r < kRows; ++r) ranks[r] = _mm512_loadu_si512(rows.ranks[r] + f);
    if (rows.any_missing) {
        __m512i missing = _mm512_setzero_si512();
        for (std::size_t r = 0; r < kRows; ++r) {
            const __mmask32 is = _mm512_cmpeq_epi16_mask(ranks[r], _mm512_set1_epi16(-1));
            const __m512i bit = _mm512_set1_epi16(static_cast<short>(1U << r));
            missing = _mm512_or_si512(missing, _mm512_maskz_mov_epi16(is, bit));
        }
        _mm512_storeu_si512(cuts.missing + f, missing);
    }
    __m512i best = _mm512_setzero_si512();
    for (std::size_t r = 0; r < kRows; ++r) {
        __m512i left = _mm512_set1_epi16(static_cast<short>(1U << r));
        for (std::size_t j = 0; j < kRows; ++j) {
            if (j == r) continue;
            const __mmask32 goes = _mm512_cmple_epu16_mask(ranks[j], ranks[r]);
            const __m512i bit = _mm512_set1_epi16(static_cast<short>(1U << j));
            left = _mm512_mask_add_epi16(left, goes, left, bit);
        }
        _mm512_storeu_si512(cuts.left + r * rows.n_lanes + f, left);
        best = _mm512_max_epu16(best, worths.of(left));
        if (rows.any_missing) {
            const __m512i missing = _mm512_loadu_si512(cuts.missing + f);
            best = _mm512_max_epu16(best, worths.of(_mm512_or_si512(left, missing)));
        }
    }
    return best;
}

template <std::size_t kRows>
void find_cuts(const RowsByRank& rows, const std::uint16_t* worth_of, FewCuts& cuts) {
    const Worths<kRows> worths(worth_of);
    __m512i most = _mm512_setzero_si512();
    for (std::size_t f = 0; f < rows.n_lanes; f += kRankLanes) {
        const __m512i best = find_sets<kRows>(rows, worths, cuts, f);
        _mm512_storeu_si512(cuts.room + f, best);
        most = _mm512_max_epu16(most, best);
    }
    cuts.most = largest(most);
    cuts.is_one_parting = true;
    if (cuts.most == 0) return;
    const __m512i least = _mm512_set1_epi16(static_cast<short>(cuts.most > 1 ? cuts.most - 1 : 1));
    for (std::size_t f = 0; f < rows.n_lanes; f += kRankLanes) {
        cuts.tied[f / kRankLanes] =
            _mm512_cmpge_epu16_mask(_mm512_loadu_si512(cuts.room + f), least);
    }
    if constexpr (kRows > 2) {
        constexpr RowSet kAll = (1U << kRows) - 1U;
        RowSet first = 0;
        __mmask32 others = 0;
        __m512i one = _mm512_setzero_si512();
        __m512i other_side = one;
        for (std::size_t f = 0; f < rows.n_lanes; f += kRankLanes) {
            if (cuts.tied[f / kRankLanes] == 0) continue;
            each_set<kRows>(rows, cuts, f, [&](__m512i sets) {
                const __mmask32 tied = _mm512_cmpge_epu16_mask(worths.of(sets), least);
                if (first == 0 && tied != 0) {
                    alignas(64) RowSet list[kRankLanes];
                    _mm512_store_si512(list, sets);
                    first = list[__builtin_ctz(tied)];
                    one = _mm512_set1_epi16(static_cast<short>(first));
                    other_side = _mm512_set1_epi16(static_cast<short>(kAll ^ first));
                }
                others |= _mm512_mask_cmpneq_epi16_mask(
                    _mm512_mask_cmpneq_epi16_mask(tied, sets, one), sets, other_side);
            });
        }
        cuts.is_one_parting = others == 0;
    }
}

}  // namespace

void find_few_cuts_avx512(const RowsByRank& rows, const std::uint16_t* worths, FewCuts& cuts) {
    switch (rows.n_rows) {
        case 2:
            return find_cuts<2>(rows, worths, cuts);
        case 3:
            return find_cuts<3>(rows, worths, cuts);
        case 4:
            return find_cuts<4>(rows, worths, cuts);
        case 5:
            return find_cuts<5>(rows, worths, cuts);
        case 6:
            return find_cuts<6>(rows, worths, cuts);
        case 7:
            return find_cuts<7>(rows, worths, cuts);
        default:
            return find_cuts<8>(rows, worths, cuts);
    }
}

}  // namespace spinney
#endif
