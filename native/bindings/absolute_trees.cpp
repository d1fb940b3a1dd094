#include "native/base/failure.hpp"
#include "native/bindings/arrays.hpp"
#include "native/bindings/grown_arrays.hpp"
#include "native/trees/absolute_grower.hpp"

namespace spinney::bindings {
namespace {

nb::dict grow(const RankedColumns& columns, const Array<double>& targets,
              const Array<std::int64_t>& products, const Array<std::int64_t>& weights,
              double centre, std::pair<double, double> scales, bool whole,
              const ForestSettings& settings) {
    const AbsoluteRows rows = {view(targets), view(products), view(weights), centre,
                               scales.first,  scales.second,  whole};
    const std::size_t n_rows = columns.n_rows();
    if (n_rows == 0 || rows.targets.size() != n_rows || rows.products.size() != n_rows ||
        (!rows.weights.empty() && rows.weights.size() != n_rows)) {
        throw Failure(FailureKind::kInvalidInput, "columns, targets and weights do not fit");
    }
    ForestTree tree;
    {
        nb::gil_scoped_release unlocked;  // pure C++: no Python object is touched
        tree = grow_absolute_tree(columns, rows, settings);
    }
    const auto n_nodes = static_cast<std::int64_t>(tree.threshold.size());
    nb::dict arrays = as_dict(std::move(tree.nodes), 1);
    nb::del(arrays["bin"]);
    arrays["threshold"] = give(std::move(tree.threshold));
    arrays["tree_start"] = give(std::vector<std::int64_t>{0, n_nodes});
    return arrays;
}

}  // namespace

void bind_absolute_trees(nb::module_& module) {
    module.def("grow_absolute_tree", &grow, "columns"_a, "targets"_a, "products"_a, "weights"_a,
               "centre"_a, "scales"_a, "whole"_a, "settings"_a,
               "Grow one tree that lowers absolute error; nodes in preorder. products: weight "
               "times (target - centre); weights: empty for one each; scales: what a unit of "
               "products, and of weights, is worth; whole: weights are whole, and products are "
               "multiples of them.");
}

}  // namespace spinney::bindings
