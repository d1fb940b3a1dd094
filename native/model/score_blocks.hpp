/// What rows score in a forest: sums of what their leaves add, block of rows after block, and the
/// link at the end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "native/model/clumped_forest.hpp"
#include "native/model/forest.hpp"
#include "native/model/links.hpp"
#include "native/model/predictor.hpp"
#include "native/model/sliced_forest.hpp"

namespace spinney {

/// A cache line: kernels want buffers that begin with one.
template <class T>
struct alignas(64) Line {
    T items[64 / sizeof(T)];
};
static_assert(kByteRows % 64 == 0);

/// Scores of the rows of a block: output by output within a slice, as links take them.
class BlockScores {
  public:
    BlockScores(const ForestArrays& forest, const Finish& finish, std::span<double> predictions,
                std::size_t n_rows)
        : forest_(forest),
          finish_(finish),
          predictions_(predictions),
          n_slices_((n_rows + kByteRows - 1) / kByteRows),
          room_(n_slices_ * kByteRows * forest.n_outputs / 8) {
        for (std::size_t s = 0; s < n_slices_; ++s) {
            for (std::size_t k = 0; k < forest_.n_outputs; ++k) {
                std::fill_n(slice(s) + k * kByteRows, kByteRows, forest_.baseline[k]);
            }
        }
    }

    double* slice(std::size_t slice) {
        return room_[0].items + slice * kByteRows * forest_.n_outputs;
    }

    /// Adds the value of a node to the scores of one row.
    void add(std::size_t tree, std::size_t row, std::size_t node) {
        double* scores = slice(row / kByteRows) + row % kByteRows;
        const double weight = forest_.tree_weight[tree];
        if (forest_.tree_output[tree] >= 0) {
            const auto output = static_cast<std::size_t>(forest_.tree_output[tree]);
            scores[output * kByteRows] += weight * forest_.values[node];
            return;
        }
        for (std::size_t k = 0; k < forest_.n_outputs; ++k) {
            scores[k * kByteRows] += weight * forest_.values[node * forest_.value_width + k];
        }
    }

    void end(std::size_t first, std::size_t n) {
        static_assert(kLinkRows == kByteRows);
        const std::size_t width = n_predicted(finish_.link, forest_.n_outputs);
        LinkKernel* kernel = link_kernel();
        for (std::size_t row = 0; row < n; row += kByteRows) {
            double* scores = slice(row / kByteRows);
            if (finish_.divisor != 1.0) {
                for (std::size_t i = 0; i < kByteRows * forest_.n_outputs; ++i) {
                    scores[i] /= finish_.divisor;
                }
            }
            kernel({finish_.link, forest_.n_outputs, std::min(kByteRows, n - row), scores,
                    predictions_.data() + (first + row) * width});
        }
    }

  private:
    const ForestArrays& forest_;
    const Finish finish_;
    std::span<double> predictions_;
    std::size_t n_slices_;
    std::vector<Line<double>> room_;
};

/// A consumer makes something per block of rows that takes in leaves: `add_slices` those of all
/// rows in one tree, as kernels find them, `add` that of one row.
struct ScoreConsumer {
    const ForestArrays& forest;
    Finish finish;
    std::span<double> predictions;

    class Block {
      public:
        Block(const ScoreConsumer& consumer, std::size_t first, std::size_t n)
            : scores_(consumer.forest, consumer.finish, consumer.predictions, n),
              forest_(consumer.forest),
              kernel_(slice_kernels().add_leaves),
              first_(first),
              n_(n) {}

        void add(std::size_t tree, std::size_t row, std::size_t node) {
            scores_.add(tree, row, node);
        }

        void add_slices(std::size_t tree, std::size_t n_slices, const std::uint8_t* leaves,
                        const SlicedForest& sliced) {
            const double* values = sliced.leaf_values(tree);
            const std::size_t n_leaves = sliced.n_leaves(tree);
            const std::size_t stride = kByteRows * forest_.n_outputs;
            const std::int32_t output = forest_.tree_output[tree];
            if (output >= 0) {
                double* scores = scores_.slice(0) + static_cast<std::size_t>(output) * kByteRows;
                return kernel_({values, n_leaves, leaves, n_slices, scores, stride});
            }
            for (std::size_t k = 0; k < forest_.n_outputs; ++k) {
                kernel_({values + k * n_leaves, n_leaves, leaves, n_slices,
                         scores_.slice(0) + k * kByteRows, stride});
            }
        }

        template <class Keyed>
        void add_places(std::size_t tree, const std::uint32_t* places, const Keyed& keyed) {
            add_rows(tree, [&](std::size_t row, std::size_t /*width*/) {
                return keyed.values(tree, places[row]);
            });
        }

        void add_clumped(std::size_t tree, const std::uint32_t* leaves,
                         const ClumpedForest& clumped) {
            const double* values = clumped.values(tree);
            add_rows(tree, [&](std::size_t row, std::size_t width) {
                return values + ClumpedForest::product_of(leaves[row]) * width;
            });
        }

        void end() { scores_.end(first_, n_); }

      private:
        /// Adds values_of(row), what the leaf of a row adds, to the scores of all rows.
        template <class ValuesOf>
        void add_rows(std::size_t tree, ValuesOf values_of) {
            // Widths that are known when this is compiled take half the time.
            if (forest_.value_width == 1) return add_rows(tree, values_of, [] { return 1; });
            if (forest_.value_width == 2) return add_rows(tree, values_of, [] { return 2; });
            add_rows(tree, values_of, [this] { return forest_.value_width; });
        }

        template <class ValuesOf, class Width>
        void add_rows(std::size_t tree, ValuesOf values_of, Width width) {
            const std::int32_t output = forest_.tree_output[tree];
            const std::size_t first = output < 0 ? 0 : static_cast<std::size_t>(output) * kByteRows;
            for (std::size_t row = 0; row < n_; row += kByteRows) {
                double* scores = scores_.slice(row / kByteRows) + first;
                const std::size_t n = std::min(kByteRows, n_ - row);
                for (std::size_t i = 0; i < n; ++i) {
                    const double* values = values_of(row + i, width());
                    for (std::size_t k = 0; k < static_cast<std::size_t>(width()); ++k) {
                        scores[k * kByteRows + i] += values[k];
                    }
                }
            }
        }

        BlockScores scores_;
        const ForestArrays& forest_;
        AddLeavesKernel* kernel_;
        std::size_t first_, n_;
    };
};

}  // namespace spinney
