#include "native/base/failure.hpp"
#include "native/bindings/arrays.hpp"
#include "native/bindings/grown_arrays.hpp"
#include "native/trees/exact_grower.hpp"

namespace spinney::bindings {
namespace {

using Targets = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::dict grow(const SortedColumns& columns, const Targets& targets,
              const Array<std::int64_t>& weights, std::pair<double, double> scales,
              Criterion criterion, const TreeSettings& settings, int n_threads) {
    ExactRows rows;
    rows.n_outputs = targets.shape(1);
    rows.targets = {targets.data(), targets.size()};
    rows.weights = view(weights);
    rows.target_scale = scales.first;
    rows.weight_scale = scales.second;
    rows.criterion = criterion;
    if (targets.shape(0) != columns.n_rows() || rows.weights.size() != columns.n_rows() ||
        rows.n_outputs == 0) {
        throw Failure(FailureKind::kInvalidInput, "rows, targets and weights differ in length");
    }
    ExactTree tree;
    {
        nb::gil_scoped_release unlocked;  // pure C++: no Python object is touched
        tree = grow_exact_tree(columns, rows, settings, n_threads);
    }
    nb::dict arrays = as_dict(std::move(tree.nodes), rows.n_outputs);
    arrays["threshold"] = give(std::move(tree.threshold));
    arrays["leaf_of_row"] = give(std::move(tree.leaf_of_row));
    return arrays;
}

}  // namespace

void bind_exact_trees(nb::module_& module) {
    nb::enum_<Criterion>(module, "Criterion", "What a split of an exact tree lowers.")
        .value("SQUARED", Criterion::kSquared)
        .value("ERROR", Criterion::kError)
        .value("EXPONENTIAL", Criterion::kExponential)
        .value("HAMMING", Criterion::kHamming);

    nb::class_<SortedColumns>(module, "SortedColumns", "Rows of every feature by value.")
        .def(
            "__init__",
            [](SortedColumns* self, const Columns& columns,
               const std::vector<std::vector<std::uint8_t>>& category_bins, int n_threads) {
                nb::gil_scoped_release unlocked;
                new (self) SortedColumns(columns, category_bins, n_threads);
            },
            "columns"_a, "category_bins"_a, "n_threads"_a, nb::keep_alive<1, 2>())
        .def_prop_ro("n_rows", &SortedColumns::n_rows)
        .def("grow", &grow, "targets"_a, "weights"_a, "scales"_a, "criterion"_a, "settings"_a,
             "n_threads"_a,
             "Grow one tree; nodes in preorder. scales: what units of targets and weights are "
             "worth.");
}

}  // namespace spinney::bindings
