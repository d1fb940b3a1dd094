/// Keys of a node come out in the order of their ranks, however the ranks are spread.
#include <algorithm>
#include <functional>
#include <vector>

#include "native/base/random.hpp"
#include "native/trees/key_sort.hpp"
#include "tests/native/check.hpp"

using namespace spinney;

namespace {

/// Ranks come out in order, and no key is lost or made up.
void check_sort(const std::vector<std::uint32_t>& ranks) {
    std::vector<RankKey> keys;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        keys.push_back(rank_key(ranks[i], static_cast<std::uint32_t>(i)));
    }
    std::vector<RankKey> expected = keys;
    std::sort(expected.begin(), expected.end());
    const auto [low, high] = std::minmax_element(ranks.begin(), ranks.end());
    KeySort sort(keys.size());
    RankKey* sorted = sort.sort(keys.data(), keys.size(), *low, *high);
    std::vector<RankKey> found(sorted, sorted + keys.size());
    CHECK(std::is_sorted(found.begin(), found.end(),
                         [](RankKey a, RankKey b) { return rank_of(a) < rank_of(b); }));
    std::sort(found.begin(), found.end());
    CHECK(found == expected);
}

std::vector<std::uint32_t> drawn(std::size_t n,
                                 const std::function<std::uint32_t(std::uint64_t)>& of) {
    std::vector<std::uint32_t> ranks;
    for (std::size_t i = 0; i < n; ++i) ranks.push_back(of(random_bits(n, Stream::kRows, i)));
    return ranks;
}

}  // namespace

TEST(keys_come_out_by_rank) {
    for (const std::size_t n : {1, 2, 3, 15, 16, 17, 40, 300, 5000}) {
        check_sort(
            drawn(n, [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits % 65536); }));
        check_sort(drawn(n, [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits); }));
        check_sort(
            drawn(n, [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits % 3); }));
        check_sort(drawn(n, [](std::uint64_t) { return 7U; }));
        // One far away, so that all others share a bucket.
        check_sort(drawn(n, [](std::uint64_t bits) {
            return bits % 50 == 0 ? 0xFFFFFFFFU : static_cast<std::uint32_t>(bits % 1000);
        }));
    }
}

CHECK_MAIN
