/// The kernels of split search with every number of lanes, also those this machine lacks: their
/// source is compiled here for eight lanes and the baseline instructions.
#include <cmath>
#include <vector>

#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/trees/gradient_scan.hpp"
#include "tests/native/check.hpp"

namespace spinney {
FlushCells flush_cells_eight;
SubtractWords subtract_words_eight;
SubtractCells subtract_cells_eight;
RunPacked run_packed_eight;
BestCutPacked best_cut_packed_eight;
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
using spinney::RunningSums;
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
    CutTerms terms(double l1, double l2) const {
        return {static_cast<double>(total.gradient), static_cast<double>(total.hessian), l1, l2};
    }
};

/// The definition, one cut after the other.
Cut slow_cut(const Cells& cells, std::size_t first, std::size_t last, const CutTerms& at) {
    Cut best;
    double g = at.extra_gradient;
    double h = at.extra_hessian;
    const auto shrunk = [&at](double x) {
        return x > at.l1 ? x - at.l1 : (x < -at.l1 ? x + at.l1 : 0.0);
    };
    for (std::size_t i = 0; i < last; ++i) {
        g += static_cast<double>(cells.gradient[i]);
        h += static_cast<double>(cells.hessian[i]);
        if (i < first) continue;
        const double a = shrunk(g);
        const double b = shrunk(at.gradient - g);
        const double c = h + at.l2;
        const double d = (at.hessian - h) + at.l2;
        if (!(c * d > 0.0)) continue;
        const double cross = a * d - b * c;
        double quality = cross * cross / (c * d);
        if (at.l1 > 0.0) quality += (a + b) * (a + b);
        if (quality > best.quality) best = {quality, i};
    }
    return best;
}

bool same(const Cut& a, const Cut& b) {
    return a.quality == b.quality && (a.quality < 0.0 || a.bin == b.bin);
}

}  // namespace

TEST(best_cuts_are_those_of_the_definition_for_every_number_of_lanes) {
    for (const Packing& packing : {spinney::kWithHessian, spinney::kWithoutHessian}) {
        for (std::uint64_t seed = 0; seed < 60; ++seed) {
            const std::size_t n = 1 + random_below(seed, Stream::kRows, 9999, kMostCells - 1);
            Cells cells(seed, packing, n);
            RunningSums sums;
            spinney::run_packed_portable(cells.packed.data(), n, sums.packed);
            GradientSums run;
            for (std::size_t i = 0; i < n; ++i) {
                run += {cells.gradient[i], cells.hessian[i], cells.weight[i]};
                CHECK(sums.packed[i] == packing.pack(run));
                sums.gradient[i] = run.gradient;
                sums.hessian[i] = run.hessian;
                sums.weight[i] = run.weight;
            }
            const std::size_t first = random_below(seed, Stream::kRows, 7777, n);
            for (const double l1 : {0.0, 2.5}) {
                for (const double l2 : {0.0, 1.5}) {
                    CutTerms terms = cells.terms(l1, l2);
                    if (seed % 2 == 0) terms.extra_gradient = 3.0;
                    const Cut expected = slow_cut(cells, first, n, terms);
                    CHECK(same(spinney::best_cut_packed_portable(sums, first, n, terms, packing),
                               expected));
                    CHECK(same(spinney::best_cut_packed_eight(sums, first, n, terms, packing),
                               expected));
                    CHECK(same(spinney::best_cut_wide_portable(sums, first, n, terms), expected));
                    CHECK(same(spinney::best_cut_wide_eight(sums, first, n, terms), expected));
#if defined(__x86_64__)
                    if (spinney::best_isa() >= spinney::Isa::kAvx2) {
                        CHECK(same(spinney::best_cut_packed_avx2(sums, first, n, terms, packing),
                                   expected));
                        CHECK(same(spinney::best_cut_wide_avx2(sums, first, n, terms), expected));
                    }
#endif
                }
            }
        }
    }
}

TEST(running_sums_agree_for_every_length) {
    for (std::size_t n = 1; n <= kMostCells; ++n) {
        const Cells cells(n, spinney::kWithHessian, n);
        std::vector<std::uint64_t> a(n), b(n);
        spinney::run_packed_portable(cells.packed.data(), n, a.data());
#if defined(__x86_64__)
        if (spinney::best_isa() >= spinney::Isa::kAvx2) {
            spinney::run_packed_avx2(cells.packed.data(), n, b.data());
            CHECK(a == b);
        }
#endif
        spinney::run_packed_eight(cells.packed.data(), n, b.data());
        CHECK(a == b);
    }
}

CHECK_MAIN
