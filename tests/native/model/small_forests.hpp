/// Small forests, and rows that take every way through them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "native/data/columns.hpp"
#include "native/model/forest.hpp"

namespace small {

using spinney::ForestArrays;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// The arrays of a forest, owned, so that a test can spoil one of them.
struct Forest {
    std::size_t n_features = 3;
    std::size_t n_outputs = 1;
    std::size_t value_width = 1;
    std::vector<std::int64_t> tree_start;
    std::vector<double> tree_weight;
    std::vector<std::int32_t> tree_output;
    std::vector<std::int32_t> feature;
    std::vector<double> threshold;
    std::vector<std::int32_t> right;
    std::vector<std::uint8_t> missing_left;
    std::vector<std::int32_t> category_set;
    std::vector<std::uint8_t> category_sets;
    std::vector<double> values;
    std::vector<std::int64_t> count;
    std::vector<double> weight;
    std::vector<double> gain;
    std::vector<double> baseline;
    std::vector<std::uint8_t> categorical;
    std::vector<std::int64_t> category_start;
    std::vector<std::uint8_t> category_bins;

    ForestArrays view() const {
        ForestArrays arrays;
        arrays.n_features = n_features;
        arrays.n_outputs = n_outputs;
        arrays.value_width = value_width;
        arrays.tree_start = tree_start;
        arrays.tree_weight = tree_weight;
        arrays.tree_output = tree_output;
        arrays.feature = feature;
        arrays.threshold = threshold;
        arrays.right = right;
        arrays.missing_left = missing_left;
        arrays.category_set = category_set;
        arrays.category_sets = category_sets;
        arrays.values = values;
        arrays.count = count;
        arrays.weight = weight;
        arrays.gain = gain;
        arrays.baseline = baseline;
        arrays.categorical = categorical;
        arrays.category_start = category_start;
        arrays.category_bins = category_bins;
        return arrays;
    }
};

/// Tree 0: x0 <= 1.5 (missing left) ? 1 : (code 0 or 2 of x1 (missing right) ? 2 : 4)
/// Tree 1, twice as heavy: x2 <= +infinity (missing right) ? 8 : 16
inline Forest small_forest() {
    Forest forest;
    forest.tree_start = {0, 5, 8};
    forest.tree_weight = {1.0, 2.0};
    forest.tree_output = {0, 0};
    forest.feature = {0, -1, 1, -1, -1, 2, -1, -1};
    forest.threshold = {1.5, 0, 0, 0, 0, kInfinity, 0, 0};
    forest.right = {2, -1, 4, -1, -1, 2, -1, -1};
    forest.missing_left = {1, 0, 0, 0, 0, 0, 0, 0};
    forest.category_set = {-1, -1, 0, -1, -1, -1, -1, -1};
    // Codes 0, 1, 2 lie in bins 9, 0, 200: bits 9 and 200 send the outer two left.
    forest.category_bins = {9, 0, 200};
    forest.category_sets.assign(spinney::kCategorySetBytes, 0);
    forest.category_sets[9 / 8] = 1U << (9 % 8);
    forest.category_sets[200 / 8] = 1U << (200 % 8);
    forest.values = {0, 1, 0, 2, 4, 0, 8, 16};
    forest.count = {10, 4, 6, 3, 3, 10, 9, 1};
    forest.weight = {10, 4, 6, 3, 3, 10, 9, 1};
    forest.gain = {5, 0, 3, 0, 0, 1, 0, 0};
    forest.baseline = {0.5};
    forest.categorical = {0, 1, 0};
    forest.category_start = {0, 0, 3, 3};
    return forest;
}

/// The same trees, every leaf a pair: the value and its negative.
inline Forest vector_forest() {
    Forest forest = small_forest();
    forest.n_outputs = forest.value_width = 2;
    forest.baseline = {0.5, -100};
    forest.tree_output = {-1, -1};
    forest.values.clear();
    for (const double value : small_forest().values) {
        forest.values.insert(forest.values.end(), {value, -value});
    }
    return forest;
}

/// Rows that take every way through the small forest, with what they must score.
struct Rows {
    std::vector<double> x0 = {1.5, 1.6, 1.6, 1.6, 1.6, 1.6, kMissing, -kInfinity, kInfinity};
    std::vector<std::int32_t> x1 = {0, 0, 1, 2, 3, -1, 1, 1, 0};
    std::vector<float> x2 = {0, 0, 0, NAN, 0, 0, INFINITY, NAN, -INFINITY};
    std::vector<double> scores = {17.5, 18.5, 20.5, 34.5, 20.5, 20.5, 17.5, 33.5, 18.5};
    std::vector<std::int32_t> leaves = {1, 1, 3, 1, 4, 1, 3, 2, 4, 1, 4, 1, 1, 1, 1, 2, 3, 1};

    std::size_t size() const { return x0.size(); }

    spinney::Columns columns() const {
        return {size(),
                {column(spinney::ValueType::kFloat64, x0), column(spinney::ValueType::kCode32, x1),
                 column(spinney::ValueType::kFloat32, x2)}};
    }

    template <class T>
    static spinney::ColumnView column(spinney::ValueType type, const std::vector<T>& values) {
        return {type, reinterpret_cast<const std::byte*>(values.data()), sizeof(T), {}, false};
    }

    template <class T>
    static void repeat(std::vector<T>& values, std::size_t times) {
        const std::vector<T> once = values;
        values.clear();
        for (std::size_t i = 0; i < times; ++i) {
            values.insert(values.end(), once.begin(), once.end());
        }
    }
};

}  // namespace small
