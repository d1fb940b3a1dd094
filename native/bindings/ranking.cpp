#include "native/losses/ranking.hpp"

#include <nanobind/stl/tuple.h>

#include "native/bindings/arrays.hpp"

namespace spinney::bindings {
namespace {

/// An array the function writes into.
template <class T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<T> written(const Output<T>& array) {
    return {array.data(), array.size()};
}

}  // namespace

void bind_ranking(nb::module_& module) {
    module.def(
        "tie_keys",
        [](const nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& bins,
           int n_threads) {
            std::vector<std::uint64_t> keys;
            {
                nb::gil_scoped_release unlocked;  // pure C++: no Python object is touched
                keys = tie_keys({bins.data(), bins.size()}, bins.shape(0), n_threads);
            }
            return give(std::move(keys));
        },
        "bins"_a, "n_threads"_a, "A number for every row that depends on its bins alone.");
    nb::class_<RankedQueries>(module, "RankedQueries", "The rows of some queries, to be ranked.")
        .def(
            "__init__",
            [](RankedQueries* self, const std::pair<Array<double>, Array<double>>& labels_and_gains,
               const Array<std::uint64_t>& keys, const Array<std::uint32_t>& rows,
               const Array<std::int64_t>& first) {
                const auto& [labels, gains] = labels_and_gains;
                nb::gil_scoped_release unlocked;
                new (self)
                    RankedQueries(view(labels), view(gains), view(keys), view(rows), view(first));
            },
            "labels_and_gains"_a, "keys"_a, "rows"_a, "first"_a)
        .def(
            "fill_derivatives",
            [](const RankedQueries& self, const std::tuple<std::string, std::size_t, bool>& loss,
               const Array<double>& scores, const Output<float>& gradients,
               const Output<float>& hessians, int n_threads) {
                const auto& [name, truncation, normalize] = loss;
                const RankingLoss spec = {parse_ranking(name), truncation, normalize};
                nb::gil_scoped_release unlocked;
                const DerivativeLimits limits = self.fill_derivatives(
                    spec, view(scores), written(gradients), written(hessians), n_threads);
                return std::pair(limits.gradient, limits.hessian);
            },
            "loss"_a, "scores"_a, "gradients"_a.noconvert(), "hessians"_a.noconvert(),
            "n_threads"_a,
            "Derivatives of a loss (its name, truncation, normalize) by the scores of all rows; "
            "gives the largest magnitudes of both.")
        .def(
            "measure",
            [](const RankedQueries& self, const std::string& metric, std::size_t k,
               const Array<double>& scores, int n_threads) {
                const RankingKind kind = parse_ranking(metric);
                std::vector<double> of_query;
                {
                    nb::gil_scoped_release unlocked;
                    of_query = self.measure(kind, k, view(scores), n_threads);
                }
                return give(std::move(of_query));
            },
            "metric"_a, "k"_a, "scores"_a, "n_threads"_a,
            "NDCG or average precision of the first k places of each query; k of 0: all.");
}

}  // namespace spinney::bindings
