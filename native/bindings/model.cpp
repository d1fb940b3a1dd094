#include "native/bindings/forest.hpp"
#include "native/data/columns.hpp"
#include "native/model/traverse.hpp"

namespace spinney::bindings {
void bind_model(nb::module_& module) {
    nb::class_<Forest>(module, "Forest", "A frozen forest, checked when it is made.")
        .def(nb::init<const nb::dict&, std::size_t, std::size_t, std::size_t>(), "arrays"_a,
             "n_features"_a, "n_outputs"_a, "value_width"_a)
        .def(
            "raw_scores",
            [](const Forest& self, const Columns& table, int n_threads) {
                const std::size_t n_rows = table.n_rows;
                const std::size_t n_outputs = self.arrays().n_outputs;
                std::vector<double> scores(n_rows * n_outputs);
                {
                    nb::gil_scoped_release unlocked;  // pure C++: no Python object is touched
                    raw_scores(self.arrays(), table, scores, n_threads);
                }
                return give(std::move(scores), {n_rows, n_outputs});
            },
            "columns"_a, "n_threads"_a, "Sums of the trees, one row each; (n_rows, n_outputs).")
        .def(
            "leaf_ids",
            [](const Forest& self, const Columns& table, int n_threads) {
                const std::size_t n_rows = table.n_rows;
                const std::size_t n_trees = self.arrays().n_trees();
                std::vector<std::int32_t> leaves(n_rows * n_trees);
                {
                    nb::gil_scoped_release unlocked;
                    leaf_ids(self.arrays(), table, leaves, n_threads);
                }
                return give(std::move(leaves), {n_rows, n_trees});
            },
            "columns"_a, "n_threads"_a, "Leaf of every row in every tree; (n_rows, n_trees).");
}

}  // namespace spinney::bindings
