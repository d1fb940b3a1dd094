#include "native/model/traverse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "native/base/failure.hpp"
#include "native/base/parallel.hpp"

namespace spinney {
namespace {

constexpr std::size_t kBlockRows = 64;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// A few rows of the features the forest uses, feature by feature: numbers as they are, categories
/// as their bin, missing as NaN.
class RowBlock {
  public:
    explicit RowBlock(const ForestArrays& forest) : forest_(forest), slot_(forest.n_features, -1) {
        for (const std::int32_t feature : forest.feature) {
            if (feature < 0 || slot_[static_cast<std::size_t>(feature)] >= 0) continue;
            slot_[static_cast<std::size_t>(feature)] = static_cast<std::int64_t>(used_.size());
            used_.push_back(static_cast<std::size_t>(feature));
        }
        values_.resize(used_.size() * kBlockRows);
    }

    void read(const Columns& columns, std::size_t first, std::size_t n) {
        for (std::size_t slot = 0; slot < used_.size(); ++slot) {
            double* to = values_.data() + slot * kBlockRows;
            const ColumnView& column = columns.features[used_[slot]];
            switch (column.type) {
                case ValueType::kFloat32:
                    read_numbers<float>(column, first, n, to);
                    break;
                case ValueType::kFloat64:
                    read_numbers<double>(column, first, n, to);
                    break;
                case ValueType::kCode32:
                    for (std::size_t i = 0; i < n; ++i) {
                        to[i] = bin_of(used_[slot], column.at<std::int32_t>(first + i));
                    }
            }
        }
    }

    double value(std::int32_t feature, std::size_t row) const {
        const auto slot = static_cast<std::size_t>(slot_[static_cast<std::size_t>(feature)]);
        return values_[slot * kBlockRows + row];
    }

  private:
    template <class T>
    static void read_numbers(const ColumnView& column, std::size_t first, std::size_t n,
                             double* to) {
        if (!column.is_sparse) {
            for (std::size_t i = 0; i < n; ++i)
                to[i] = static_cast<double>(column.at<T>(first + i));
            return;
        }
        std::fill_n(to, n, 0.0);
        auto at = std::lower_bound(column.rows.begin(), column.rows.end(), first,
                                   [](std::int32_t row, std::size_t wanted) {
                                       return static_cast<std::size_t>(row) < wanted;
                                   });
        for (; at != column.rows.end() && static_cast<std::size_t>(*at) < first + n; ++at) {
            const T* stored = reinterpret_cast<const T*>(column.data);
            to[static_cast<std::size_t>(*at) - first] =
                static_cast<double>(stored[at - column.rows.begin()]);
        }
    }

    double bin_of(std::size_t feature, std::int32_t code) const {
        const std::int64_t start = forest_.category_start[feature];
        const std::int64_t n_codes = forest_.category_start[feature + 1] - start;
        if (code < 0 || code >= n_codes) return kMissing;
        return forest_.category_bins[static_cast<std::size_t>(start + code)];
    }

    const ForestArrays& forest_;
    std::vector<std::int64_t> slot_;
    std::vector<std::size_t> used_;
    std::vector<double> values_;
};

bool goes_left(const ForestArrays& forest, std::size_t node, double x) {
    if (std::isnan(x)) return forest.missing_left[node] != 0;
    const std::int32_t set = forest.category_set[node];
    if (set < 0) return x <= forest.threshold[node];
    const auto bin = static_cast<std::size_t>(x);
    const std::size_t byte = static_cast<std::size_t>(set) * kCategorySetBytes + bin / 8;
    return (forest.category_sets[byte] >> (bin % 8)) & 1;
}

/// The leaf of one row, as a position in the arrays of nodes.
std::size_t find_leaf(const ForestArrays& forest, std::size_t tree, const RowBlock& block,
                      std::size_t row) {
    const auto first = static_cast<std::size_t>(forest.tree_start[tree]);
    std::size_t node = first;
    while (forest.feature[node] >= 0) {
        const bool left = goes_left(forest, node, block.value(forest.feature[node], row));
        node = left ? node + 1 : first + static_cast<std::size_t>(forest.right[node]);
    }
    return node;
}

void add_tree(const ForestArrays& forest, std::size_t tree, std::size_t leaf, double* scores) {
    const double weight = forest.tree_weight[tree];
    if (forest.tree_output[tree] >= 0) {
        scores[forest.tree_output[tree]] += weight * forest.values[leaf];
        return;
    }
    for (std::size_t k = 0; k < forest.n_outputs; ++k) {
        scores[k] += weight * forest.values[leaf * forest.value_width + k];
    }
}

void check_types(const ForestArrays& forest, const Columns& columns) {
    bool fits = columns.features.size() == forest.n_features;
    for (std::size_t f = 0; fits && f < forest.n_features; ++f) {
        fits = (columns.features[f].type == ValueType::kCode32) == forest.is_categorical(f);
    }
    if (!fits) {
        throw Failure(FailureKind::kInvalidInput, "the table does not have the model's features");
    }
}

/// Calls visit(block, first row, rows) for every block of rows, on all threads.
template <class Visit>
void for_each_block(const ForestArrays& forest, const Columns& columns, int n_threads,
                    const Visit& visit) {
    check_types(forest, columns);
    const RowBlock empty(forest);
    parallel_blocks(n_threads, columns.n_rows, 16 * kBlockRows,
                    [&](std::size_t begin, std::size_t end) {
                        RowBlock block = empty;
                        for (std::size_t first = begin; first < end; first += kBlockRows) {
                            const std::size_t n = std::min(kBlockRows, end - first);
                            block.read(columns, first, n);
                            visit(block, first, n);
                        }
                    });
}

}  // namespace

void raw_scores(const ForestArrays& forest, const Columns& columns, std::span<double> scores,
                int n_threads) {
    for_each_block(
        forest, columns, n_threads, [&](const RowBlock& block, std::size_t first, std::size_t n) {
            for (std::size_t i = 0; i < n; ++i) {
                double* row_scores = scores.data() + (first + i) * forest.n_outputs;
                std::copy(forest.baseline.begin(), forest.baseline.end(), row_scores);
                for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
                    add_tree(forest, tree, find_leaf(forest, tree, block, i), row_scores);
                }
            }
        });
}

void leaf_ids(const ForestArrays& forest, const Columns& columns, std::span<std::int32_t> leaves,
              int n_threads) {
    for_each_block(
        forest, columns, n_threads, [&](const RowBlock& block, std::size_t first, std::size_t n) {
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
                    const std::size_t leaf = find_leaf(forest, tree, block, i);
                    leaves[(first + i) * forest.n_trees() + tree] = static_cast<std::int32_t>(
                        leaf - static_cast<std::size_t>(forest.tree_start[tree]));
                }
            }
        });
}

}  // namespace spinney
