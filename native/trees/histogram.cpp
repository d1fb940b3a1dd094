#include "native/trees/histogram.hpp"

#include <algorithm>

#include "native/base/parallel.hpp"

namespace spinney {
namespace {

/// Below this many additions a second thread costs more than it saves.
constexpr std::size_t kWorthAThread = 1 << 15;

/// Features are the unit of work: no two threads touch a cell, so nothing needs merging.
constexpr std::size_t kFeaturesPerTask = 4;

}  // namespace

Histogram::Histogram(const BinnedRows& data) : width_(data.n_outputs + 2) {
    std::size_t n_cells = 0;
    for (const std::int32_t n_value_bins : data.n_value_bins) {
        start_.push_back(n_cells);
        n_cells += static_cast<std::size_t>(n_value_bins) + 1;
    }
    cells_.resize(n_cells * width_);
}

void Histogram::build(const BinnedRows& data, std::span<const std::uint32_t> rows, int n_threads) {
    std::fill(cells_.begin(), cells_.end(), 0);
    const bool parallel = rows.size() * data.n_features * width_ >= kWorthAThread;
    parallel_blocks(parallel ? n_threads : 1, data.n_features, kFeaturesPerTask,
                    [&](std::size_t begin, std::size_t end) {
                        for (const std::uint32_t row : rows) {
                            const std::uint8_t* bins = data.bins.data() + row * data.n_features;
                            const std::int64_t* target = data.targets.data() + row * data.n_outputs;
                            for (std::size_t feature = begin; feature < end; ++feature) {
                                std::int64_t* to =
                                    cells_.data() + (start_[feature] + bins[feature]) * width_;
                                for (std::size_t k = 0; k < data.n_outputs; ++k) to[k] += target[k];
                                to[data.n_outputs] += data.weights[row];
                                to[data.n_outputs + 1] += 1;
                            }
                        }
                    });
}

void Histogram::subtract(const Histogram& child) {
    std::transform(cells_.begin(), cells_.end(), child.cells_.begin(), cells_.begin(),
                   [](std::int64_t parent, std::int64_t part) { return parent - part; });
}

}  // namespace spinney
