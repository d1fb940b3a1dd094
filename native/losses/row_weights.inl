// Weights of a block of rows, included by one file per instruction set with NAME(x) = x_<isa>.
// Nothing of other headers that is not inlined for sure: its code would be of one instruction set.

namespace spinney {
namespace {

void NAME(move)(double* __restrict margins, const VoteStep& step, std::size_t n) {
    const std::uint8_t* __restrict right = step.right;
    for (std::size_t i = 0; i < n; ++i) {
        margins[i] += right[i] != 0 ? step.if_right : step.if_wrong;
    }
}

void NAME(fill_shares)(const WeighTask& task) {
    const double* __restrict margins = task.margins;
    double* __restrict shares = task.shares;
    for (std::size_t i = 0; i < task.n; ++i) shares[i] = exact_exp(task.least - margins[i]);
    if (task.factors == nullptr) return;
    const double* __restrict factors = task.factors;
    for (std::size_t i = 0; i < task.n; ++i) shares[i] *= factors[i];
}

ShareSum NAME(fill_cells)(const WeighTask& task) {
    ShareSum sum;
    const double* __restrict shares = task.shares;
    std::int32_t* __restrict cells = task.cells;
    for (std::size_t i = 0; i < task.n; ++i) {
        const ShareBits bits = cut_share(shares[i]);
        cells[i] = bits.high;
        sum.high += bits.high;
        sum.low += bits.low;
    }
    if (task.signs == nullptr) return sum;
    const std::int8_t* __restrict signs = task.signs;
    for (std::size_t i = 0; i < task.n; ++i) cells[i] *= signs[i];
    return sum;
}

ShareSum NAME(fill_whole)(const WeighTask& task) {
    ShareSum sum;
    for (std::size_t i = 0; i < task.n; ++i) {
        const ShareBits bits = cut_share(task.shares[i]);
        task.whole[i] = bits.high * task.counts[i];
        sum.high += task.whole[i];
        sum.low += bits.low * task.counts[i];
    }
    return sum;
}

/// The least margin of some rows, and that of all others. In strands, because one minimum would wait
/// for the one before; a minimum has no rounding.
void NAME(find_least)(const JudgeTask& task, Verdict& verdict) {
    const double infinity = verdict.least_right;  // as it begins
    constexpr std::size_t kStrands = 8;
    double of_right[kStrands];
    double of_wrong[kStrands];
    for (std::size_t k = 0; k < kStrands; ++k) of_right[k] = of_wrong[k] = infinity;
    const auto look = [&](std::size_t i, std::size_t k) {
        const double margin = task.margins[i];
        const double if_right = task.right[i] != 0 ? margin : infinity;
        const double if_wrong = task.right[i] != 0 ? infinity : margin;
        of_right[k] = if_right < of_right[k] ? if_right : of_right[k];
        of_wrong[k] = if_wrong < of_wrong[k] ? if_wrong : of_wrong[k];
    };
    std::size_t i = 0;
    for (; i + kStrands <= task.n; i += kStrands) {
        for (std::size_t k = 0; k < kStrands; ++k) look(i + k, k);
    }
    for (; i < task.n; ++i) look(i, 0);
    for (std::size_t k = 0; k < kStrands; ++k) {
        if (of_right[k] < verdict.least_right) verdict.least_right = of_right[k];
        if (of_wrong[k] < verdict.least_wrong) verdict.least_wrong = of_wrong[k];
    }
}

}  // namespace

ShareSum NAME(weigh)(const WeighTask& task) {
    if (task.step.right != nullptr) NAME(move)(task.margins, task.step, task.n);
    NAME(fill_shares)(task);
    return task.counts == nullptr ? NAME(fill_cells)(task) : NAME(fill_whole)(task);
}

Verdict NAME(judge)(const JudgeTask& task) {
    Verdict verdict;
    if (task.margins != nullptr) NAME(find_least)(task, verdict);
    std::int64_t high = 0;
    std::int64_t low = 0;
    if (task.counts == nullptr) {
        for (std::size_t i = 0; i < task.n; ++i) {
            const ShareBits bits = cut_share(task.right[i] != 0 ? 0.0 : task.shares[i]);
            high += bits.high;
            low += bits.low;
        }
    } else {
        for (std::size_t i = 0; i < task.n; ++i) {
            const ShareBits bits = cut_share(task.right[i] != 0 ? 0.0 : task.shares[i]);
            high += bits.high * task.counts[i];
            low += bits.low * task.counts[i];
        }
    }
    verdict.wrong = {high, low};
    return verdict;
}

}  // namespace spinney
