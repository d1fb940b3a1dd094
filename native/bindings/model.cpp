#include "native/base/failure.hpp"
#include "native/bindings/forest.hpp"
#include "native/data/columns.hpp"
#include "native/model/links.hpp"

namespace spinney::bindings {
namespace {

Road parse_road(const std::string& name) {
    if (name == "best") return Road::kBest;
    if (name == "sliced") return Road::kSliced;
    if (name == "walked") return Road::kWalked;
    throw Failure(FailureKind::kInvalidParameter, "unknown road: " + name);
}

/// Rows of numbers, one behind the other, to predictions; one-dimensional.
template <class T>
nb::ndarray<nb::numpy, double> predict_rows(const Forest& self, double divisor,
                                            const std::string& link, const Array<T>& rows) {
    const Finish finish{divisor, parse_link(link)};
    const std::size_t n_features = self.arrays().n_features;
    if (rows.size() == 0 || rows.size() % n_features != 0) {
        throw Failure(FailureKind::kInvalidInput, "a row of " + std::to_string(rows.size()) +
                                                      " numbers, but the model has " +
                                                      std::to_string(n_features) + " features");
    }
    const std::vector<double> wide(rows.data(), rows.data() + rows.size());
    const std::size_t width = n_predicted(finish.link, self.arrays().n_outputs);
    std::vector<double> predictions(rows.size() / n_features * width);
    {
        nb::gil_scoped_release unlocked;
        self.predictor().predict_rows(wide, finish, predictions);
    }
    return give(std::move(predictions));
}

constexpr const char* kPredictRows =
    "What predict() says of rows that are numbers already, one behind the other: of categories "
    "their codes, NaN for missing.";

}  // namespace

void bind_model(nb::module_& module) {
    nb::class_<Forest>(module, "Forest", "A frozen forest, checked when it is made.")
        .def(nb::init<const nb::dict&, std::size_t, std::size_t, std::size_t>(), "arrays"_a,
             "n_features"_a, "n_outputs"_a, "value_width"_a)
        .def(
            "predict",
            [](const Forest& self, const Columns& table, double divisor, const std::string& link,
               int n_threads, const std::string& road) {
                const Finish finish{divisor, parse_link(link)};
                const std::size_t n_rows = table.n_rows;
                const std::size_t width = n_predicted(finish.link, self.arrays().n_outputs);
                std::vector<double> predictions(n_rows * width);
                {
                    nb::gil_scoped_release unlocked;  // pure C++: no Python object is touched
                    self.predictor().predict(table, finish, predictions, n_threads,
                                             parse_road(road));
                }
                return give(std::move(predictions), {n_rows, width});
            },
            "columns"_a, "divisor"_a, "link"_a, "n_threads"_a, "road"_a = "best",
            "Sums of the trees over the divisor, through the link; (n_rows, n_predicted).")
        .def("predict_rows", &predict_rows<double>, "divisor"_a, "link"_a, "rows"_a.noconvert(),
             kPredictRows)
        .def("predict_rows", &predict_rows<float>, "divisor"_a, "link"_a, "rows"_a.noconvert())
        .def(
            "leaf_ids",
            [](const Forest& self, const Columns& table, int n_threads, const std::string& road) {
                const std::size_t n_rows = table.n_rows;
                const std::size_t n_trees = self.arrays().n_trees();
                std::vector<std::int32_t> leaves(n_rows * n_trees);
                {
                    nb::gil_scoped_release unlocked;
                    self.predictor().leaf_ids(table, leaves, n_threads, parse_road(road));
                }
                return give(std::move(leaves), {n_rows, n_trees});
            },
            "columns"_a, "n_threads"_a, "road"_a = "best",
            "Leaf of every row in every tree; (n_rows, n_trees).");
    module.def(
        "apply_link",
        [](const std::string& link, const Array<double>& scores, std::size_t n_outputs,
           int n_threads) {
            const Link parsed = parse_link(link);
            const std::size_t n_rows = n_outputs == 0 ? 0 : scores.size() / n_outputs;
            const std::size_t width = n_predicted(parsed, n_outputs);
            std::vector<double> predictions(n_rows * width);
            {
                nb::gil_scoped_release unlocked;
                apply_link(parsed, view(scores), n_outputs, predictions, n_threads);
            }
            return give(std::move(predictions), {n_rows, width});
        },
        "link"_a, "scores"_a, "n_outputs"_a, "n_threads"_a,
        "Raw scores, row by row, to predictions; (n_rows, n_predicted).");
}

}  // namespace spinney::bindings
