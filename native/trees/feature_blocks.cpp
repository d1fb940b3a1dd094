#include "native/trees/feature_blocks.hpp"

#include <algorithm>

#include "native/base/parallel.hpp"

namespace spinney {

FeatureBlocks::FeatureBlocks(std::span<const std::uint8_t> bins,
                             std::span<const std::int32_t> n_value_bins,
                             std::span<const std::uint8_t> categorical, int n_threads)
    : n_rows_(n_value_bins.empty() ? 0 : bins.size() / n_value_bins.size()),
      n_value_bins_(n_value_bins.begin(), n_value_bins.end()),
      categorical_(categorical.begin(), categorical.end()),
      by_block_(bins.size()),
      by_column_(bins.size()) {
    const std::size_t n_features = n_value_bins_.size();
    const std::size_t n_blocks = (n_features + kBlockFeatures - 1) / kBlockFeatures;
    for (std::size_t b = 0; b < n_blocks; ++b) {
        // Blocks of nearly equal width, so that threads get equal work.
        const std::size_t first = n_features * b / n_blocks;
        const std::size_t last = n_features * (b + 1) / n_blocks;
        blocks_.push_back({first, last - first, by_block_.data() + first * n_rows_});
    }
    parallel_blocks(n_threads, n_rows_, 4096, [&](std::size_t begin, std::size_t end) {
        for (const FeatureBlock& block : blocks_) {
            std::uint8_t* to = by_block_.data() + block.first_feature * n_rows_;
            for (std::size_t row = begin; row < end; ++row) {
                const std::uint8_t* from = bins.data() + row * n_features + block.first_feature;
                std::copy_n(from, block.width, to + row * block.width);
            }
        }
        for (std::size_t feature = 0; feature < n_features; ++feature) {
            std::uint8_t* to = by_column_.data() + feature * n_rows_;
            for (std::size_t row = begin; row < end; ++row) {
                to[row] = bins[row * n_features + feature];
            }
        }
    });
}

}  // namespace spinney
