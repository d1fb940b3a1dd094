#include <algorithm>
#include <array>
#include <vector>

#include "native/base/random.hpp"
#include "native/trees/few_rows.hpp"
#include "tests/native/check.hpp"

using namespace spinney;

namespace {

constexpr std::size_t kLanes = 64;
constexpr std::size_t kSets = std::size_t{1} << kFewRows;

/// Ranks of a few values, some of them missing, and random worths.
struct Problem {
    std::size_t n;
    bool any_missing;
    std::array<std::array<std::uint16_t, kLanes>, kFewRows> ranks = {};
    std::array<std::uint16_t, kSets> worths = {};

    Problem(std::size_t n_rows, bool missing, std::uint64_t n_worths, std::uint64_t seed)
        : n(n_rows), any_missing(missing) {
        for (std::size_t r = 0; r < n; ++r) {
            for (std::size_t f = 0; f < kLanes; ++f) {
                const std::uint64_t draw = random_below(seed, Stream::kRows, r * kLanes + f, 12);
                const std::uint64_t n_values = 1 + f % 12;  // the first feature is constant
                ranks[r][f] =
                    missing && draw == 11 ? kNoRank : static_cast<std::uint16_t>(draw % n_values);
            }
        }
        const std::size_t all = (std::size_t{1} << n) - 1;
        for (std::size_t set = 1; set < all; ++set) {
            worths[set] =
                static_cast<std::uint16_t>(random_below(seed, Stream::kNodes, set, n_worths));
        }
    }
};

/// What a kernel finds, with room of its own.
struct Found {
    std::vector<RowSet> left = std::vector<RowSet>(kFewRows * kLanes);
    std::vector<RowSet> missing = std::vector<RowSet>(kLanes);
    std::vector<std::uint32_t> tied = std::vector<std::uint32_t>(kLanes / kRankLanes);
    std::vector<std::uint16_t> room = std::vector<std::uint16_t>(kLanes);
    FewCuts cuts;

    Found(const Problem& problem, FindFewCuts* kernel)
        : cuts{left.data(), missing.data(), tied.data(), room.data(), 0, false} {
        RowsByRank rows = {{}, problem.n, kLanes, problem.any_missing};
        for (std::size_t r = 0; r < problem.n; ++r) rows.ranks[r] = problem.ranks[r].data();
        kernel(rows, problem.worths.data(), cuts);
    }
};

/// The rows whose value of f is at most that of row r; missing ones if r is missing.
RowSet left_of(const Problem& problem, std::size_t r, std::size_t f) {
    RowSet left = 0;
    for (std::size_t j = 0; j < problem.n; ++j) {
        if (problem.ranks[j][f] <= problem.ranks[r][f]) left |= static_cast<RowSet>(1U << j);
    }
    return left;
}

/// All that cuts of f may put left.
std::vector<RowSet> sets_of(const Problem& problem, std::size_t f) {
    RowSet missing = 0;
    for (std::size_t r = 0; r < problem.n; ++r) {
        if (problem.ranks[r][f] == kNoRank) missing |= static_cast<RowSet>(1U << r);
    }
    std::vector<RowSet> sets;
    for (std::size_t r = 0; r < problem.n; ++r) {
        sets.push_back(left_of(problem, r, f));
        if (problem.any_missing) sets.push_back(left_of(problem, r, f) | missing);
    }
    return sets;
}

void check_kernel(const Problem& problem, FindFewCuts* kernel) {
    const Found found(problem, kernel);
    std::array<std::uint16_t, kLanes> best = {};
    for (std::size_t f = 0; f < kLanes; ++f) {
        for (std::size_t r = 0; r < problem.n; ++r) {
            CHECK(found.left[r * kLanes + f] == left_of(problem, r, f));
        }
        for (const RowSet set : sets_of(problem, f))
            best[f] = std::max(best[f], problem.worths[set]);
    }
    const std::uint16_t most = *std::max_element(best.begin(), best.end());
    CHECK(found.cuts.most == most);
    if (most == 0) return;
    const int least = std::max(1, most - 1);
    std::vector<RowSet> tied_sets;
    for (std::size_t f = 0; f < kLanes; ++f) {
        const bool is_tied = ((found.tied[f / kRankLanes] >> f % kRankLanes) & 1U) != 0;
        CHECK(is_tied == (best[f] >= least));
        for (const RowSet set : sets_of(problem, f)) {
            if (problem.worths[set] >= least) tied_sets.push_back(set);
        }
    }
    const RowSet first = tied_sets.front();
    const auto other_side = static_cast<RowSet>(first ^ ((1U << problem.n) - 1U));
    const bool is_one = std::all_of(tied_sets.begin(), tied_sets.end(),
                                    [&](RowSet set) { return set == first || set == other_side; });
    CHECK(found.cuts.is_one_parting == is_one);
}

}  // namespace

TEST(every_kernel_finds_the_cuts_of_few_rows) {
    for (int isa = 0; isa <= static_cast<int>(best_isa()); ++isa) {
        use_isa(static_cast<Isa>(isa));
        FindFewCuts* kernel = SPINNEY_FEW_KERNEL(find_few_cuts);
        for (std::size_t n = 2; n <= kFewRows; ++n) {
            for (std::uint64_t seed = 0; seed < 20; ++seed) {
                for (const std::uint64_t n_worths : {1, 3, 60000}) {
                    check_kernel(Problem(n, seed % 2 == 0, n_worths, seed), kernel);
                }
            }
        }
    }
    use_isa(best_isa());
}

TEST(features_that_part_the_rows_in_one_way_are_told) {
    for (int isa = 0; isa <= static_cast<int>(best_isa()); ++isa) {
        use_isa(static_cast<Isa>(isa));
        Problem problem(4, false, 1, 0);
        for (std::size_t f = 0; f < kLanes; ++f) {  // rows 0 and 2 against 1 and 3, either way
            for (std::size_t r = 0; r < 4; ++r) {
                problem.ranks[r][f] = static_cast<std::uint16_t>(f % 2 == 0 ? r % 2 : 1 - r % 2);
            }
        }
        problem.worths[0b0101] = 7;
        problem.worths[0b1010] = 6;
        CHECK(Found(problem, SPINNEY_FEW_KERNEL(find_few_cuts)).cuts.is_one_parting);
        problem.ranks[0][40] = 5;  // 0 alone on the right
        problem.worths[0b1110] = 6;
        CHECK(!Found(problem, SPINNEY_FEW_KERNEL(find_few_cuts)).cuts.is_one_parting);
    }
    use_isa(best_isa());
}

CHECK_MAIN
