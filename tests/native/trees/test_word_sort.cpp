/// Words come out as sorting and counting ranks says, and nothing else is written.
#include <algorithm>
#include <array>
#include <vector>

#include "native/base/random.hpp"
#include "native/trees/word_sort.hpp"
#include "tests/native/check.hpp"

using namespace spinney;

namespace {

/// The definition: words in order, and each rank the number of other ranks below it.
std::vector<std::uint32_t> numbered(std::vector<std::uint32_t> words) {
    std::sort(words.begin(), words.end());
    std::uint32_t n_lower = 0;
    std::uint32_t before = words.front() >> 16;
    for (std::uint32_t& word : words) {
        const std::uint32_t rank = word >> 16;
        n_lower += rank != before ? 1U : 0U;
        before = rank;
        word = n_lower << 16 | (word & 0xFFFF);
    }
    return words;
}

void check_sort(SortWords* sort, std::size_t n, std::uint64_t seed, std::uint32_t n_ranks) {
    constexpr std::uint32_t kUntouched = 0xABCDEF01;
    std::vector<std::uint32_t> words;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t bits = random_bits(seed, Stream::kRows, i);
        const auto rank = static_cast<std::uint32_t>(bits % n_ranks) + (65536 - n_ranks);
        words.push_back(rank << 16 | static_cast<std::uint32_t>(i));
    }
    const std::vector<std::uint32_t> expected = numbered(words);
    std::array<std::uint32_t, kMostWords> room{};
    std::copy(words.begin(), words.end(), room.begin());
    std::vector<std::uint32_t> found(n + 1, kUntouched);
    const std::uint32_t highest = sort(room.data(), n, found.data());
    CHECK(found.back() == kUntouched);
    found.pop_back();
    CHECK(found == expected);
    CHECK(highest == expected.back() >> 16);
}

}  // namespace

TEST(words_of_any_number_come_out_in_order) {
    SortWords* sort = SPINNEY_WORD_KERNEL;
    if (sort == nullptr) return;  // there is no other: blocks then use KeySort
    for (std::size_t n = 1; n <= kMostWords; ++n) {
        for (const std::uint32_t n_ranks : {1U, 2U, 40U, 65536U}) check_sort(sort, n, n, n_ranks);
    }
}

/// A network that sorts all zeros and ones sorts everything: many of them.
TEST(zeros_and_ones_part) {
    SortWords* sort = SPINNEY_WORD_KERNEL;
    if (sort == nullptr) return;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        const std::size_t n =
            1 + static_cast<std::size_t>(random_bits(seed, Stream::kRows, 0)) % kMostWords;
        check_sort(sort, n, seed, 2);
    }
}

CHECK_MAIN
