/// Sums of gradients of a node's rows, per feature and bin: the hot loop of boosting.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "native/trees/feature_blocks.hpp"
#include "native/trees/packed_gradients.hpp"

namespace spinney {

/// Cells of one feature: 255 bins of values at most, and the bin of missing values.
inline constexpr std::size_t kCellsPerFeature = 256;

/// A node's histogram. Packed (one word per cell) while its rows fit the packing; otherwise wide.
///
/// Invariant: histogram(parent) = histogram(left) + histogram(right), exactly.
class GradientHistogram {
  public:
    explicit GradientHistogram(const FeatureBlocks& data) : data_(data) {}

    /// rows empty: all rows of the data.
    void build(const PackedGradients& gradients, std::span<const std::uint32_t> rows,
               int n_threads);

    /// Turns the parent's histogram into the other child's.
    void subtract(const GradientHistogram& child, const Packing& packing, int n_threads);

    bool is_packed() const { return wide_.empty(); }
    const std::uint64_t* packed(std::size_t feature) const {
        return packed_.data() + feature * kCellsPerFeature;
    }
    const GradientSums* wide(std::size_t feature) const {
        return wide_.data() + feature * kCellsPerFeature;
    }

  private:
    void build_block(const FeatureBlock& block, const PackedGradients& gradients,
                     std::span<const std::uint32_t> rows, std::size_t n_rows);
    void build_wide_block(const FeatureBlock& block, const PackedGradients& gradients,
                          std::span<const std::uint32_t> rows, std::size_t n_rows);

    const FeatureBlocks& data_;
    std::vector<std::uint64_t> packed_;
    std::vector<GradientSums> wide_;
};

}  // namespace spinney
