#include "native/model/leaf_rows.hpp"

#include <optional>

#include "native/base/failure.hpp"
#include "native/bindings/arrays.hpp"

namespace spinney::bindings {
namespace {

using Leaves = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// The rows of leaves over NumPy arrays it keeps alive.
class OwnedLeafRows {
  public:
    explicit OwnedLeafRows(const nb::dict& arrays) {
        LeafRowArrays views;
        borrowed_.take(arrays, "tree_start", views.tree_start);
        borrowed_.take(arrays, "entry_start", views.entry_start);
        borrowed_.take(arrays, "row", views.row);
        borrowed_.take(arrays, "times", views.times);
        borrowed_.take(arrays, "weight", views.weight);
        borrowed_.take(arrays, "target", views.target);
        rows_.emplace(views);
    }

    nb::ndarray<nb::numpy, double> quantiles(const Leaves& leaves, const Array<double>& levels,
                                             int n_threads) const {
        if (leaves.shape(1) != rows_->n_trees()) {
            throw Failure(FailureKind::kInvalidInput, "leaves do not fit the trees");
        }
        const std::size_t n_rows = leaves.shape(0);
        std::vector<double> found(n_rows * levels.size());
        {
            nb::gil_scoped_release unlocked;
            rows_->quantiles({leaves.data(), leaves.size()}, view(levels), found, n_threads);
        }
        return give(std::move(found), {n_rows, levels.size()});
    }

    nb::tuple weights(const Array<std::int32_t>& leaves) const {
        RowWeights weights = rows_->weights(view(leaves));
        return nb::make_tuple(give(std::move(weights.row)), give(std::move(weights.weight)));
    }

  private:
    std::optional<LeafRows> rows_;
    Borrowed borrowed_;
};

}  // namespace

void bind_leaf_rows(nb::module_& module) {
    nb::class_<OwnedLeafRows>(module, "LeafRows",
                              "Training rows behind the leaves of a forest, by their target.")
        .def(nb::init<const nb::dict&>(), "arrays"_a)
        .def("quantiles", &OwnedLeafRows::quantiles, "leaves"_a, "levels"_a, "n_threads"_a,
             "Quantiles of (n_rows, n_trees) leaves; -1: this tree does not count.")
        .def("weights", &OwnedLeafRows::weights, "leaves"_a,
             "Numbers and weights of the training rows that count for the leaves of one row.");
}

}  // namespace spinney::bindings
