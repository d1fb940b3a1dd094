/// The least absolute error of a set of rows while rows are put in.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace spinney {

/// A row, or several added up.
struct WeightedSum {
    std::int64_t weight = 0;
    std::int64_t product = 0;  ///< weight times target

    void add(const WeightedSum& other) {
        weight += other.weight;
        product += other.product;
    }
};

/// Rows of one node in the order of their targets; any of them can be put in, in any order. A
/// Fenwick tree: putting a row in and asking for the error are O(log rows).
class MedianSums {
  public:
    /// own, targets: of the rows of a node, by position; targets are in units of product / weight
    /// and increase. whole: weights are whole, and so are targets: product = weight * target.
    void enter(std::span<const WeightedSum> own, std::span<const double> targets, bool whole) {
        own_ = own;
        targets_ = targets;
        whole_ = whole;
        clear();
    }

    void clear() {
        parts_.assign(own_.size() + 1, {});
        total_ = {};
    }

    void put(std::size_t position) {
        const WeightedSum& row = own_[position];
        total_.add(row);
        for (std::size_t i = position + 1; i < parts_.size(); i += i & (~i + 1)) parts_[i].add(row);
    }

    std::int64_t weight() const { return total_.weight; }

    /// Sum of weight * |target - median|, in units of products. With P and W the sums up to the
    /// median m: (P_all - P) - P + m (W - (W_all - W)). Integers but for the last product; that is
    /// one too if targets are whole, so that a row three times is a row of weight 3.
    double least_error() const {
        if (total_.weight == 0) return 0.0;
        const auto [middle, up_to] = middle_row(false);
        const std::int64_t apart = (total_.product - up_to.product) - up_to.product;
        const std::int64_t lean = up_to.weight - (total_.weight - up_to.weight);
        if (whole_) {
            return static_cast<double>(apart + static_cast<std::int64_t>(targets_[middle]) * lean);
        }
        return static_cast<double>(apart) + targets_[middle] * static_cast<double>(lean);
    }

    /// The rows at which half of the weight is reached, and passed: the same, or neighbours. Some
    /// row must be in.
    std::pair<std::size_t, std::size_t> middle_places() const {
        return {middle_row(false).position, middle_row(true).position};
    }

  private:
    struct Middle {
        std::size_t position;
        WeightedSum up_to;  ///< of the rows up to it
    };

    /// The first row at which half of the weight is reached; past: at which there is more.
    Middle middle_row(bool past) const {
        const std::int64_t enough = total_.weight + (past ? 1 : 0);
        std::size_t before = 0;
        WeightedSum up_to;
        for (std::size_t step = std::bit_floor(own_.size()); step > 0; step /= 2) {
            if (before + step >= parts_.size()) continue;
            const WeightedSum& part = parts_[before + step];
            if (2 * (up_to.weight + part.weight) >= enough) continue;
            up_to.add(part);
            before += step;
        }
        up_to.add(own_[before]);
        return {before, up_to};
    }

    std::span<const WeightedSum> own_;
    std::span<const double> targets_;
    bool whole_ = false;
    std::vector<WeightedSum> parts_;
    WeightedSum total_;
};

}  // namespace spinney
