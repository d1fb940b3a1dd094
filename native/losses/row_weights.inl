// Weights of a block of rows, included by one file per instruction set with NAME(x) = x_<isa>.

namespace spinney {

ShareSum NAME(weigh)(const WeighTask& task) {
    const double* __restrict margins = task.margins;
    double* __restrict shares = task.shares;
    for (std::size_t i = 0; i < task.n; ++i) shares[i] = exact_exp(task.least - margins[i]);
    if (task.factors != nullptr) {
        const double* __restrict factors = task.factors;
        for (std::size_t i = 0; i < task.n; ++i) shares[i] *= factors[i];
    }
    ShareSum sum;
    std::int64_t* __restrict whole = task.whole;
    if (task.counts == nullptr) {
        for (std::size_t i = 0; i < task.n; ++i) {
            const ShareBits bits = cut_share(shares[i]);
            whole[i] = bits.high;
            sum.high += bits.high;
            sum.low += bits.low;
        }
        return sum;
    }
    for (std::size_t i = 0; i < task.n; ++i) {
        const ShareBits bits = cut_share(shares[i]);
        whole[i] = bits.high * task.counts[i];
        sum.high += whole[i];
        sum.low += bits.low * task.counts[i];
    }
    return sum;
}

}  // namespace spinney
