// Weights of a block of rows, included by one file per instruction set with NAME(x) = x_<isa>.
// Nothing of other headers that is not inlined for sure: its code would be of one instruction set.

namespace spinney {
namespace {

/// A number where the answer is 1, another where it is 0; no branch, because answers are random.
[[gnu::always_inline]] inline double NAME(choose)(std::uint8_t answer, double if_one,
                                                  double if_zero) {
    const std::uint64_t mask = -static_cast<std::uint64_t>(answer);
    return std::bit_cast<double>((std::bit_cast<std::uint64_t>(if_one) & mask) |
                                 (std::bit_cast<std::uint64_t>(if_zero) & ~mask));
}

void NAME(move)(double* __restrict margins, const VoteStep& step, std::size_t n) {
    const std::uint8_t* __restrict right = step.right;
    for (std::size_t i = 0; i < n; ++i) {
        margins[i] += NAME(choose)(right[i], step.if_right, step.if_wrong);
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

void NAME(fill_cells)(const WeighTask& task) {
    const double* __restrict shares = task.shares;
    const std::int8_t* __restrict signs = task.signs;
    std::int32_t* __restrict cells = task.cells;
    for (std::size_t i = 0; i < task.n; ++i) cells[i] = signs[i] * cut_share(shares[i]).high;
}

ShareSum NAME(sum_of)(const double* __restrict shares, const std::int64_t* counts, std::size_t n) {
    ShareSum sum;
    if (counts == nullptr) {
        for (std::size_t i = 0; i < n; ++i) {
            const ShareBits bits = cut_share(shares[i]);
            sum.high += bits.high;
            sum.low += bits.low;
        }
        return sum;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const ShareBits bits = cut_share(shares[i]);
        sum.high += bits.high * counts[i];
        sum.low += bits.low * counts[i];
    }
    return sum;
}

/// A whole number in the order of the floats: compilers make vectors of minima of these alone. Its
/// own inverse.
[[gnu::always_inline]] inline std::int64_t NAME(in_order)(std::int64_t bits) {
    return bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF);
}

/// The least margin of some rows, and that of all others.
void NAME(find_least)(const JudgeTask& task, Verdict& verdict) {
    const auto infinity = std::bit_cast<std::int64_t>(verdict.least_right);  // as it begins
    const double* __restrict margins = task.margins;
    const std::uint8_t* __restrict right = task.right;
    std::int64_t of_right = infinity;
    std::int64_t of_wrong = infinity;
    for (std::size_t i = 0; i < task.n; ++i) {
        const std::int64_t margin = NAME(in_order)(std::bit_cast<std::int64_t>(margins[i]));
        const std::int64_t mask = -static_cast<std::int64_t>(right[i]);
        const std::int64_t if_right = (margin & mask) | (infinity & ~mask);
        const std::int64_t if_wrong = (margin & ~mask) | (infinity & mask);
        of_right = if_right < of_right ? if_right : of_right;
        of_wrong = if_wrong < of_wrong ? if_wrong : of_wrong;
    }
    verdict.least_right = std::bit_cast<double>(NAME(in_order)(of_right));
    verdict.least_wrong = std::bit_cast<double>(NAME(in_order)(of_wrong));
}

}  // namespace

ShareSum NAME(weigh)(const WeighTask& task) {
    if (task.step.right != nullptr) NAME(move)(task.margins, task.step, task.n);
    NAME(fill_shares)(task);
    if (task.cells != nullptr) NAME(fill_cells)(task);
    return NAME(sum_of)(task.shares, task.counts, task.n);
}

Verdict NAME(judge)(const JudgeTask& task) {
    Verdict verdict;
    if (task.margins != nullptr) NAME(find_least)(task, verdict);
    double wrong[kPiece];
    for (std::size_t i = 0; i < task.n; ++i) {
        wrong[i] = NAME(choose)(task.right[i], 0.0, task.shares[i]);
    }
    verdict.wrong = NAME(sum_of)(wrong, task.counts, task.n);
    return verdict;
}

}  // namespace spinney
