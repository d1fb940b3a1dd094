#include "native/losses/row_weights.hpp"

#include <algorithm>
#include <vector>

#include "native/base/isa.hpp"
#include "native/base/parallel.hpp"

namespace spinney {
namespace {

constexpr std::size_t kBlock = 8192;

#if defined(__x86_64__) && defined(__GNUC__)
WeighKernel* weigh_kernel() { return pick<WeighKernel>(weigh_portable, weigh_avx2, weigh_avx512); }
JudgeKernel* judge_kernel() { return pick<JudgeKernel>(judge_portable, judge_avx2, judge_avx512); }
#else
WeighKernel* weigh_kernel() { return weigh_portable; }
JudgeKernel* judge_kernel() { return judge_portable; }
#endif

template <class T>
void advance(T*& pointer, std::size_t by) {
    if (pointer != nullptr) pointer += by;
}

/// Calls the kernel for pieces of the rows and adds what they give; all of it is order-free.
template <class Sum, class Part>
Sum sum_blocks(std::size_t n, int n_threads, const Part& part) {
    std::vector<Sum> sums((n + kBlock - 1) / kBlock);
    parallel_blocks(n_threads, n, kBlock, [&](std::size_t first, std::size_t last) {
        Sum& sum = sums[first / kBlock];
        for (std::size_t i = first; i < last; i += kPiece)
            sum.add(part(i, std::min(i + kPiece, last)));
    });
    Sum total;
    for (const Sum& sum : sums) total.add(sum);
    return total;
}

}  // namespace

void Verdict::add(const Verdict& other) {
    wrong.add(other.wrong);
    least_right = std::min(least_right, other.least_right);
    least_wrong = std::min(least_wrong, other.least_wrong);
}

ShareSum weigh_rows(const WeighTask& task, int n_threads) {
    WeighKernel* kernel = weigh_kernel();
    return sum_blocks<ShareSum>(task.n, n_threads, [&](std::size_t first, std::size_t last) {
        WeighTask part = task;
        advance(part.margins, first);
        advance(part.step.right, first);
        advance(part.factors, first);
        advance(part.counts, first);
        advance(part.signs, first);
        advance(part.shares, first);
        advance(part.cells, first);
        part.n = last - first;
        return kernel(part);
    });
}

Verdict judge_vote(const JudgeTask& task, int n_threads) {
    JudgeKernel* kernel = judge_kernel();
    return sum_blocks<Verdict>(task.n, n_threads, [&](std::size_t first, std::size_t last) {
        JudgeTask part = task;
        advance(part.shares, first);
        advance(part.counts, first);
        advance(part.right, first);
        advance(part.margins, first);
        part.n = last - first;
        return kernel(part);
    });
}

}  // namespace spinney
