/// Rows go left or right in their order: every kernel by its name, and the partition of a node with
/// every instruction set.
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/trees/row_partition.hpp"
#include "tests/native/check.hpp"

namespace {

using spinney::random_below;
using spinney::random_bits;
using spinney::RowPartition;
using spinney::Stream;
using Rows = std::vector<std::uint32_t>;

std::vector<spinney::SplitRows*> runnable_kernels() {
    std::vector<spinney::SplitRows*> kernels = {spinney::split_rows_portable};
#if defined(__x86_64__) && defined(__GNUC__)
    if (spinney::best_isa() >= spinney::Isa::kAvx2) kernels.push_back(spinney::split_rows_avx2);
    if (spinney::best_isa() >= spinney::Isa::kAvx512) kernels.push_back(spinney::split_rows_avx512);
#endif
    return kernels;
}

template <class Work>
void for_every_isa(const Work& work) {
    for (int isa = 0; isa <= static_cast<int>(spinney::best_isa()); ++isa) {
        spinney::use_isa(static_cast<spinney::Isa>(isa));
        work();
    }
}

constexpr std::uint32_t kUntouched = 0xFFFFFFFFU;
constexpr std::size_t kSlack = 16;

/// Both sides against the definition, and nothing written beyond what a kernel may.
void check_kernel(spinney::SplitRows* kernel, const Rows& rows,
                  const std::vector<std::uint64_t>& sides) {
    const std::size_t n = rows.size();
    std::array<Rows, 2> expected;  // right, left
    for (std::size_t i = 0; i < n; ++i) {
        expected[(sides[i / 64] >> (i % 64)) & 1].push_back(rows[i]);
    }
    std::array<Rows, 2> found = {Rows(n + 2 * kSlack, kUntouched),
                                 Rows(n + 2 * kSlack, kUntouched)};
    kernel(rows.data(), sides.data(), n, found[1].data(), found[0].data());
    for (std::size_t side = 0; side < 2; ++side) {
        const std::size_t n_here = expected[side].size();
        CHECK(std::equal(expected[side].begin(), expected[side].end(), found[side].begin()));
        const auto beyond = found[side].begin() + static_cast<std::ptrdiff_t>(n_here + kSlack);
        CHECK(std::all_of(beyond, found[side].end(),
                          [](std::uint32_t row) { return row == kUntouched; }));
    }
}

/// Any order: kernels need none.
Rows some_rows(std::size_t n, std::uint64_t seed) {
    Rows rows(n);
    for (std::size_t i = 0; i < n; ++i) {
        rows[i] = static_cast<std::uint32_t>(random_below(seed, Stream::kRows, i, kUntouched));
    }
    return rows;
}

RowPartition::GoesLeft below(std::size_t bin) {
    RowPartition::GoesLeft goes_left{};
    std::fill(goes_left.begin(), goes_left.begin() + static_cast<std::ptrdiff_t>(bin), 1);
    return goes_left;
}

std::vector<std::uint8_t> some_bins(std::size_t n, std::uint64_t seed) {
    std::vector<std::uint8_t> bins(n);
    for (std::size_t i = 0; i < n; ++i) {
        bins[i] = static_cast<std::uint8_t>(random_below(seed, Stream::kRows, i, 256));
    }
    return bins;
}

/// The rows of one side, in their order.
Rows chosen(const Rows& rows, const std::vector<std::uint8_t>& bins,
            const RowPartition::GoesLeft& goes_left, std::uint8_t side) {
    Rows some;
    for (const std::uint32_t row : rows) {
        if (goes_left[bins[row]] == side) some.push_back(row);
    }
    return some;
}

bool holds(const RowPartition& partition, const RowPartition::Range& range, const Rows& expected) {
    const auto found = partition.rows(range);
    return std::equal(found.begin(), found.end(), expected.begin(), expected.end());
}

/// Splits a node, checks both children, and returns their ranges.
std::array<RowPartition::Range, 2> check_split(RowPartition& partition,
                                               const RowPartition::Range& range, const Rows& rows,
                                               const std::vector<std::uint8_t>& bins,
                                               const RowPartition::GoesLeft& goes_left,
                                               int n_threads) {
    const std::size_t middle = partition.split(range, bins.data(), goes_left, n_threads);
    const auto other = static_cast<std::uint8_t>(1 - range.list);
    const RowPartition::Range left = {range.first, middle, other};
    const RowPartition::Range right = {middle, range.last, other};
    CHECK(holds(partition, left, chosen(rows, bins, goes_left, 1)));
    CHECK(holds(partition, right, chosen(rows, bins, goes_left, 0)));
    return {left, right};
}

/// Two levels and back, from all rows or some.
void check_two_levels(std::size_t n_rows, const Rows& given, int n_threads) {
    Rows rows = given;
    if (rows.empty()) {
        rows.resize(n_rows);
        std::iota(rows.begin(), rows.end(), 0U);
    }
    const std::vector<std::uint8_t> first = some_bins(n_rows, 1);
    const std::vector<std::uint8_t> second = some_bins(n_rows, 2);
    for (const std::size_t cut : {0UL, 1UL, 100UL, 255UL, 256UL}) {
        RowPartition partition(n_rows);
        partition.reset(given);
        CHECK(partition.size() == rows.size() && partition.in_order() == given.empty());
        const RowPartition::Range root = {0, rows.size(), 0};
        const auto children = check_split(partition, root, rows, first, below(cut), n_threads);
        CHECK(!partition.in_order());
        for (const std::uint8_t side : {0, 1}) {
            const Rows of_child = chosen(rows, first, below(cut), side);
            const auto& child = children[1 - side];
            const auto grandchildren =
                check_split(partition, child, of_child, second, below(77), n_threads);
            const auto joined = partition.join(grandchildren[0], grandchildren[1]);
            CHECK(holds(partition, joined, of_child));
            CHECK(holds(partition, child, of_child));  // in the other list, as before
        }
        CHECK(holds(partition, partition.join(children[0], children[1]), rows));
    }
}

}  // namespace

