#include "native/losses/row_weights.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "native/base/isa.hpp"
#include "native/base/parallel.hpp"
#include "native/losses/share_bits.hpp"

namespace spinney {
namespace {

constexpr std::size_t kBlock = 8192;

WeighKernel* weigh_kernel() {
#if defined(__x86_64__) && defined(__GNUC__)
    return pick<WeighKernel>(weigh_portable, weigh_avx2, weigh_avx512);
#else
    return weigh_portable;
#endif
}

}  // namespace

ShareSum weigh_rows(const WeighTask& task, int n_threads) {
    WeighKernel* kernel = weigh_kernel();
    std::vector<ShareSum> sums((task.n + kBlock - 1) / kBlock);
    parallel_blocks(n_threads, task.n, kBlock, [&](std::size_t first, std::size_t last) {
        WeighTask part = task;
        part.margins += first;
        if (part.factors != nullptr) part.factors += first;
        if (part.counts != nullptr) part.counts += first;
        part.shares += first;
        part.whole += first;
        part.n = last - first;
        sums[first / kBlock] = kernel(part);
    });
    ShareSum total;
    for (const ShareSum& sum : sums) total.add(sum);
    return total;
}

double move_margins(std::span<double> margins, std::span<const std::uint8_t> right, double if_right,
                    double if_wrong) {
    const std::array<double, 2> step = {if_wrong, if_right};
    // In strands, because one minimum would wait for the one before; a minimum has no rounding.
    std::array<double, 4> least;
    least.fill(std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < margins.size(); ++i) {
        const double moved = margins[i] + step[right[i]];
        margins[i] = moved;
        least[i % 4] = moved < least[i % 4] ? moved : least[i % 4];
    }
    return *std::min_element(least.begin(), least.end());
}

ShareSum sum_shares(std::span<const double> shares, std::span<const std::int64_t> counts,
                    std::span<const std::uint8_t> chosen) {
    ShareSum sum;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const ShareBits bits = cut_share(shares[i]);
        const std::int64_t count = counts.empty() ? chosen[i] : counts[i] * chosen[i];
        sum.high += bits.high * count;
        sum.low += bits.low * count;
    }
    return sum;
}

}  // namespace spinney
