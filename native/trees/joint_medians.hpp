/// The least absolute error of rows with one target or several, while rows are put in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "native/trees/median_sums.hpp"

namespace spinney {

/// The rows of a node in the order of one output's targets.
struct OutputOrder {
    std::span<const std::uint32_t> rows;
    std::vector<WeightedSum> own;
    std::vector<double> targets;  ///< in units of product / weight
    std::vector<double> values;   ///< the targets themselves
    /// Of each row in the order of the first output; empty for that itself.
    std::vector<std::uint32_t> place;
};

/// One MedianSums per output. A row is known by its place in the order of the first output.
class JointMedians {
  public:
    /// whole: see MedianSums.
    void enter(std::span<const OutputOrder> orders, bool whole) {
        orders_ = orders;
        sums_.resize(orders.size());
        for (std::size_t k = 0; k < orders.size(); ++k) {
            sums_[k].enter(orders[k].own, orders[k].targets, whole);
        }
    }

    void clear() {
        for (MedianSums& sums : sums_) sums.clear();
    }

    void put(std::size_t position) {
        sums_[0].put(position);
        for (std::size_t k = 1; k < sums_.size(); ++k) sums_[k].put(orders_[k].place[position]);
    }

    std::int64_t weight() const { return sums_[0].weight(); }

    double least_error() const {
        double error = 0.0;
        for (const MedianSums& sums : sums_) error += sums.least_error();
        return error;
    }

    /// Of the first output; the middle of two targets where half of the weight is between them.
    double median() const {
        const auto [lower, upper] = sums_[0].middle_places();
        const std::vector<double>& values = orders_[0].values;
        return lower == upper ? values[lower] : values[lower] / 2 + values[upper] / 2;
    }

  private:
    std::span<const OutputOrder> orders_;
    std::vector<MedianSums> sums_;
};

}  // namespace spinney
