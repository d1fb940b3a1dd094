// Weights of a block of rows, included by one file per instruction set with NAME(x) = x_<isa>.

namespace spinney {

ShareSum NAME(weigh)(const WeighTask& task) {
    for (std::size_t i = 0; i < task.n; ++i) {
        const double share = exact_exp(task.least - task.margins[i]);
        task.shares[i] = task.factors != nullptr ? share * task.factors[i] : share;
    }
    ShareSum sum;
    for (std::size_t i = 0; i < task.n; ++i) {
        const ShareBits bits = cut_share(task.shares[i]);
        const std::int64_t count = task.counts != nullptr ? task.counts[i] : 1;
        task.whole[i] = bits.high * count;
        sum.high += bits.high * count;
        sum.low += bits.low * count;
    }
    return sum;
}

}  // namespace spinney
