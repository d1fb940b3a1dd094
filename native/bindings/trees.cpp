#include "native/base/failure.hpp"
#include "native/bindings/arrays.hpp"
#include "native/trees/histogram_grower.hpp"

namespace spinney::bindings {
namespace {

using Bins = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Targets = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// The arrays, borrowed, with their lengths checked: everything else is the caller's promise.
BinnedRows binned_rows(const Bins& bins, const Array<std::int32_t>& n_value_bins,
                       const Array<std::uint8_t>& categorical, const Targets& targets,
                       const Array<std::int64_t>& weights) {
    BinnedRows data;
    data.n_rows = bins.shape(0);
    data.n_features = bins.shape(1);
    data.n_outputs = targets.shape(1);
    data.bins = {bins.data(), bins.size()};
    data.n_value_bins = view(n_value_bins);
    data.categorical = view(categorical);
    data.targets = {targets.data(), targets.size()};
    data.weights = view(weights);
    if (targets.shape(0) != data.n_rows || data.weights.size() != data.n_rows ||
        data.n_value_bins.size() != data.n_features || data.categorical.size() != data.n_features) {
        throw Failure(FailureKind::kInvalidInput, "bins, targets and weights differ in length");
    }
    return data;
}

nb::dict as_dict(GrownTree&& tree, std::size_t n_outputs) {
    const std::size_t n_nodes = tree.feature.size();
    nb::dict arrays;
    arrays["feature"] = give(std::move(tree.feature));
    arrays["bin"] = give(std::move(tree.bin));
    arrays["right"] = give(std::move(tree.right));
    arrays["missing_left"] = give(std::move(tree.missing_left));
    arrays["category_set"] = give(std::move(tree.category_set));
    arrays["category_sets"] = give(std::move(tree.category_sets));
    arrays["values"] = give(std::move(tree.values), {n_nodes, n_outputs});
    arrays["count"] = give(std::move(tree.count));
    arrays["weight"] = give(std::move(tree.weight));
    arrays["gain"] = give(std::move(tree.gain));
    return arrays;
}

}  // namespace

void bind_trees(nb::module_& module) {
    nb::class_<TreeSettings>(module, "TreeSettings", "How one tree may grow.")
        .def(nb::init<>())
        .def_rw("max_leaf_nodes", &TreeSettings::max_leaf_nodes)
        .def_rw("max_depth", &TreeSettings::max_depth)
        .def_rw("min_samples_split", &TreeSettings::min_samples_split)
        .def_rw("min_samples_leaf", &TreeSettings::min_samples_leaf)
        .def_rw("min_gain", &TreeSettings::min_gain)
        .def_rw("max_features", &TreeSettings::max_features)
        .def_rw("seed", &TreeSettings::seed);

    module.def(
        "grow_histogram_tree",
        [](const Bins& bins, const Array<std::int32_t>& n_value_bins,
           const Array<std::uint8_t>& categorical, const Targets& targets,
           const Array<std::int64_t>& weights, std::pair<double, double> scales, bool one_hot,
           const TreeSettings& settings, int n_threads) {
            BinnedRows data = binned_rows(bins, n_value_bins, categorical, targets, weights);
            data.target_scale = scales.first;
            data.weight_scale = scales.second;
            data.one_hot = one_hot;
            GrownTree tree;
            {
                nb::gil_scoped_release unlocked;  // pure C++: no Python object is touched
                tree = grow_histogram_tree(data, settings, n_threads);
            }
            return as_dict(std::move(tree), data.n_outputs);
        },
        "bins"_a, "n_value_bins"_a, "categorical"_a, "targets"_a, "weights"_a, "scales"_a,
        "one_hot"_a, "settings"_a, "n_threads"_a,
        "Grow one tree; nodes in preorder. scales: (of targets, of weights), powers of two.");
}

}  // namespace spinney::bindings
