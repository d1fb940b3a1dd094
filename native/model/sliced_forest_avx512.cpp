#include "native/model/sliced_forest.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>

namespace spinney {
namespace {

constexpr std::size_t kLanes = 8;
/// Values of leaves that stay in registers.
constexpr std::size_t kHeld = 4 * kLanes;

/// Values of 1 to kHeld leaves, looked up eight at a time without a load.
class HeldValues {
  public:
    HeldValues(const double* values, std::size_t n) {
        const std::uint64_t present = ~std::uint64_t{0} >> (64 - n);
        for (std::size_t i = 0; i < 4; ++i) {
            const auto mask = static_cast<__mmask8>(present >> (i * kLanes));
            held_[i] = _mm512_maskz_loadu_pd(mask, values + i * kLanes);
        }
    }

    __m512d of(__m512i leaves) const {
        const __m512d low = _mm512_permutex2var_pd(held_[0], leaves, held_[1]);
        const __m512d high = _mm512_permutex2var_pd(held_[2], leaves, held_[3]);
        const __mmask8 is_high = _mm512_test_epi64_mask(leaves, _mm512_set1_epi64(2 * kLanes));
        return _mm512_mask_mov_pd(low, is_high, high);
    }

  private:
    __m512d held_[4];
};

}  // namespace

void add_leaves_avx512(const AddTask& task) {
    if (task.n_leaves > kHeld) return add_leaves_avx2(task);
    const HeldValues values(task.values, task.n_leaves);
    for (std::size_t slice = 0; slice < task.n_slices; ++slice) {
        const std::uint8_t* leaves = task.leaves + slice * kByteRows;
        double* scores = task.scores + slice * task.stride;
        for (std::size_t i = 0; i < kByteRows; i += kLanes) {
            const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(leaves + i));
            // With a mask: GCC 12 takes what the plain one leaves undefined for a mistake.
            const __m512d added = values.of(_mm512_maskz_cvtepu8_epi64(0xFF, eight));
            _mm512_store_pd(scores + i, _mm512_add_pd(_mm512_load_pd(scores + i), added));
        }
    }
}

}  // namespace spinney
#endif
