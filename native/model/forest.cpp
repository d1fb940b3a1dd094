#include "native/model/forest.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "native/base/failure.hpp"
#include "native/base/parallel.hpp"

namespace spinney {
namespace {

[[noreturn]] void refuse(const std::string& what) {
    throw Failure(FailureKind::kInvalidModel, what);
}

void require(bool holds, const char* what) {
    if (!holds) refuse(what);
}

bool all_finite(std::span<const double> numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

void check_sizes(const ForestArrays& forest) {
    const std::size_t n_nodes = forest.n_nodes();
    require(forest.threshold.size() == n_nodes && forest.right.size() == n_nodes &&
                forest.missing_left.size() == n_nodes && forest.category_set.size() == n_nodes &&
                forest.count.size() == n_nodes && forest.weight.size() == n_nodes &&
                forest.gain.size() == n_nodes,
            "arrays of nodes differ in length");
    // Division, because the product could overflow for a hostile width.
    require(n_nodes == 0 ? forest.values.empty()
                         : forest.values.size() % n_nodes == 0 &&
                               forest.values.size() / n_nodes == forest.value_width,
            "values have the wrong length");
}

void check_categories(const ForestArrays& forest) {
    require(
        forest.categorical.size() == forest.n_features &&
            forest.category_start.size() == forest.n_features + 1 &&
            forest.category_start.front() == 0 &&
            std::is_sorted(forest.category_start.begin(), forest.category_start.end()) &&
            forest.category_start.back() == static_cast<std::int64_t>(forest.category_bins.size()),
        "the table of categories is inconsistent");
    for (std::size_t f = 0; f < forest.n_features; ++f) {
        const bool has_codes = forest.category_start[f + 1] > forest.category_start[f];
        require(forest.categorical[f] <= 1 && (forest.categorical[f] == 1 || !has_codes),
                "a numeric feature has categories");
    }
    require(std::none_of(forest.category_bins.begin(), forest.category_bins.end(),
                         [](std::uint8_t bin) { return bin == 255; }),
            "a category lies in the bin of missing values");
}

void check_trees(const ForestArrays& forest, std::size_t n_nodes) {
    require(forest.tree_start.size() == forest.n_trees() + 1, "tree_start has the wrong length");
    require(forest.tree_output.size() == forest.n_trees(), "tree_output has the wrong length");
    require(forest.n_outputs >= 1 && forest.baseline.size() == forest.n_outputs,
            "baseline has the wrong length");
    require(forest.value_width == 1 || forest.value_width == forest.n_outputs,
            "values are neither scalars nor vectors of all outputs");
    require(forest.tree_start.front() == 0 &&
                forest.tree_start.back() == static_cast<std::int64_t>(n_nodes),
            "trees do not cover the nodes");
    for (std::size_t t = 0; t < forest.n_trees(); ++t) {
        require(forest.tree_start[t] < forest.tree_start[t + 1], "a tree has no node");
        const std::int32_t output = forest.tree_output[t];
        const bool adds_to_all = output == -1 && forest.value_width == forest.n_outputs;
        const bool adds_to_one = output >= 0 && forest.value_width == 1 &&
                                 static_cast<std::size_t>(output) < forest.n_outputs;
        require(adds_to_all || adds_to_one, "a tree adds to an output that does not exist");
    }
}

void check_leaf(const ForestArrays& forest, std::size_t node) {
    require(forest.feature[node] == -1 && forest.right[node] == -1 &&
                forest.category_set[node] == -1 && forest.missing_left[node] == 0 &&
                forest.threshold[node] == 0.0 && forest.gain[node] == 0.0,
            "a leaf carries a split");
}

/// Every set belongs to one node, and sets stand in the order of their nodes: one form per forest.
void check_sets(const ForestArrays& forest) {
    std::int32_t next = 0;
    for (const std::int32_t set : forest.category_set) {
        require(set == -1 || set == next, "category sets are out of order");
        next += set >= 0 ? 1 : 0;
    }
    require(forest.category_sets.size() == static_cast<std::size_t>(next) * kCategorySetBytes,
            "there are more or fewer category sets than categorical nodes");
}

void check_split(const ForestArrays& forest, std::size_t node) {
    const std::int32_t feature = forest.feature[node];
    require(feature >= 0 && static_cast<std::size_t>(feature) < forest.n_features,
            "a node splits on a feature that does not exist");
    require(forest.missing_left[node] <= 1, "a direction of missing values is neither 0 nor 1");
    const std::int32_t set = forest.category_set[node];
    if (forest.is_categorical(static_cast<std::size_t>(feature))) {
        require(set >= 0 && forest.threshold[node] == 0.0,
                "a categorical node has no category set");
    } else {
        require(set == -1, "a numeric node has a category set");
        require(!std::isnan(forest.threshold[node]), "a threshold is not a number");
    }
}

void check_numbers(const ForestArrays& forest, std::size_t tree) {
    const auto first = static_cast<std::size_t>(forest.tree_start[tree]);
    const auto size = static_cast<std::size_t>(forest.tree_start[tree + 1]) - first;
    const std::size_t width = forest.value_width;
    const auto weights = forest.weight.subspan(first, size);
    const auto counts = forest.count.subspan(first, size);
    require(all_finite(forest.values.subspan(first * width, size * width)) && all_finite(weights) &&
                all_finite(forest.gain.subspan(first, size)),
            "a value, weight or gain is not a finite number");
    require(std::all_of(counts.begin(), counts.end(), [](std::int64_t n) { return n >= 0; }) &&
                std::all_of(weights.begin(), weights.end(), [](double w) { return w >= 0; }),
            "a node has a negative count or weight");
}

/// In preorder the subtree of a node is one range. From the back: a leaf's range ends behind it; an
/// inner node's left range must end exactly where its right child begins.
void check_shape(const ForestArrays& forest, std::size_t tree) {
    const auto first = static_cast<std::size_t>(forest.tree_start[tree]);
    const auto size = static_cast<std::size_t>(forest.tree_start[tree + 1]) - first;
    std::vector<std::int32_t> end_of(size);
    for (std::size_t i = size; i-- > 0;) {
        const std::size_t node = first + i;
        const std::int32_t right = forest.right[node];
        if (right == -1) {
            check_leaf(forest, node);
            end_of[i] = static_cast<std::int32_t>(i + 1);
            continue;
        }
        check_split(forest, node);
        const bool in_range = right > 0 && static_cast<std::size_t>(right) > i + 1 &&
                              static_cast<std::size_t>(right) < size;
        require(in_range && end_of[i + 1] == right, "children of a node are out of place");
        end_of[i] = end_of[static_cast<std::size_t>(right)];
    }
    require(end_of[0] == static_cast<std::int32_t>(size), "a tree has nodes outside its root");
}

}  // namespace

void check_ensemble(const ForestArrays& forest, std::size_t n_nodes) {
    check_categories(forest);
    check_trees(forest, n_nodes);
    require(all_finite(forest.tree_weight) && all_finite(forest.baseline),
            "a weight of a tree or a baseline is not a finite number");
}

void check_forest(const ForestArrays& forest, int n_threads) {
    check_sizes(forest);
    check_ensemble(forest, forest.n_nodes());
    check_sets(forest);
    parallel_for(n_threads, forest.n_trees(), [&](std::size_t tree) {
        check_numbers(forest, tree);
        check_shape(forest, tree);
    });
}

void check_features(const ForestArrays& forest, const Columns& columns) {
    bool fits = columns.features.size() == forest.n_features;
    for (std::size_t f = 0; fits && f < forest.n_features; ++f) {
        fits = (columns.features[f].type == ValueType::kCode32) == forest.is_categorical(f);
    }
    if (!fits) {
        throw Failure(FailureKind::kInvalidInput, "the table does not have the model's features");
    }
}

}  // namespace spinney
