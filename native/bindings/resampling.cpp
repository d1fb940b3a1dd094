#include <algorithm>

#include "native/base/failure.hpp"
#include "native/bindings/arrays.hpp"
#include "native/resampling/derivative_draws.hpp"

namespace spinney::bindings {
namespace {

/// Candidates over arrays, with lengths and numbers checked at the door.
DrawCandidates candidates_of(std::size_t n_rows, const Array<std::uint32_t>& rows,
                             const Array<std::int64_t>& weights) {
    const auto chosen = view(rows);
    if (n_rows == 0 || (weights.size() != 0 && weights.size() != n_rows) ||
        !std::is_sorted(chosen.begin(), chosen.end()) ||
        (!chosen.empty() && chosen.back() >= n_rows)) {
        throw Failure(FailureKind::kInvalidInput, "rows or weights do not fit the table");
    }
    return {n_rows, chosen, view(weights)};
}

DrawDerivatives derivatives_of(std::size_t n_rows, std::span<const float> gradients,
                               std::span<const float> hessians, std::span<const float> factors) {
    if (gradients.size() == 0 || gradients.size() % n_rows != 0 ||
        (hessians.size() != 0 && hessians.size() != gradients.size()) ||
        (factors.size() != 0 && factors.size() != n_rows)) {
        throw Failure(FailureKind::kInvalidInput, "derivatives do not fit the table");
    }
    return {gradients, hessians, factors};
}

nb::tuple as_pair(DrawnRows&& drawn) {
    return nb::make_tuple(give(std::move(drawn.rows)), give(std::move(drawn.factors)));
}

}  // namespace

void bind_resampling(nb::module_& module) {
    module.def(
        "draw_one_side",
        [](const Array<float>& gradients, const Array<float>& factors,
           const Array<std::uint32_t>& rows, const Array<std::int64_t>& weights, std::size_t n_rows,
           double top_rate, double share, std::uint64_t seed, int n_threads) {
            const DrawCandidates candidates = candidates_of(n_rows, rows, weights);
            const DrawDerivatives derivatives =
                derivatives_of(n_rows, view(gradients), {}, view(factors));
            DrawnRows drawn;
            {
                nb::gil_scoped_release unlocked;
                drawn = draw_one_side(derivatives, candidates, top_rate, share, seed, n_threads);
            }
            return as_pair(std::move(drawn));
        },
        "gradients"_a, "factors"_a, "rows"_a, "weights"_a, "n_rows"_a, "top_rate"_a, "share"_a,
        "seed"_a, "n_threads"_a, "Rows with large gradients, and some of the others.");
    module.def(
        "draw_minimal_variance",
        [](const Array<float>& gradients, const Array<float>& hessians, const Array<float>& factors,
           const Array<std::uint32_t>& rows, const Array<std::int64_t>& weights, std::size_t n_rows,
           double share, double step_share, std::uint64_t seed, int n_threads) {
            const DrawCandidates candidates = candidates_of(n_rows, rows, weights);
            const DrawDerivatives derivatives =
                derivatives_of(n_rows, view(gradients), view(hessians), view(factors));
            DrawnRows drawn;
            {
                nb::gil_scoped_release unlocked;
                drawn = draw_minimal_variance(derivatives, candidates, share, step_share, seed,
                                              n_threads);
            }
            return as_pair(std::move(drawn));
        },
        "gradients"_a, "hessians"_a, "factors"_a, "rows"_a, "weights"_a, "n_rows"_a, "share"_a,
        "step_share"_a, "seed"_a, "n_threads"_a,
        "Rows by the size of their derivatives, so that sums vary least.");
    module.def(
        "draw_poisson",
        [](const Array<std::uint32_t>& rows, const Array<std::int64_t>& weights, std::size_t n_rows,
           double share, std::uint64_t seed, int n_threads) {
            const DrawCandidates candidates = candidates_of(n_rows, rows, weights);
            nb::gil_scoped_release unlocked;
            std::vector<std::int64_t> counts = draw_poisson(candidates, share, seed, n_threads);
            nb::gil_scoped_acquire locked;
            return give(std::move(counts));
        },
        "rows"_a, "weights"_a, "n_rows"_a, "share"_a, "seed"_a, "n_threads"_a,
        "How often each row counts: Poisson numbers.");
    module.def(
        "bayesian_factors",
        [](std::size_t n_rows, double temperature, double scale, std::uint64_t seed,
           int n_threads) {
            return give(bayesian_factors(n_rows, temperature, scale, seed, n_threads));
        },
        "n_rows"_a, "temperature"_a, "scale"_a, "seed"_a, "n_threads"_a,
        "Powers of exponential variates, one per row.");
}

}  // namespace spinney::bindings
