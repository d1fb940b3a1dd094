#include "native/trees/training_bins.hpp"

#include <algorithm>

#include "native/base/parallel.hpp"

namespace spinney {
namespace {

/// Rows whose bytes stay in the first-level cache while they are turned into columns.
constexpr std::size_t kTileRows = 256;

}  // namespace

TrainingBins::TrainingBins(std::span<const std::uint8_t> bins,
                           std::span<const std::int32_t> n_value_bins,
                           std::span<const std::uint8_t> categorical, int n_threads)
    : n_rows_(n_value_bins.empty() ? 0 : bins.size() / n_value_bins.size()),
      rows_(bins),
      n_value_bins_(n_value_bins.begin(), n_value_bins.end()),
      categorical_(categorical.begin(), categorical.end()),
      first_cell_(1, 0),
      columns_(bins.size()) {
    const std::size_t n_features = n_value_bins_.size();
    for (const std::int32_t n : n_value_bins_) {
        first_cell_.push_back(first_cell_.back() + static_cast<std::size_t>(n) + 1);
    }
    const std::size_t n_blocks = (n_features + kBlockFeatures - 1) / kBlockFeatures;
    for (std::size_t b = 0; b < n_blocks; ++b) {
        // Blocks of nearly equal width, so that threads get equal work.
        const std::size_t first = n_features * b / n_blocks;
        blocks_.push_back({first, n_features * (b + 1) / n_blocks - first});
    }
    parallel_blocks(n_threads, n_rows_, kTileRows, [&](std::size_t begin, std::size_t end) {
        for (std::size_t feature = 0; feature < n_features; ++feature) {
            std::uint8_t* to = columns_.data() + feature * n_rows_;
            for (std::size_t row = begin; row < end; ++row) {
                to[row] = rows_[row * n_features + feature];
            }
        }
    });
}

}  // namespace spinney
