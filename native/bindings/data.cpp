#include <limits>
#include <optional>

#include "native/base/failure.hpp"
#include "native/bindings/arrays.hpp"
#include "native/data/bin_mapper.hpp"
#include "native/data/nonzero_columns.hpp"
#include "native/data/quantile_cuts.hpp"
#include "native/data/sparse_bins.hpp"

namespace spinney::bindings {
namespace {

using AnyColumn = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

/// Columns that keep their arrays alive. nb::keep_alive looks through all it keeps each time, which
/// takes minutes for a table of a hundred thousand columns.
struct OwnedColumns : Columns {
    std::vector<nb::ndarray<nb::ro>> owners;
};

ValueType value_type(nb::dlpack::dtype dtype) {
    if (dtype == nb::dtype<float>()) return ValueType::kFloat32;
    if (dtype == nb::dtype<double>()) return ValueType::kFloat64;
    if (dtype == nb::dtype<std::int32_t>()) return ValueType::kCode32;
    throw Failure(FailureKind::kInvalidInput, "a column must hold float32, float64 or int32");
}

template <class T>
const std::byte* bytes(const T& array) {
    return static_cast<const std::byte*>(array.data());
}

std::ptrdiff_t byte_stride(std::int64_t stride, std::size_t item_size) {
    return static_cast<std::ptrdiff_t>(stride) * static_cast<std::ptrdiff_t>(item_size);
}

void check_rows(const Columns& self, std::size_t n_rows) {
    if (n_rows != self.n_rows) {
        throw Failure(FailureKind::kInvalidInput, "a column has another number of rows");
    }
}

void add_column(OwnedColumns& self, const AnyColumn& column) {
    check_rows(self, column.shape(0));
    self.owners.emplace_back(column);
    self.features.push_back({.type = value_type(column.dtype()),
                             .data = bytes(column),
                             .stride = byte_stride(column.stride(0), column.itemsize())});
}

void add_matrix(OwnedColumns& self, const AnyMatrix& matrix) {
    check_rows(self, matrix.shape(0));
    self.owners.emplace_back(matrix);
    const ValueType type = value_type(matrix.dtype());
    const std::ptrdiff_t to_next_row = byte_stride(matrix.stride(0), matrix.itemsize());
    const std::ptrdiff_t to_next_feature = byte_stride(matrix.stride(1), matrix.itemsize());
    for (std::size_t feature = 0; feature < matrix.shape(1); ++feature) {
        const std::byte* first =
            bytes(matrix) + static_cast<std::ptrdiff_t>(feature) * to_next_feature;
        self.features.push_back({.type = type, .data = first, .stride = to_next_row});
    }
}

void add_sparse(OwnedColumns& self, const Array<std::int32_t>& rows, const AnyColumn& values) {
    const auto listed = view(rows);
    std::int64_t previous = -1;
    bool increasing = listed.size() == values.shape(0);
    for (const std::int32_t row : listed) {
        increasing = increasing && row > previous;
        previous = row;
    }
    if (!increasing || previous >= static_cast<std::int64_t>(self.n_rows) ||
        (values.shape(0) > 1 && values.stride(0) != 1)) {
        throw Failure(FailureKind::kInvalidInput,
                      "a sparse column must list its rows in increasing order");
    }
    self.owners.emplace_back(rows);
    self.owners.emplace_back(values);
    self.features.push_back({.type = value_type(values.dtype()),
                             .data = bytes(values),
                             .rows = listed,
                             .is_sparse = true});
}

template <class T>
nb::tuple nonzero_parts(const AnyMatrix& matrix, std::size_t one_in, int n_threads) {
    const MatrixView<T> view{static_cast<const T*>(matrix.data()), matrix.shape(0), matrix.shape(1),
                             static_cast<std::ptrdiff_t>(matrix.stride(0)),
                             static_cast<std::ptrdiff_t>(matrix.stride(1))};
    std::optional<NonzeroColumns<T>> found;
    {
        nb::gil_scoped_release unlocked;
        found = nonzero_columns(view, one_in, n_threads);
    }
    if (!found) return nb::make_tuple();
    return nb::make_tuple(give(std::move(found->starts)), give(std::move(found->rows)),
                          give(std::move(found->values)));
}

std::vector<FeatureBins> make_mapper(const nb::list& features) {
    std::vector<FeatureBins> mapper;
    mapper.reserve(nb::len(features));
    for (const nb::handle feature : features) {
        if (nb::isinstance<nb::tuple>(feature)) {  // (bin of each code, number of bins)
            const auto codes = nb::cast<Array<std::uint8_t>>(feature[0]);
            mapper.push_back(FeatureBins::categorical(view(codes), nb::cast<int>(feature[1])));
        } else {
            mapper.push_back(FeatureBins::numeric(view(nb::cast<Array<double>>(feature))));
        }
    }
    return mapper;
}

}  // namespace

void bind_data(nb::module_& module) {
    nb::class_<Columns>(module, "ColumnViews", "What native code sees of the columns of a table.");
    nb::class_<OwnedColumns, Columns>(module, "Columns", "Borrowed columns of a table.")
        .def(
            "__init__",
            [](OwnedColumns* self, std::size_t n_rows) {
                if (n_rows > std::numeric_limits<std::int32_t>::max()) {
                    throw Failure(FailureKind::kInvalidInput,
                                  "tables of more than 2147483647 rows are not supported");
                }
                new (self) OwnedColumns{{.n_rows = n_rows, .features = {}}, {}};
            },
            "n_rows"_a)
        // noconvert: a converted copy would die with the call, and the views point into it.
        .def("add_column", &add_column, "values"_a.noconvert())
        .def("add_matrix", &add_matrix, "values"_a.noconvert())
        .def("add_sparse", &add_sparse, "rows"_a.noconvert(), "values"_a.noconvert())
        .def_prop_ro("n_features", [](const Columns& self) { return self.features.size(); });

    module.def(
        "nonzero_columns",
        [](const AnyMatrix& matrix, std::size_t one_in, int n_threads) {
            return value_type(matrix.dtype()) == ValueType::kFloat32
                       ? nonzero_parts<float>(matrix, one_in, n_threads)
                       : nonzero_parts<double>(matrix, one_in, n_threads);
        },
        "matrix"_a.noconvert(), "one_in"_a, "n_threads"_a,
        "Starts of columns, rows and values that are not zero; empty unless these are few.");

    module.def(
        "find_cuts",
        [](const Columns& table, const Array<std::int64_t>& weights, int max_bins,
           std::size_t sample_rows, int n_threads) {
            std::vector<std::vector<double>> cuts;
            {
                nb::gil_scoped_release unlocked;  // pure C++: no Python object is touched
                cuts = find_cuts(table, view(weights), {max_bins, sample_rows}, n_threads);
            }
            nb::list result;
            for (auto& feature : cuts) result.append(give(std::move(feature)));
            return result;
        },
        "columns"_a, "weights"_a, "max_bins"_a, "sample_rows"_a, "n_threads"_a,
        "Cut points of every feature; weights empty or one integer per row.");

    module.def(
        "bin_columns",
        [](const Columns& table, const nb::list& features, int n_threads) {
            const std::vector<FeatureBins> mapper = make_mapper(features);
            const std::size_t n_rows = table.n_rows;
            std::vector<std::uint8_t> bins(n_rows * mapper.size());
            {
                nb::gil_scoped_release unlocked;
                bin_columns(table, mapper, bins, n_threads);
            }
            return give(std::move(bins), {n_rows, mapper.size()});
        },
        "columns"_a, "features"_a, "n_threads"_a,
        "Bins, row-major; a feature is its cut points or (bin of each code, number of bins).");

    nb::class_<SparseBins>(module, "SparseBins", "Bins of the stored values of sparse columns.")
        .def_ro("n_rows", &SparseBins::n_rows)
        .def(
            "dense",
            [](const SparseBins& self, int n_threads) {
                std::vector<std::uint8_t> bins(self.n_rows * self.features.size());
                {
                    nb::gil_scoped_release unlocked;
                    self.fill(bins, n_threads);
                }
                return give(std::move(bins), {self.n_rows, self.features.size()});
            },
            "n_threads"_a, "Bins, row-major.");

    module.def(
        "bin_sparse_columns",
        [](const Columns& table, const nb::list& features, int n_threads) {
            const std::vector<FeatureBins> mapper = make_mapper(features);
            nb::gil_scoped_release unlocked;
            return bin_sparse_columns(table, mapper, n_threads);
        },
        "columns"_a, "features"_a, "n_threads"_a,
        "The same of sparse columns of numbers, for stored values only.");
}

}  // namespace spinney::bindings
