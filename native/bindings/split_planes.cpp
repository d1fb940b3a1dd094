#include "native/model/split_planes.hpp"

#include <optional>

#include "native/bindings/arrays.hpp"
#include "native/trees/plane_grower.hpp"

namespace spinney::bindings {
namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Features = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Drawn = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Trees of planes over NumPy arrays it keeps alive.
class OwnedPlanes {
  public:
    OwnedPlanes(const nb::dict& arrays, std::size_t n_features, std::size_t width,
                std::size_t n_outputs) {
        PlaneArrays views;
        views.n_features = n_features;
        views.width = width;
        views.n_outputs = n_outputs;
        borrowed_.take(arrays, "tree_start", views.tree_start);
        borrowed_.take(arrays, "right", views.right);
        borrowed_.take(arrays, "value", views.value);
        borrowed_.take(arrays, "threshold", views.threshold);
        borrowed_.take(arrays, "feature", views.feature);
        borrowed_.take(arrays, "normal", views.normal);
        borrowed_.take(arrays, "point", views.point);
        borrowed_.take(arrays, "categorical", views.categorical);
        planes_.emplace(views);
    }

    nb::ndarray<nb::numpy, double> mean_values(const Matrix& rows, int n_threads) const {
        const std::size_t n_rows = rows.shape(0);
        const std::size_t width = planes_->n_outputs();
        std::vector<double> means(n_rows * width);
        {
            nb::gil_scoped_release unlocked;
            planes_->mean_values({rows.data(), rows.size()}, means, n_threads);
        }
        return give(std::move(means), {n_rows, width});
    }

  private:
    std::optional<SplitPlanes> planes_;
    Borrowed borrowed_;
};

nb::dict grow(const Matrix& matrix, const Array<std::uint8_t>& categorical, const Drawn& drawn,
              std::pair<std::size_t, int> limits, std::uint64_t seed, std::size_t first_tree,
              int n_threads) {
    const PlaneSettings settings = {limits.first, limits.second, seed, view(categorical)};
    GrownPlanes grown;
    {
        nb::gil_scoped_release unlocked;
        grown = grow_planes({matrix.data(), matrix.size()}, matrix.shape(1),
                            {drawn.data(), drawn.size()}, drawn.shape(1), settings, first_tree,
                            n_threads);
    }
    nb::dict arrays;
    arrays["tree_start"] = give(std::move(grown.tree_start));
    arrays["right"] = give(std::move(grown.right));
    arrays["depth"] = give(std::move(grown.depth));
    arrays["count"] = give(std::move(grown.count));
    arrays["feature"] = give(std::move(grown.feature));
    arrays["normal"] = give(std::move(grown.normal));
    arrays["point"] = give(std::move(grown.point));
    return arrays;
}

nb::ndarray<nb::numpy, double> projected(const Matrix& matrix, const Features& feature,
                                         const Matrix& normal, const Matrix& point, int n_threads) {
    PlaneArrays planes;
    planes.n_features = matrix.shape(1);
    planes.width = feature.shape(1);
    planes.feature = {feature.data(), feature.size()};
    planes.normal = {normal.data(), normal.size()};
    planes.point = {point.data(), point.size()};
    const std::size_t n_planes = feature.shape(0);
    std::vector<double> sums(matrix.shape(0) * n_planes);
    {
        nb::gil_scoped_release unlocked;
        project({matrix.data(), matrix.size()}, planes, sums, n_threads);
    }
    return give(std::move(sums), {n_planes, matrix.shape(0)});
}

}  // namespace

void bind_split_planes(nb::module_& module) {
    nb::class_<OwnedPlanes>(module, "SplitPlanes", "Trees whose nodes are split by planes.")
        .def(nb::init<const nb::dict&, std::size_t, std::size_t, std::size_t>(), "arrays"_a,
             "n_features"_a, "width"_a, "n_outputs"_a)
        .def("mean_values", &OwnedPlanes::mean_values, "rows"_a, "n_threads"_a,
             "Means over the trees of the values of leaves; (n_rows, n_outputs). NaN is missing.");
    module.def("project", &projected, "matrix"_a, "feature"_a, "normal"_a, "point"_a, "n_threads"_a,
               "Sums of normal * (x[feature] - point) for (n_planes, width) terms; (n_planes, "
               "n_rows).");
    module.def("grow_planes", &grow, "matrix"_a, "categorical"_a, "drawn"_a, "limits"_a, "seed"_a,
               "first_tree"_a, "n_threads"_a,
               "Grow trees of random planes on the rows drawn for each; limits: (terms of a plane, "
               "depth).");
}

}  // namespace spinney::bindings
