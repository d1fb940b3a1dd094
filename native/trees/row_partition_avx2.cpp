#include "native/trees/row_partition.hpp"

#if defined(__AVX2__)
#include <immintrin.h>

namespace spinney {
namespace {

/// For each pattern of eight sides, where the rows of the ones are, in their order.
struct Places {
    alignas(32) std::uint32_t of[256][8];
};

constexpr Places make_places() {
    Places places{};
    for (unsigned pattern = 0; pattern < 256; ++pattern) {
        unsigned n = 0;
        for (unsigned place = 0; place < 8; ++place) {
            if ((pattern >> place) & 1U) places.of[pattern][n++] = place;
        }
    }
    return places;
}

constexpr Places kPlaces = make_places();

[[gnu::always_inline]] inline void put(std::uint32_t* to, __m256i rows, unsigned pattern) {
    const auto* places = reinterpret_cast<const __m256i*>(kPlaces.of[pattern]);
    const __m256i chosen = _mm256_permutevar8x32_epi32(rows, _mm256_load_si256(places));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), chosen);
}

}  // namespace

/// Eight rows at a time: those of each side are brought together in a register and stored; what is
/// stored too much is overwritten by the next.
void split_rows_avx2(const std::uint32_t* rows, const std::uint64_t* sides, std::size_t n,
                     std::uint32_t* left, std::uint32_t* right) {
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const auto pattern = static_cast<unsigned>((sides[i / 64] >> (i % 64)) & 0xFF);
        const __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows + i));
        put(left, some, pattern);
        put(right, some, pattern ^ 0xFFU);
        const int n_left = _mm_popcnt_u32(pattern);
        left += n_left;
        right += 8 - n_left;
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
