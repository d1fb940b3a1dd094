/// The kernels of split search with every number of lanes, also those this machine lacks: their
/// source is compiled here for eight lanes and the baseline instructions.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/trees/gradient_scan.hpp"
#include "tests/native/check.hpp"

namespace spinney {
FlushCells flush_cells_eight;
SubtractWords subtract_words_eight;
SubtractCells subtract_cells_eight;
BestCutPacked best_cut_packed_eight;
BestCutNarrow best_cut_narrow_eight;
BestCutWide best_cut_wide_eight;
}  // namespace spinney

#define NAME(x) x##_eight
#define LANES 8
#include "native/trees/gradient_scan.inl"

namespace {

using spinney::Cut;
using spinney::CutTerms;
using spinney::GradientSums;
using spinney::kMostCells;
using spinney::Packing;
using spinney::random_below;
using spinney::Stream;
using spinney::WideCells;

struct Cells {
    std::vector<std::uint64_t> packed;
    std::vector<std::int64_t> gradient, hessian, weight;
    GradientSums total;

    /// Few rows in many cells: empty cells and equal qualities are common.
    Cells(std::uint64_t seed, const Packing& packing, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            const auto rows = static_cast<std::int64_t>(random_below(seed, Stream::kRows, i, 4));
            const auto g =
                static_cast<std::int64_t>(random_below(seed, Stream::kRows, 512 + i, 9)) - 4;
            const GradientSums sums = {g * rows, packing.hessian_bits == 0 ? rows : 3 * rows, rows};
            packed.push_back(packing.pack(sums));
            gradient.push_back(sums.gradient);
            hessian.push_back(sums.hessian);
            weight.push_back(sums.weight);
            total += sums;
        }
    }
    WideCells wide() { return {gradient.data(), hessian.data(), weight.data()}; }
    CutTerms terms(double l1, double l2, std::int64_t least) const {
        const std::int64_t hessian = l2 > 0.0 ? 0 : 1;
        return {.gradient = static_cast<double>(total.gradient),
                .span = static_cast<double>(total.hessian) + 2.0 * l2,
                .l1 = l1,
                .l2 = l2,
                .least_weight = least,
                .most_weight = total.weight - least,
                .least_hessian = hessian,
                .most_hessian = total.hessian - hessian};
    }
};

/// The definition, one cut after the other.
Cut slow_cut(const Cells& cells, const GradientSums& start, const CutTerms& at) {
    Cut best;
    GradientSums left = start;
    const auto shrunk = [&at](double x) {
        return x > at.l1 ? x - at.l1 : (x < -at.l1 ? x + at.l1 : 0.0);
    };
    for (std::size_t i = 0; i < cells.packed.size(); ++i) {
        left += {cells.gradient[i], cells.hessian[i], cells.weight[i]};
        if (left.weight < at.least_weight || left.weight > at.most_weight) continue;
        if (left.hessian < at.least_hessian || left.hessian > at.most_hessian) continue;
        const auto g = static_cast<double>(left.gradient);
        const double c = static_cast<double>(left.hessian) + at.l2;
        const double d = at.span - c;
        const double a = shrunk(g);
        const double b = shrunk(at.gradient - g);
        const double cross = at.l1 > 0.0 ? a * d - b * c : g * at.span - at.gradient * c;
        double quality = cross * cross / (c * d);
        if (at.l1 > 0.0) quality += (a + b) * (a + b);
        if (quality > best.quality) best = {quality, i};
    }
    return best;
}

bool same(const Cut& a, const Cut& b) {
    return a.quality == b.quality && (a.quality < 0.0 || a.bin == b.bin);
}

/// The best cut is found if it reaches what is to beat; below, whatever is found is below, too.
bool agrees(const Cut& found, const Cut& best, double to_beat) {
    return best.quality >= to_beat ? same(found, best) : found.quality < to_beat;
}

}  // namespace

