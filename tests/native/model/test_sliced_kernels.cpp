// Kernels of slices on random trees against one row at a time.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/model/sliced_forest.hpp"
#include "tests/native/check.hpp"

namespace {

using spinney::kByteRows;

constexpr std::size_t kColumns = 5;
constexpr std::size_t kSlices = 2;

struct Draws {
    std::uint64_t seed;
    std::uint64_t next = 0;
    std::uint64_t below(std::uint64_t n) {
        return spinney::random_bits(seed, spinney::Stream::kRows, next++) % n;
    }
};

struct alignas(64) Line {
    std::uint8_t bytes[64];
};

/// A tree of random shape over `n_leaves` leaves, nodes in preorder, a third about categories.
struct Tree {
    std::vector<spinney::SlicedNode> nodes;
    std::vector<spinney::SlicedSet> sets;

    void grow(std::size_t first, std::size_t n_leaves, Draws& draws) {
        if (n_leaves < 2) return;
        const std::size_t n_left = 1 + draws.below(n_leaves - 1);
        spinney::SlicedNode node{static_cast<std::uint32_t>(draws.below(kColumns)),
                                 static_cast<std::int8_t>(draws.below(256)),
                                 static_cast<std::uint8_t>(first),
                                 static_cast<std::uint8_t>(first + n_left)};
        if (draws.below(3) == 0) {
            spinney::SlicedSet set{
                node.column, static_cast<std::uint32_t>(kColumns + sets.size()), {}};
            for (std::uint8_t& byte : set.goes_right) {
                byte = static_cast<std::uint8_t>(draws.below(256));
            }
            node.column = set.answers;
            node.limit = 1;
            sets.push_back(set);
        }
        nodes.push_back(node);
        grow(first, n_left, draws);
        grow(first + n_left, n_leaves - n_left, draws);
    }

    /// The definition: from node to node.
    std::size_t leaf_of(const std::uint8_t* bytes, std::size_t row) const {
        std::size_t leaf = 0;
        for (const spinney::SlicedNode& node : nodes) {
            if (leaf != node.from) continue;
            bool goes_right = false;
            if (node.column < kColumns) {
                goes_right =
                    static_cast<std::int8_t>(bytes[node.column * kByteRows + row]) >= node.limit;
            } else {
                const spinney::SlicedSet& set = sets[node.column - kColumns];
                const std::uint8_t bin = bytes[set.column * kByteRows + row];
                goes_right = (set.goes_right[bin / 8] >> (bin % 8)) & 1;
            }
            if (goes_right) leaf = node.to;
        }
        return leaf;
    }
};

void check_kernels(spinney::SliceKernel* find_leaves, spinney::AddLeavesKernel* add_leaves) {
    for (const std::size_t n_leaves : {1, 2, 3, 8, 17, 31, 32, 33, 64, 200, 256}) {
        Draws draws{n_leaves};
        Tree tree;
        tree.grow(0, n_leaves, draws);
        const std::size_t slice = (kColumns + tree.sets.size()) * kByteRows;
        std::vector<Line> room(kSlices * slice / sizeof(Line));
        std::vector<Line> found(kSlices * kByteRows / sizeof(Line));
        auto* bytes = reinterpret_cast<std::uint8_t*>(room.data());
        auto* leaves = reinterpret_cast<std::uint8_t*>(found.data());
        for (std::size_t i = 0; i < kSlices * slice; ++i) {
            bytes[i] = static_cast<std::uint8_t>(draws.below(256));
        }
        find_leaves({tree.sets.data(), tree.sets.size(), tree.nodes.data(), tree.nodes.size(),
                     reinterpret_cast<std::int8_t*>(bytes), slice, kSlices, leaves});
        std::vector<double> values(n_leaves);
        for (double& value : values) value = static_cast<double>(draws.below(1000)) / 7;
        std::vector<Line> sums(kSlices * kByteRows * sizeof(double) / sizeof(Line));
        auto* scores = reinterpret_cast<double*>(sums.data());
        add_leaves({values.data(), n_leaves, leaves, kSlices, scores, kByteRows});
        for (std::size_t row = 0; row < kSlices * kByteRows; ++row) {
            const std::size_t expected =
                tree.leaf_of(bytes + row / kByteRows * slice, row % kByteRows);
            CHECK(leaves[row] == expected);
            CHECK(scores[row] == values[expected]);
        }
    }
}

}  // namespace

TEST(kernels_find_the_leaves_that_one_row_at_a_time_finds) {
    check_kernels(spinney::find_leaves_portable, spinney::add_leaves_portable);
#if defined(__x86_64__) && defined(__GNUC__)
    if (spinney::best_isa() >= spinney::Isa::kAvx2) {
        check_kernels(spinney::find_leaves_avx2, spinney::add_leaves_avx2);
    }
    if (spinney::best_isa() >= spinney::Isa::kAvx512) {
        check_kernels(spinney::find_leaves_avx2, spinney::add_leaves_avx512);
    }
#endif
}

CHECK_MAIN
