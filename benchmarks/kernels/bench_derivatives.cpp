/// Derivatives of every loss, 1 000 000 rows; multinomial: as many pairs of a row and a class, and
/// per pair.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/kernels/stopwatch.hpp"
#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/losses/derivatives.hpp"

namespace {

constexpr std::size_t kRows = 1'000'000;
constexpr int kRepeats = 9;

std::vector<double> make_scores(std::size_t n) {
    std::vector<double> scores(n);
    for (std::size_t i = 0; i < n; ++i) {
        scores[i] = 8.0 * spinney::random_unit(1, spinney::Stream::kRows, i) - 4.0;
    }
    return scores;
}

/// Times work() for every instruction set of this machine and 1 and 2 threads.
template <class Work>
void bench_all(const std::string& kernel, std::size_t n_items, const Work& work) {
    for (int isa = 0; isa <= static_cast<int>(spinney::best_isa()); ++isa) {
        spinney::use_isa(static_cast<spinney::Isa>(isa));
        for (const int threads : {1, 2}) {
            const double seconds = bench::fastest_seconds(kRepeats, [&] { work(threads); });
            bench::report(kernel.c_str(), spinney::isa_name(spinney::active_isa()), threads,
                          seconds, static_cast<double>(n_items), "row");
        }
    }
}

void bench_point_losses() {
    const std::vector<double> scores = make_scores(kRows);
    std::vector<double> y(kRows);
    for (std::size_t i = 0; i < kRows; ++i) y[i] = static_cast<double>(i % 3 == 0);
    std::vector<float> gradients(kRows), hessians(kRows);
    for (const char* name : {"squared", "absolute", "huber", "quantile", "poisson", "gamma",
                             "tweedie", "logistic", "exponential"}) {
        const spinney::LossSpec loss{spinney::parse_loss(name), 1.5};
        // As boosting does: hessians that are all 1 are not written.
        const std::span<float> second =
            spinney::has_constant_hessian(loss) ? std::span<float>{} : std::span(hessians);
        bench_all(name, kRows, [&](int threads) {
            spinney::fill_derivatives(loss, {.numbers = y, .codes = {}}, scores, gradients, second,
                                      threads);
        });
    }
}

void bench_multinomial(std::size_t n_classes) {
    const std::size_t n_rows = kRows / n_classes;
    const std::vector<double> scores = make_scores(n_rows * n_classes);
    std::vector<std::int32_t> codes(n_rows);
    for (std::size_t i = 0; i < n_rows; ++i) {
        codes[i] = static_cast<std::int32_t>(i % n_classes);
    }
    std::vector<float> gradients(scores.size()), hessians(scores.size());
    bench_all("multinomial of " + std::to_string(n_classes), scores.size(), [&](int threads) {
        spinney::fill_softmax_derivatives(codes, scores, n_classes, gradients, hessians, threads);
    });
}

}  // namespace

int main() {
    bench_point_losses();
    bench_multinomial(3);
    bench_multinomial(7);
}
