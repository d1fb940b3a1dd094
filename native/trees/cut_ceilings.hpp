/// What no cut of a feature can gain more than: rough, and so cheap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "native/base/isa.hpp"
#include "native/trees/cut_gains.hpp"

namespace spinney {

/// What a row adds to a sum: above, in 32 bits, how far its number is from what the mean of the
/// node would give it; below, its weight. Both in units that keep every sum of the node in its
/// half.
using RoughSum = std::uint64_t;

/// Entries behind the last that must exist wherever the kernel reads.
constexpr std::size_t kRoughPadding = 16;

/// What rough gains depend on besides the sums on the left.
struct RoughNode {
    float all = 0.0F;    ///< weight of the node
    float error = 0.0F;  ///< no sum of numbers is wrong by more
    double unit = 0.0;   ///< what a rough gain is multiplied by
};

/// With d the sum of numbers on the left: no (|d| + error)^2 / (W_left W_right) of a cut behind a
/// row in [0, n - 1) is larger. sums: of the rows up to each. Rows whose keys >> 16 are equal are
/// not cut apart.
using RoughCeiling = float(const RoughSum* sums, const std::uint32_t* keys, std::size_t n,
                           const RoughNode& node);

RoughCeiling rough_ceiling_portable, rough_ceiling_avx2, rough_ceiling_avx512;

/// The ceilings of features whose rows are sorted.
class CutCeilings {
  public:
    explicit CutCeilings(std::size_t most_rows)
        : by_row_(most_rows), sums_(most_rows + kRoughPadding) {}

    /// What each row adds, to be filled in, and what the node is like.
    RoughSum* by_row() { return by_row_.data(); }
    void enter(const RoughNode& node) { node_ = node; }

    /// keys: of n rows in the order of a feature, the row's number in the lower half; kRoughPadding
    /// more can be read.
    double of(const std::uint32_t* keys, std::size_t n) {
        RoughSum sum = 0;
        RoughSum* sums = sums_.data();
        const RoughSum* by_row = by_row_.data();
        for (std::size_t i = 0; i < n; ++i) {
            sum += by_row[keys[i] & 0xFFFFU];
            sums[i] = sum;
        }
        const double ceiling = node_.unit * static_cast<double>(kernel_(sums, keys, n, node_));
        return ceiling >= 0.0 ? ceiling : std::numeric_limits<double>::infinity();  // no number
    }

  private:
    RoughCeiling* kernel_ = SPINNEY_CUT_KERNEL(rough_ceiling);
    std::vector<RoughSum> by_row_;
    std::vector<RoughSum> sums_;
    RoughNode node_;
};

}  // namespace spinney
