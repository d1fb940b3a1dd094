#include "native/base/failure.hpp"
#include "native/bindings/arrays.hpp"
#include "native/bindings/grown_arrays.hpp"
#include "native/trees/exact_grower.hpp"

namespace spinney::bindings {
namespace {

using Targets = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::dict grow_rows(const SortedColumns& columns, const ExactRows& rows,
                   const TreeSettings& settings, int n_threads) {
    if (rows.n_rows() != columns.n_rows() || rows.n_outputs == 0) {
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

nb::dict grow(const SortedColumns& columns, const Targets& targets,
              const Array<std::int64_t>& weights, std::pair<double, double> scales,
              Criterion criterion, const TreeSettings& settings, int n_threads) {
    if (targets.shape(0) != weights.size()) {
        throw Failure(FailureKind::kInvalidInput, "targets and weights differ in length");
    }
    return grow_rows(columns,
                     {.n_outputs = targets.shape(1),
                      .targets = {targets.data(), targets.size()},
                      .weights = view(weights),
                      .cells = {},
                      .target_scale = scales.first,
                      .weight_scale = scales.second,
                      .criterion = criterion},
                     settings, n_threads);
}

nb::dict grow_signs(const SortedColumns& columns, const Array<std::int32_t>& cells, double scale,
                    Criterion criterion, const TreeSettings& settings, int n_threads) {
    return grow_rows(columns,
                     {.n_outputs = 1,
                      .targets = {},
                      .weights = {},
                      .cells = view(cells),
                      .target_scale = scale,
                      .weight_scale = scale,
                      .criterion = criterion},
                     settings, n_threads);
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
             "worth.")
        .def("grow_signs", &grow_signs, "cells"_a, "scale"_a, "criterion"_a, "settings"_a,
             "n_threads"_a,
             "Grow one tree of two classes. cells: the weight of each row, negative in the first "
             "class; scale: what a unit of them is worth.");
    module.def(
        "say_of_rows",
        [](const Array<std::int8_t>& said, const Array<std::int32_t>& leaf_of_row, int n_threads) {
            std::vector<std::int8_t> answers;
            {
                nb::gil_scoped_release unlocked;
                answers = say_of_rows(view(said), view(leaf_of_row), n_threads);
            }
            return give(std::move(answers), {leaf_of_row.size(), 1});
        },
        "said"_a, "leaf_of_row"_a, "n_threads"_a,
        "What the leaf of each row says; (n_rows, 1), a byte each, because rows are many.");
}

}  // namespace spinney::bindings
