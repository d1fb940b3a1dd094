#include "native/trees/row_partition.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>

namespace spinney {

/// Sixteen rows at a time: those of each side are brought together in a register and stored; what
/// is stored too much is overwritten by the next.
void split_rows_avx512(const std::uint32_t* rows, const std::uint64_t* sides, std::size_t n,
                       std::uint32_t* left, std::uint32_t* right) {
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const auto pattern = static_cast<__mmask16>(sides[i / 64] >> (i % 64));
        const auto others = static_cast<__mmask16>(~pattern);
        const __m512i some = _mm512_loadu_si512(rows + i);
        _mm512_storeu_si512(left, _mm512_maskz_compress_epi32(pattern, some));
        _mm512_storeu_si512(right, _mm512_maskz_compress_epi32(others, some));
        const int n_left = _mm_popcnt_u32(pattern);
        left += n_left;
        right += 16 - n_left;
    }
    for (; i < n; ++i) {
        const std::size_t is_left = (sides[i / 64] >> (i % 64)) & 1;
        *left = rows[i];
        *right = rows[i];
        left += is_left;
        right += 1 - is_left;
    }
}

}  // namespace spinney
#endif