TEST(best_cuts_are_those_of_the_definition_for_every_number_of_lanes) {
    for (const Packing& packing : {spinney::kWithHessian, spinney::kWithoutHessian}) {
        for (std::size_t n = 1; n <= kMostCells; ++n) {
            Cells cells(n, packing, n);
            GradientSums start;
            if (n % 2 == 0) start = {3, packing.hessian_bits == 0 ? 2 : 5, 2};
            cells.total += start;
            const std::uint64_t word = packing.pack(start);
            const auto least = static_cast<std::int64_t>(random_below(n, Stream::kRows, 7, n + 1));
            for (const double l1 : {0.0, 2.5}) {
                for (const double l2 : {0.0, 1.5}) {
                    CutTerms terms = cells.terms(l1, l2, 1 + least / 2);
                    const Cut expected = slow_cut(cells, start, terms);
                    // Nothing, nearly the best, just the best, more than the best.
                    constexpr std::array kShares = {0.0, 1.0 - 0x1p-30, 1.0, 1.0 + 0x1p-30};
                    terms.to_beat = std::max(expected.quality, 0.0) * kShares[n % kShares.size()];
                    const auto check = [&](const Cut& found) {
                        CHECK(agrees(found, expected, terms.to_beat));
                    };
                    const auto check_packed = [&](spinney::BestCutPacked* best_cut) {
                        const Cut found = best_cut(cells.packed.data(), n, word, terms, packing);
                        check(found);
                        const auto* first = cells.packed.data();
                        CHECK(found.quality < 0.0 ||
                              found.left == std::accumulate(first, first + found.bin + 1, word));
                    };
                    const auto check_narrow = [&](spinney::BestCutNarrow* best_cut) {
                        check(best_cut(cells.packed.data(), n, start, terms, packing));
                    };
                    const auto check_wide = [&](spinney::BestCutWide* best_cut) {
                        check(best_cut(cells.wide(), n, start, terms));
                    };
                    check_packed(spinney::best_cut_packed_portable);
                    check_packed(spinney::best_cut_packed_eight);
                    check_narrow(spinney::best_cut_narrow_portable);
                    check_narrow(spinney::best_cut_narrow_eight);
                    check_wide(spinney::best_cut_wide_portable);
                    check_wide(spinney::best_cut_wide_eight);
#if defined(__x86_64__)
                    if (spinney::best_isa() < spinney::Isa::kAvx2) continue;
                    check_packed(spinney::best_cut_packed_avx2);
                    check_narrow(spinney::best_cut_narrow_avx2);
                    check_wide(spinney::best_cut_wide_avx2);
                    if (spinney::best_isa() < spinney::Isa::kAvx512) continue;
                    check_packed(spinney::best_cut_packed_avx512);
                    check_narrow(spinney::best_cut_narrow_avx512);
                    check_wide(spinney::best_cut_wide_avx512);
#endif
                }
            }
        }
    }
}

TEST(wide_sums_agree_for_every_number_of_lanes) {
    for (const Packing& packing : {spinney::kWithHessian, spinney::kWithoutHessian}) {
        const Cells parent(1, packing, kMostCells);
        const Cells child(2, packing, kMostCells);
        const bool has_hessians = packing.hessian_bits > 0;
        struct Result {
            std::vector<std::uint64_t> words;
            std::vector<std::int64_t> wide;
            bool operator==(const Result&) const = default;
        };
        const auto run = [&](spinney::FlushCells* flush, spinney::SubtractWords* subtract_words,
                             spinney::SubtractCells* subtract) {
            Result result;
            Cells to = parent;
            std::vector<std::uint64_t> flushed = child.packed;
            const auto weights = to.weight.data();
            const WideCells wide = {to.gradient.data(), has_hessians ? to.hessian.data() : weights,
                                    weights};
            flush(flushed.data(), kMostCells, packing, wide);  // parent + child
            CHECK(flushed == std::vector<std::uint64_t>(kMostCells, 0));
            std::vector<std::uint64_t> packed(kMostCells);
            subtract({wide, {}, child.packed.data(), {}, packed.data()}, kMostCells, packing);
            CHECK(packed == parent.packed);
            subtract({wide, {}, child.packed.data(), wide, nullptr}, kMostCells, packing);
            CHECK(to.gradient == parent.gradient && to.weight == parent.weight);
            subtract_words(packed.data(), packed.data(), child.packed.data(), kMostCells);
            result.words = packed;
            result.wide = to.hessian;
            return result;
        };
        const Result expected = run(spinney::flush_cells_portable, spinney::subtract_words_portable,
                                    spinney::subtract_cells_portable);
        CHECK(run(spinney::flush_cells_eight, spinney::subtract_words_eight,
                  spinney::subtract_cells_eight) == expected);
#if defined(__x86_64__)
        if (spinney::best_isa() < spinney::Isa::kAvx2) continue;
        CHECK(run(spinney::flush_cells_avx2, spinney::subtract_words_avx2,
                  spinney::subtract_cells_avx2) == expected);
#endif
    }
}

CHECK_MAIN
