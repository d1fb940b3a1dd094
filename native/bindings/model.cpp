#include "native/base/failure.hpp"
#include "native/bindings/forest.hpp"
#include "native/data/columns.hpp"
#include "native/model/links.hpp"
#include "native/model/packed_forest.hpp"

namespace spinney::bindings {
namespace {

Road parse_road(const std::string& name) {
    if (name == "best") return Road::kBest;
    if (name == "sliced") return Road::kSliced;
    if (name == "clumped") return Road::kClumped;
    if (name == "keyed") return Road::kKeyed;
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

/// Packed nodes over NumPy arrays they keep alive.
class PackedArrays {
  public:
    PackedArrays(const nb::dict& arrays, std::size_t n_features, std::size_t n_outputs,
                 std::size_t value_width)
        : packed_(nodes(arrays, n_features, n_outputs, value_width)) {}

    /// Name to bytes: no array over them can ever be made writable.
    nb::dict unpack(int n_threads) const {
        const PackedNodes& nodes = packed_.nodes();
        const std::size_t n = nodes.n_nodes();
        nb::dict made;
        UnpackedNodes into;
        into.feature = {room<std::int32_t>(made, "feature", n), n};
        into.right = {room<std::int32_t>(made, "right", n), n};
        into.missing_left = {room<std::uint8_t>(made, "missing_left", n), n};
        into.category_set = {room<std::int32_t>(made, "category_set", n), n};
        into.threshold =
            room<std::uint8_t>(made, "threshold", n * (nodes.has_narrow_thresholds() ? 4U : 8U));
        if (!nodes.has_count()) into.count = room<std::int64_t>(made, "count", n);
        if (!nodes.has_weight()) into.weight = room<double>(made, "weight", n);
        if (!nodes.has_values()) into.values = room<double>(made, "values", n * nodes.value_width);
        if (!nodes.has_gain()) into.gain = room<double>(made, "gain", n);
        {
            nb::gil_scoped_release unlocked;
            packed_.unpack(into, n_threads);
        }
        return made;
    }

    nb::ndarray<nb::numpy, std::int64_t> root_counts() const { return give(packed_.root_counts()); }
    nb::ndarray<nb::numpy, double> root_weights() const { return give(packed_.root_weights()); }

  private:
    /// Bytes that nobody has seen yet may be written.
    template <class T>
    static T* room(nb::dict& made, const char* name, std::size_t n) {
        PyObject* bytes =
            PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(n * sizeof(T)));
        if (bytes == nullptr) throw nb::python_error();
        made[name] = nb::steal(bytes);
        return reinterpret_cast<T*>(PyBytes_AsString(bytes));
    }

    PackedNodes nodes(const nb::dict& arrays, std::size_t n_features, std::size_t n_outputs,
                      std::size_t value_width) {
        ForestArrays forest;
        forest.n_features = n_features;
        forest.n_outputs = n_outputs;
        forest.value_width = value_width;
        borrowed_.take(arrays, "tree_start", forest.tree_start);
        borrowed_.take(arrays, "tree_weight", forest.tree_weight);
        borrowed_.take(arrays, "tree_output", forest.tree_output);
        borrowed_.take(arrays, "baseline", forest.baseline);
        borrowed_.take(arrays, "categorical", forest.categorical);
        borrowed_.take(arrays, "category_start", forest.category_start);
        borrowed_.take(arrays, "category_bins", forest.category_bins);
        borrowed_.take(arrays, "category_sets", forest.category_sets);
        PackedNodes nodes;
        nodes.n_features = n_features;
        nodes.n_sets = forest.category_sets.size() / kCategorySetBytes;
        nodes.value_width = value_width;
        nodes.tree_start = forest.tree_start;
        nodes.categorical = forest.categorical;
        check_ensemble(forest, nodes.tree_start.empty() ? 0 : nodes.n_nodes());
        take_inner(arrays, nodes);
        take_leaves(arrays, nodes);
        take_full(arrays, nodes);
        return nodes;
    }

    void take_inner(const nb::dict& arrays, PackedNodes& nodes) {
        take_plain(arrays, "leaves", nodes.leaves);
        take_plain(arrays, "missing_left", nodes.missing_left);
        take_numbers(arrays, "feature", 'u', nodes.feature);
        take_numbers(arrays, "threshold_table", 'f', nodes.threshold_table);
        take_plain(arrays, "threshold_low", nodes.threshold_low);
        const bool is_code = !nodes.threshold_table.empty() || !nodes.threshold_low.empty();
        take_numbers(arrays, "threshold", is_code ? 'u' : 'f', nodes.threshold);
        take_numbers(arrays, "value_steps", 'i', nodes.value_steps);
        take_plain(arrays, "value_rest", nodes.value_rest);
        take_numbers(arrays, "gain_steps", 'i', nodes.gain_steps);
        take_plain(arrays, "gain_rest", nodes.gain_rest);
        std::span<const std::uint8_t> rules;
        take_plain(arrays, "rules", rules);
        if (rules.size() != 2) throw Failure(FailureKind::kInvalidModel, "there must be two rules");
        nodes.value_rule = static_cast<ValueRule>(rules[0]);
        nodes.gain_rule = static_cast<GainRule>(rules[1]);
    }

    void take_leaves(const nb::dict& arrays, PackedNodes& nodes) {
        take_numbers(arrays, "value", 'u', nodes.value);
        take_plain(arrays, "value_table", nodes.value_table);
        take_numbers(arrays, "count", 'u', nodes.count);
        take_plain(arrays, "count_rest", nodes.count_rest);
        take_numbers(arrays, "weight", 'u', nodes.weight);
        take_plain(arrays, "weight_rest", nodes.weight_rest);
    }

    void take_full(const nb::dict& arrays, PackedNodes& nodes) {
        take_plain(arrays, "full/count", nodes.full_count);
        take_plain(arrays, "full/weight", nodes.full_weight);
        take_plain(arrays, "full/values", nodes.full_values);
        take_plain(arrays, "full/gain", nodes.full_gain);
    }

    template <class T>
    void take_plain(const nb::dict& arrays, const char* name, std::span<const T>& to) {
        if (arrays.contains(name)) borrowed_.take(arrays, name, to);
    }

    /// Numbers of any width that their kind may have: codes (u), steps (i) or floats (f).
    void take_numbers(const nb::dict& arrays, const char* name, char kind, PackedNumbers& to) {
        if (!arrays.contains(name)) return;
        const auto take = [&]<class T>(T) {
            std::span<const T> numbers;
            borrowed_.take(arrays, name, numbers);
            to = {reinterpret_cast<const std::uint8_t*>(numbers.data()), numbers.size(), sizeof(T)};
        };
        const auto type = nb::cast<std::string>(nb::object(arrays[name]).attr("dtype").attr("str"));
        const std::string width = type.substr(2);
        if (type[1] == kind && kind == 'u' && width == "1") return take(std::uint8_t{});
        if (type[1] == kind && kind == 'u' && width == "2") return take(std::uint16_t{});
        if (type[1] == kind && kind == 'u' && width == "4") return take(std::uint32_t{});
        if (type[1] == kind && kind == 'i' && width == "1") return take(std::int8_t{});
        if (type[1] == kind && kind == 'i' && width == "2") return take(std::int16_t{});
        if (type[1] == kind && kind == 'f' && width == "4") return take(float{});
        if (type[1] == kind && kind == 'f' && width == "8") return take(double{});
        throw Failure(FailureKind::kInvalidModel, std::string("unexpected type of ") + name);
    }

    Borrowed borrowed_;  ///< before what reads it
    PackedForest packed_;
};

}  // namespace

void bind_model(nb::module_& module) {
    nb::class_<Forest>(module, "Forest", "A frozen forest, checked when it is made.")
        .def(nb::init<const nb::dict&, std::size_t, std::size_t, std::size_t, int>(), "arrays"_a,
             "n_features"_a, "n_outputs"_a, "value_width"_a, "n_threads"_a = 1)
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
    nb::class_<PackedArrays>(module, "PackedForest",
                             "Nodes of a forest as files hold them, checked when it is made.")
        .def(nb::init<const nb::dict&, std::size_t, std::size_t, std::size_t>(), "arrays"_a,
             "n_features"_a, "n_outputs"_a, "value_width"_a)
        .def("unpack", &PackedArrays::unpack, "n_threads"_a,
             "The arrays of nodes that are not stored in full, as bytes.")
        .def("root_counts", &PackedArrays::root_counts, "Counts of the roots; (n_trees,).")
        .def("root_weights", &PackedArrays::root_weights, "Weights of the roots; (n_trees,).");
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
