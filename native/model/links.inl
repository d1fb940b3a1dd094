// Links over a tile of rows, included by one file per instruction set with NAME(x) = x_<isa>.
// Additions, multiplications and divisions in a fixed order, without contraction: every vector
// width gives the same bits.

namespace spinney {
namespace {

/// The smaller probability is e / (1 + e) with e <= 1, accurate however small; the other is what is
/// missing to 1, so that the two add up to 1 exactly.
void logistic(const LinkTask& task, double factor) {
    double smaller[kLinkRows];
    const double* __restrict scores = task.scores;
    for (std::size_t i = 0; i < task.n; ++i) {
        const double e = exact_exp(-magnitude_of(factor * scores[i]));
        smaller[i] = e / (1.0 + e);
    }
    for (std::size_t i = 0; i < task.n; ++i) {
        const double larger = 1.0 - smaller[i];
        const bool is_first = scores[i] < 0.0;
        task.predictions[2 * i] = is_first ? larger : smaller[i];
        task.predictions[2 * i + 1] = is_first ? smaller[i] : larger;
    }
}

/// e^(score - largest) over their sum; classes are added in their order.
void softmax(const LinkTask& task) {
    double largest[kLinkRows];
    double sum[kLinkRows];
    for (std::size_t i = 0; i < task.n; ++i) {
        largest[i] = task.scores[i];
        sum[i] = 0.0;
    }
    for (std::size_t k = 1; k < task.n_outputs; ++k) {
        const double* __restrict scores = task.scores + k * kLinkRows;
        for (std::size_t i = 0; i < task.n; ++i) {
            largest[i] = scores[i] > largest[i] ? scores[i] : largest[i];
        }
    }
    for (std::size_t k = 0; k < task.n_outputs; ++k) {
        double* __restrict scores = task.scores + k * kLinkRows;
        for (std::size_t i = 0; i < task.n; ++i) {
            scores[i] = exact_exp(scores[i] - largest[i]);
            sum[i] += scores[i];
        }
    }
    for (std::size_t k = 0; k < task.n_outputs; ++k) {
        double* __restrict scores = task.scores + k * kLinkRows;
        for (std::size_t i = 0; i < task.n; ++i) scores[i] /= sum[i];
    }
}

void exponentiate(const LinkTask& task) {
    for (std::size_t k = 0; k < task.n_outputs; ++k) {
        double* __restrict scores = task.scores + k * kLinkRows;
        for (std::size_t i = 0; i < task.n; ++i) scores[i] = exact_exp(scores[i]);
    }
}

/// Neighbours change places where they are out of order, by turns of even and odd places: as many
/// turns as there are outputs put every row in order (odd-even transposition). Equal ones stay.
void put_in_order(const LinkTask& task) {
    for (std::size_t turn = 0; turn < task.n_outputs; ++turn) {
        for (std::size_t k = turn % 2; k + 1 < task.n_outputs; k += 2) {
            double* __restrict lower = task.scores + k * kLinkRows;
            double* __restrict upper = lower + kLinkRows;
            for (std::size_t i = 0; i < task.n; ++i) {
                const double a = lower[i];
                const double b = upper[i];
                lower[i] = b < a ? b : a;
                upper[i] = b < a ? a : b;
            }
        }
    }
}

void copy(const LinkTask& task) {
    for (std::size_t k = 0; k < task.n_outputs; ++k) {
        const double* __restrict scores = task.scores + k * kLinkRows;
        double* __restrict predictions = task.predictions + k;
        for (std::size_t i = 0; i < task.n; ++i) predictions[i * task.n_outputs] = scores[i];
    }
}

}  // namespace

void NAME(apply_link)(const LinkTask& task) {
    switch (task.link) {
        case Link::kLogistic:
            return logistic(task, 1.0);
        case Link::kDoubleLogistic:
            return logistic(task, 2.0);
        case Link::kSoftmax:
            softmax(task);
            return copy(task);
        case Link::kLog:
            exponentiate(task);
            return copy(task);
        case Link::kIncreasing:
            put_in_order(task);
            return copy(task);
        case Link::kIdentity:
            return copy(task);
    }
}

}  // namespace spinney
