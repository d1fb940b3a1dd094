/// What exact trees are grown for: weighted targets of rows, and how a split of them is judged.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace spinney {

/// What a split lowers. W: weight of rows, S: sum of their weighted targets.
enum class Criterion : std::uint8_t {
    kSquared,      ///< squared error of the mean; of one-hot classes the Gini impurity
    kError,        ///< weight of rows outside the majority: of signs (W - |S|) / 2
    kExponential,  ///< sqrt(W^2 - S^2), what exponential loss leaves of signs
    kHamming,      ///< (W - |S|) / 2, summed over outputs of signs
};

/// Integers on grids, below 2^62 in all: every sum of them is exact, so neither the order of rows
/// nor the number of threads can matter.
struct ExactRows {
    std::size_t n_outputs = 1;
    std::span<const std::int64_t> targets;  ///< n_rows * n_outputs, weighted
    std::span<const std::int64_t> weights;  ///< n_rows, positive
    double target_scale = 1.0;              ///< what a unit of the sums is worth
    double weight_scale = 1.0;
    Criterion criterion = Criterion::kSquared;
};

/// Means that differ by rounding alone are equal (see split_gain in split.hpp).
inline double squared_gain(double left_sum, double right_sum, double left, double right) {
    constexpr double kRounding = 0x1p-50;
    const double a = left_sum / left;
    const double b = right_sum / right;
    const double difference = a - b;
    const double noise = kRounding * (std::abs(a) + std::abs(b));
    return std::abs(difference) > noise ? difference * difference : 0.0;
}

inline double exponential_part(double weight, double sum) {
    return std::sqrt((weight - sum) * (weight + sum));
}

/// One target per row: the road of two classes and of numbers.
class ScalarRows {
  public:
    struct Sums {
        std::int64_t sum = 0;
        std::int64_t weight = 0;
    };

    explicit ScalarRows(const ExactRows& rows) : rows_(rows) {}

    std::size_t n_orders() const { return 1; }
    Sums none() const { return {}; }
    void add(Sums& sums, std::uint32_t row) const {
        sums.sum += rows_.targets[row];
        sums.weight += rows_.weights[row];
    }
    static void add(Sums& sums, const Sums& other) {
        sums.sum += other.sum;
        sums.weight += other.weight;
    }
    static Sums difference(const Sums& all, const Sums& part) {
        return {all.sum - part.sum, all.weight - part.weight};
    }
    static double mean(const Sums& sums, std::size_t) {
        return static_cast<double>(sums.sum) / static_cast<double>(sums.weight);
    }

    /// Gain of a split, in units of the sums; total: of the node, known to have both sides.
    double gain(const Sums& left, const Sums& total) const {
        const auto weight = static_cast<double>(left.weight);
        const auto sum = static_cast<double>(left.sum);
        const auto all = static_cast<double>(total.weight);
        const auto all_sum = static_cast<double>(total.sum);
        const auto other = static_cast<double>(total.weight - left.weight);
        const auto other_sum = static_cast<double>(total.sum - left.sum);
        switch (rows_.criterion) {
            case Criterion::kSquared:
                return squared_gain(sum, other_sum, weight, other) * weight * (other / all);
            case Criterion::kExponential:
                return exponential_part(all, all_sum) - exponential_part(weight, sum) -
                       exponential_part(other, other_sum);
            default:
                return 0.5 * (std::abs(sum) + std::abs(other_sum) - std::abs(all_sum));
        }
    }
    void values(const Sums& sums, std::vector<double>& to) const {
        to.push_back(mean(sums, 0) * (rows_.target_scale / rows_.weight_scale));
    }

  private:
    const ExactRows& rows_;
};

/// Several targets per row: one-hot classes, or a sign per class.
class VectorRows {
  public:
    struct Sums {
        std::vector<std::int64_t> sums;
        std::int64_t weight = 0;
    };

    explicit VectorRows(const ExactRows& rows) : rows_(rows) {}

    std::size_t n_orders() const { return rows_.n_outputs; }
    Sums none() const { return {std::vector<std::int64_t>(rows_.n_outputs, 0), 0}; }
    void add(Sums& sums, std::uint32_t row) const {
        const std::int64_t* targets = rows_.targets.data() + row * rows_.n_outputs;
        for (std::size_t k = 0; k < rows_.n_outputs; ++k) sums.sums[k] += targets[k];
        sums.weight += rows_.weights[row];
    }
    static void add(Sums& sums, const Sums& other) {
        for (std::size_t k = 0; k < sums.sums.size(); ++k) sums.sums[k] += other.sums[k];
        sums.weight += other.weight;
    }
    static Sums difference(const Sums& all, const Sums& part) {
        Sums rest = all;
        for (std::size_t k = 0; k < rest.sums.size(); ++k) rest.sums[k] -= part.sums[k];
        rest.weight -= part.weight;
        return rest;
    }
    static double mean(const Sums& sums, std::size_t k) {
        return static_cast<double>(sums.sums[k]) / static_cast<double>(sums.weight);
    }

    double gain(const Sums& left, const Sums& total) const {
        switch (rows_.criterion) {
            case Criterion::kSquared:
                return squared(left, total);
            case Criterion::kHamming:
                return hamming(left, total);
            default:
                return majority(left, total);
        }
    }
    void values(const Sums& sums, std::vector<double>& to) const {
        for (std::size_t k = 0; k < rows_.n_outputs; ++k) {
            to.push_back(mean(sums, k) * (rows_.target_scale / rows_.weight_scale));
        }
    }

  private:
    double squared(const Sums& left, const Sums& total) const {
        const auto weight = static_cast<double>(left.weight);
        const auto all = static_cast<double>(total.weight);
        const auto other = static_cast<double>(total.weight - left.weight);
        double squares = 0.0;
        for (std::size_t k = 0; k < rows_.n_outputs; ++k) {
            squares +=
                squared_gain(static_cast<double>(left.sums[k]),
                             static_cast<double>(total.sums[k] - left.sums[k]), weight, other);
        }
        return squares * weight * (other / all);
    }
    double hamming(const Sums& left, const Sums& total) const {
        std::int64_t gained = 0;
        for (std::size_t k = 0; k < rows_.n_outputs; ++k) {
            gained += std::abs(left.sums[k]) + std::abs(total.sums[k] - left.sums[k]) -
                      std::abs(total.sums[k]);
        }
        return 0.5 * static_cast<double>(gained);
    }
    double majority(const Sums& left, const Sums& total) const {
        std::array<std::int64_t, 3> most{};
        for (std::size_t k = 0; k < rows_.n_outputs; ++k) {
            most[0] = std::max(most[0], left.sums[k]);
            most[1] = std::max(most[1], total.sums[k] - left.sums[k]);
            most[2] = std::max(most[2], total.sums[k]);
        }
        return static_cast<double>(most[0] + most[1] - most[2]);
    }

    const ExactRows& rows_;
};

}  // namespace spinney
