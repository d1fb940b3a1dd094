/// Sorting the rows of a block by the ranks of a feature.
#pragma once

#include <cstddef>
#include <cstdint>

#include "native/base/isa.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define SPINNEY_WORD_KERNEL \
    (active_isa() >= Isa::kAvx512 ? &sort_words_avx512 : static_cast<SortWords*>(nullptr))
#else
#define SPINNEY_WORD_KERNEL (static_cast<SortWords*>(nullptr))
#endif

namespace spinney {

constexpr std::size_t kMostWords = 512;

/// Sorts n words, 1 to kMostWords, a rank above and a row below, all of them different and none all
/// ones; writes them with the number of lower ranks in place of each rank. Returns the highest of
/// these numbers. There is room for kMostWords at `words`, however few they are, and what is there
/// is lost. No other kernel: elsewhere KeySort is as good.
using SortWords = std::uint32_t(std::uint32_t* words, std::size_t n, std::uint32_t* into);

SortWords sort_words_avx512;

}  // namespace spinney