TEST(every_pattern_of_eight_sides_moves_its_rows) {
    for (spinney::SplitRows* kernel : runnable_kernels()) {
        for (std::uint64_t pattern = 0; pattern < 256; ++pattern) {
            check_kernel(kernel, some_rows(8, 1), {pattern});
            // Between others: what was stored too much is overwritten by the next.
            check_kernel(kernel, some_rows(24, 2), {(pattern << 8) | 0x550033});
        }
    }
}

TEST(every_length_moves_its_rows) {
    for (spinney::SplitRows* kernel : runnable_kernels()) {
        for (std::size_t n = 0; n < 330; ++n) {
            const Rows rows = some_rows(n, n);
            std::vector<std::uint64_t> sides(n / 64 + 1);
            for (std::size_t i = 0; i < sides.size(); ++i) {
                sides[i] = random_bits(n, Stream::kFeatures, i);
            }
            check_kernel(kernel, rows, sides);
            check_kernel(kernel, rows, std::vector<std::uint64_t>(sides.size(), 0));
            check_kernel(kernel, rows, std::vector<std::uint64_t>(sides.size(), ~0ULL));
        }
    }
}

TEST(rows_of_every_node_are_complete_and_in_order_with_every_instruction_set) {
    for_every_isa([] {
        for (const int n_threads : {1, 3}) {
            for (const std::size_t n : {1UL, 7UL, 63UL, 64UL, 65UL, 2047UL, 2048UL, 2049UL}) {
                check_two_levels(n, {}, n_threads);
            }
            check_two_levels(50'000, {}, n_threads);
        }
    });
}

TEST(a_partition_of_some_rows_never_holds_another) {
    for_every_isa([] {
        for (const int n_threads : {1, 3}) {
            for (const std::size_t n : {3UL, 200UL, 9000UL}) {
                Rows rows;
                for (std::uint32_t row = 0; row < n; ++row) {
                    if (random_below(5, Stream::kRows, row, 3) > 0) rows.push_back(row);
                }
                check_two_levels(n, rows, n_threads);
            }
        }
    });
}

CHECK_MAIN
