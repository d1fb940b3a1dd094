/// Sums of a node's rows, per feature and bin.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "native/trees/binned_rows.hpp"

namespace spinney {

/// For every feature and bin: n_outputs target sums, then the weight, then the count of rows.
///
/// Invariant: histogram(parent) = histogram(left) + histogram(right), exactly, as all are integers.
class Histogram {
  public:
    explicit Histogram(const BinnedRows& data);

    /// Width of a cell in numbers: n_outputs + 2.
    std::size_t width() const { return width_; }
    const std::int64_t* cell(std::size_t feature, std::size_t bin) const {
        return cells_.data() + (start_[feature] + bin) * width_;
    }

    void build(const BinnedRows& data, std::span<const std::uint32_t> rows, int n_threads);

    /// Turns the parent's histogram into the other child's.
    void subtract(const Histogram& child);

  private:
    std::size_t width_;
    std::vector<std::size_t> start_;  ///< first cell of each feature; its missing bin is the last
    std::vector<std::int64_t> cells_;
};

}  // namespace spinney
