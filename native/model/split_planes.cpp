#include "native/model/split_planes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "native/base/failure.hpp"
#include "native/base/parallel.hpp"

namespace spinney {
namespace {

constexpr std::size_t kRowsPerBlock = 64;

void require(bool holds, const char* what) {
    if (!holds) throw Failure(FailureKind::kInvalidModel, what);
}

/// In preorder the node behind a leaf is the right child that has waited shortest.
void check_shape(std::span<const std::int32_t> right) {
    std::vector<std::int32_t> waiting;
    for (std::size_t node = 0; node < right.size(); ++node) {
        const auto next = static_cast<std::int32_t>(node + 1);
        if (right[node] >= 0) {
            require(right[node] > next, "a right child stands before its parent's left child");
            waiting.push_back(right[node]);
        } else if (waiting.empty()) {
            require(right[node] == -1 && node + 1 == right.size(), "a node that no path reaches");
        } else {
            require(right[node] == -1 && waiting.back() == next, "a right child is not its own");
            waiting.pop_back();
        }
    }
    require(waiting.empty(), "a right child that does not exist");
}

void check_planes(const PlaneArrays& arrays, std::size_t n_planes) {
    const std::size_t n_terms = arrays.feature.size();
    require(arrays.categorical.empty() || arrays.categorical.size() == arrays.n_features,
            "it is not said of each feature of planes whether it has categories");
    require(arrays.width >= 1 && n_terms % arrays.width == 0 &&
                n_terms / arrays.width == n_planes && arrays.normal.size() == n_terms &&
                arrays.point.size() == n_terms,
            "planes do not fit the inner nodes");
    require(std::all_of(arrays.feature.begin(), arrays.feature.end(),
                        [&](std::int32_t f) {
                            return f >= 0 && static_cast<std::size_t>(f) < arrays.n_features;
                        }),
            "a plane names a feature that does not exist");
    const auto is_number = [](double number) { return !std::isnan(number); };
    require(std::all_of(arrays.normal.begin(), arrays.normal.end(),
                        [](double number) { return std::isfinite(number); }) &&
                std::all_of(arrays.point.begin(), arrays.point.end(), is_number),
            "a number of a plane is none");
}

const std::uint8_t* categorical_of(const PlaneArrays& arrays) {
    return arrays.categorical.empty() ? nullptr : arrays.categorical.data();
}

void check_nodes(const PlaneArrays& arrays, std::size_t n_planes) {
    const std::size_t n_nodes = arrays.right.size();
    require(arrays.n_outputs >= 1 && arrays.value.size() % n_nodes == 0 &&
                arrays.value.size() / n_nodes == arrays.n_outputs &&
                arrays.threshold.size() == n_planes,
            "values or thresholds do not fit the nodes");
    require(std::all_of(arrays.value.begin(), arrays.value.end(),
                        [](double number) { return std::isfinite(number); }) &&
                std::none_of(arrays.threshold.begin(), arrays.threshold.end(),
                             [](double number) { return std::isnan(number); }),
            "a number of a node is none");
}

}  // namespace

SplitPlanes::SplitPlanes(const PlaneArrays& arrays) : arrays_(arrays) {
    const auto& starts = arrays.tree_start;
    require(starts.size() >= 2 && starts.front() == 0 &&
                starts.back() == static_cast<std::int64_t>(arrays.right.size()) &&
                arrays.right.size() <= std::numeric_limits<std::int32_t>::max(),
            "trees do not cover the nodes");
    for (std::size_t t = 0; t + 1 < starts.size(); ++t) {
        require(starts[t] < starts[t + 1] && starts[t + 1] <= starts.back(), "a tree has no node");
        check_shape(arrays.right.subspan(static_cast<std::size_t>(starts[t]),
                                         static_cast<std::size_t>(starts[t + 1] - starts[t])));
    }
    std::int32_t n_planes = 0;
    for (const std::int32_t right : arrays.right) plane_.push_back(right < 0 ? -1 : n_planes++);
    check_planes(arrays, static_cast<std::size_t>(n_planes));
    check_nodes(arrays, static_cast<std::size_t>(n_planes));
}

void project(std::span<const double> matrix, const PlaneArrays& planes, std::span<double> sums,
             int n_threads) {
    const std::size_t n_planes = planes.width == 0 ? 0 : planes.feature.size() / planes.width;
    check_planes(planes, n_planes);
    const std::size_t n_rows = planes.n_features == 0 ? 0 : matrix.size() / planes.n_features;
    if (matrix.size() != n_rows * planes.n_features || sums.size() != n_rows * n_planes) {
        throw Failure(FailureKind::kInvalidInput, "rows do not have the features of the planes");
    }
    parallel_for(n_threads, n_planes, [&](std::size_t plane) {
        const std::size_t at = plane * planes.width;
        for (std::size_t r = 0; r < n_rows; ++r) {
            sums[plane * n_rows + r] = plane_sum(
                planes.feature.data() + at, planes.normal.data() + at, planes.point.data() + at,
                planes.width, matrix.data() + r * planes.n_features, categorical_of(planes));
        }
    });
}

std::size_t SplitPlanes::leaf_of(std::size_t tree, const double* row) const {
    const auto first = static_cast<std::size_t>(arrays_.tree_start[tree]);
    const std::uint8_t* const categorical = categorical_of(arrays_);
    std::size_t node = first;
    while (plane_[node] >= 0) {
        const auto plane = static_cast<std::size_t>(plane_[node]);
        const std::size_t at = plane * arrays_.width;
        const double sum = plane_sum(arrays_.feature.data() + at, arrays_.normal.data() + at,
                                     arrays_.point.data() + at, arrays_.width, row, categorical);
        const bool left = sum <= arrays_.threshold[plane];
        node = left ? node + 1 : first + static_cast<std::size_t>(arrays_.right[node]);
    }
    return node;
}

void SplitPlanes::mean_values(std::span<const double> rows, std::span<double> means,
                              int n_threads) const {
    const std::size_t width = arrays_.n_outputs;
    const std::size_t n_rows = means.size() / width;
    if (means.size() != n_rows * width || rows.size() != n_rows * arrays_.n_features) {
        throw Failure(FailureKind::kInvalidInput, "rows do not have the features of the model");
    }
    const std::size_t n_trees = arrays_.tree_start.size() - 1;
    parallel_blocks(n_threads, n_rows, kRowsPerBlock, [&](std::size_t first, std::size_t last) {
        const auto own = means.subspan(first * width, (last - first) * width);
        std::fill(own.begin(), own.end(), 0.0);
        // Tree by tree: its planes stay in the cache while the rows of the block pass.
        for (std::size_t t = 0; t < n_trees; ++t) {
            for (std::size_t r = first; r < last; ++r) {
                const double* value =
                    arrays_.value.data() + leaf_of(t, rows.data() + r * arrays_.n_features) * width;
                for (std::size_t k = 0; k < width; ++k) means[r * width + k] += value[k];
            }
        }
        for (double& mean : own) mean /= static_cast<double>(n_trees);
    });
}

}  // namespace spinney
