/// The thresholds of the nodes of a tree.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "native/trees/ranked_columns.hpp"

namespace spinney {

/// The rows with a value between which a cut is; kNone: all rows with a value are on the left.
struct RowCut {
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;
    std::uint32_t last_left = kNone;
    std::uint32_t first_right = kNone;
};

/// Where cuts are, until their thresholds are asked for: the middle between the neighbouring
/// values. All at the end, since values lie far apart: so one does not wait for the other.
class FoundCuts {
  public:
    /// A cut of the node at `place`, by the ranks around it; first_right: that of missing values
    /// where all others are on the left.
    void add(std::size_t place, std::size_t feature, std::uint32_t last_left,
             std::uint32_t first_right) {
        by_rank_.push_back({place, feature, last_left, first_right});
    }
    /// The same by rows that have these ranks.
    void add(std::size_t place, std::size_t feature, const RowCut& cut) {
        by_row_.push_back({place, feature, cut});
    }

    /// Writes the thresholds of all cuts and forgets them.
    void settle(const RankedColumns& columns, std::vector<double>& thresholds) {
        for (const ByRow& found : by_row_) {
            const RankedFeature& feature = columns.feature(found.feature);
            const std::uint32_t missing = feature.missing_rank();
            feature.with_ranks([&](const auto* ranks) {
                const auto [left, right] = found.cut;
                add(found.place, found.feature, ranks[left],
                    right == RowCut::kNone ? missing : ranks[right]);
            });
        }
        for (const ByRank& found : by_rank_) {
            const RankedFeature& feature = columns.feature(found.feature);
            thresholds[found.place] =
                found.first_right == feature.missing_rank()
                    ? std::numeric_limits<double>::infinity()
                    : RankedColumns::threshold_between(feature.values[found.last_left],
                                                       feature.values[found.first_right]);
        }
        by_row_.clear();
        by_rank_.clear();
    }

  private:
    struct ByRank {
        std::size_t place;
        std::size_t feature;
        std::uint32_t last_left;
        std::uint32_t first_right;
    };
    struct ByRow {
        std::size_t place;
        std::size_t feature;
        RowCut cut;
    };

    std::vector<ByRank> by_rank_;
    std::vector<ByRow> by_row_;
};

}  // namespace spinney
