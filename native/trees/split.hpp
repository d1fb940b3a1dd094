/// A split of a node, the sums it is judged by, and the formula that judges it.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "native/model/forest.hpp"

namespace spinney {

/// Sums over some rows: targets (weighted), weight, count. A cell of a histogram, or several added
/// up.
struct Sums {
    std::vector<std::int64_t> targets;
    std::int64_t weight = 0;
    std::int64_t count = 0;

    explicit Sums(std::size_t n_outputs) : targets(n_outputs, 0) {}

    void add(const std::int64_t* cell, std::int64_t sign = 1) {
        for (std::size_t k = 0; k < targets.size(); ++k) targets[k] += sign * cell[k];
        weight += sign * cell[targets.size()];
        count += sign * cell[targets.size() + 1];
    }

    void subtract(const Sums& other) {
        for (std::size_t k = 0; k < targets.size(); ++k) targets[k] -= other.targets[k];
        weight -= other.weight;
        count -= other.count;
    }

    double mean(std::size_t k) const {
        return static_cast<double>(targets[k]) / static_cast<double>(weight);
    }
};

/// Squared error that two means remove beyond one: the sum over outputs of
/// (mean left - mean right)^2 * WL * WR / (WL + WR), in integer units. Of one-hot targets this is
/// the decrease of W times the Gini impurity.
///
/// By the difference of means and not by S^2 / W of three nodes: far from zero those would cancel,
/// and one large target would blind the tree. Means that differ by rounding alone are equal.
inline double split_gain(const Sums& left, const Sums& right) {
    constexpr double kRounding = 0x1p-50;
    double squares = 0.0;
    for (std::size_t k = 0; k < left.targets.size(); ++k) {
        const double a = left.mean(k);
        const double b = right.mean(k);
        const double difference = a - b;
        const double noise = kRounding * (std::abs(a) + std::abs(b));
        if (std::abs(difference) > noise) squares += difference * difference;
    }
    const auto left_weight = static_cast<double>(left.weight);
    const auto right_weight = static_cast<double>(right.weight);
    return squares * left_weight * (right_weight / (left_weight + right_weight));
}

struct Split {
    std::int32_t feature = -1;  ///< -1: none found
    std::int32_t bin = -1;      ///< numeric: bins up to and including this one go left
    bool is_categorical = false;
    bool missing_left = false;
    std::array<std::uint8_t, kCategorySetBytes> left_bins{};  ///< categorical: bins that go left
    double gain = 0.0;                                        ///< in integer units

    bool exists() const { return feature >= 0; }
    bool has_left(std::size_t b) const { return (left_bins[b / 8] >> (b % 8)) & 1; }
    void set_left(std::size_t b) {
        left_bins[b / 8] = static_cast<std::uint8_t>(left_bins[b / 8] | (1U << (b % 8)));
    }
    void put(std::size_t b, bool goes_left) {
        const auto bit = static_cast<std::uint8_t>(1U << (b % 8));
        left_bins[b / 8] =
            static_cast<std::uint8_t>(goes_left ? left_bins[b / 8] | bit : left_bins[b / 8] & ~bit);
    }
    bool sends_left(std::uint8_t b, std::uint8_t missing_bin) const {
        if (b == missing_bin) return missing_left;
        return is_categorical ? has_left(b) : b <= bin;
    }
};

}  // namespace spinney
