#include <algorithm>
#include <array>
#include <vector>

#include "native/base/random.hpp"
#include "native/trees/key_moves.hpp"
#include "tests/native/check.hpp"

using namespace spinney;

namespace {

constexpr std::size_t kStride = 530;
constexpr std::size_t kFeatures = 3;

bool goes_left(const std::vector<std::uint32_t>& bits, std::uint32_t key) {
    const std::uint32_t row = key & 0xFFFFU;
    return ((bits[row / 32] >> row % 32) & 1U) != 0;
}

/// Which sides are wanted.
struct Sides {
    bool left;
    bool right;
};

/// Moves n keys from place `first`, and the same by the definition; the middle feature stays.
void check_moves(std::size_t first, std::size_t n, std::uint64_t seed, Sides sides) {
    std::vector<std::uint32_t> bits(kMoveMarks / 32);
    for (std::size_t i = 0; i < bits.size(); ++i) {
        bits[i] = static_cast<std::uint32_t>(random_bits(seed, Stream::kRows, i));
    }
    std::vector<std::uint32_t> keys(kStride * kFeatures);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        keys[i] = static_cast<std::uint32_t>(i << 16) |
                  static_cast<std::uint32_t>(random_below(seed, Stream::kNodes, i, kMoveMarks));
    }
    std::vector<std::uint32_t> expected = keys;
    const std::vector<std::uint8_t> moves = {1, 0, 1};
    std::array<std::ptrdiff_t, kFeatures> n_left = {};
    for (std::size_t f = 0; f < kFeatures; ++f) {
        const auto begin = expected.begin() + static_cast<std::ptrdiff_t>(f * kStride + first);
        if (moves[f] == 0) continue;
        const auto middle =
            std::stable_partition(begin, begin + static_cast<std::ptrdiff_t>(n),
                                  [&](std::uint32_t key) { return goes_left(bits, key); });
        n_left[f] = middle - begin;
    }
    std::vector<std::uint32_t> room(n + kMovePadding);
    MoveBlock* kernel = SPINNEY_MOVE_KERNEL;
    if (kernel == nullptr) return;
    kernel({keys.data() + first, kStride, moves, n, sides.left, sides.right}, bits.data(),
           room.data());
    for (std::size_t f = 0; f < kFeatures; ++f) {  // what nobody wants may be anything
        const auto begin = static_cast<std::ptrdiff_t>(f * kStride + first);
        const auto end = begin + static_cast<std::ptrdiff_t>(n);
        const bool is_moved = moves[f] != 0;
        const auto forget = [&](std::ptrdiff_t from, std::ptrdiff_t to) {
            std::copy(expected.begin() + from, expected.begin() + to, keys.begin() + from);
        };
        if (is_moved && !sides.left) forget(begin, begin + n_left[f]);
        if (is_moved && !sides.right) forget(begin + n_left[f], end);
    }
    CHECK(keys == expected);
}

}  // namespace

TEST(keys_move_as_a_stable_partition_and_no_others_do) {
    for (const std::size_t n : {1, 2, 15, 16, 17, 31, 32, 33, 100, 511}) {
        for (std::uint64_t seed = 0; seed < 8; ++seed) {
            for (const Sides sides : {Sides{true, true}, Sides{true, false}, Sides{false, true}}) {
                check_moves(seed * 2, n, 100 * n + seed, sides);
            }
        }
    }
}

CHECK_MAIN
