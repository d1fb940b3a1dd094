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

/// The sums of rows with one target each.
struct ScalarSums {
    std::int64_t sum = 0;
    std::int64_t weight = 0;
};

/// Squared error that two means remove beyond one, from sums S and weights W of the left side and
/// of the node: (S_left W - S W_left)^2 / (W_left W_right W), which is the squared difference of
/// the means times W_left W_right / W. Means that differ by rounding alone are equal.
[[gnu::always_inline]] inline double squared_gain(double sum, double weight, double all_sum,
                                                  double all) {
    constexpr double kRounding = 0x1p-50;
    const double other = all - weight;
    const double left = sum * other;
    const double right = (all_sum - sum) * weight;
    const double difference = left - right;
    const double noise = kRounding * (std::abs(left) + std::abs(right));
    const double gain = difference * difference / (weight * other * all);
    return std::abs(difference) > noise ? gain : 0.0;
}

[[gnu::always_inline]] inline double error_gain(double sum, double all_sum) {
    return 0.5 * (std::abs(sum) + std::abs(all_sum - sum) - std::abs(all_sum));
}

[[gnu::always_inline]] inline double exponential_part(double weight, double sum) {
    return std::sqrt((weight - sum) * (weight + sum));
}

[[gnu::always_inline]] inline double exponential_gain(double sum, double weight, double all_sum,
                                                      double all) {
    return exponential_part(all, all_sum) - exponential_part(weight, sum) -
           exponential_part(all - weight, all_sum - sum);
}

/// What rows of one target share, however they are stored.
class ScalarCriterion {
  public:
    using Sums = ScalarSums;

    explicit ScalarCriterion(const ExactRows& rows)
        : criterion_(rows.criterion), value_scale_(rows.target_scale / rows.weight_scale) {}

    std::size_t n_orders() const { return 1; }
    Sums none() const { return {}; }
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

    /// Gains of n splits, in units of the sums, from what goes left in each. One loop per
    /// criterion, without a branch, so that compilers make vectors of it.
    void gains(const double* sums, const double* weights, std::size_t n, const Sums& total,
               double* to) const {
        const auto all = static_cast<double>(total.weight);
        const auto all_sum = static_cast<double>(total.sum);
        switch (criterion_) {
            case Criterion::kSquared:
                for (std::size_t i = 0; i < n; ++i) {
                    to[i] = squared_gain(sums[i], weights[i], all_sum, all);
                }
                return;
            case Criterion::kExponential:
                for (std::size_t i = 0; i < n; ++i) {
                    to[i] = exponential_gain(sums[i], weights[i], all_sum, all);
                }
                return;
            default:
                for (std::size_t i = 0; i < n; ++i) to[i] = error_gain(sums[i], all_sum);
        }
    }
    double gain(const Sums& left, const Sums& total) const {
        const auto sum = static_cast<double>(left.sum);
        const auto weight = static_cast<double>(left.weight);
        double gain = 0.0;
        gains(&sum, &weight, 1, total, &gain);
        return gain;
    }
    void values(const Sums& sums, std::vector<double>& to) const {
        to.push_back(mean(sums, 0) * value_scale_);
    }

  private:
    Criterion criterion_;
    double value_scale_;
};

/// One sign per row: the target is the weight or its negative, one word for both.
class SignedRows : public ScalarCriterion {
  public:
    static constexpr bool kIsScalar = true;

    explicit SignedRows(const ExactRows& rows) : ScalarCriterion(rows), cells_(rows.targets) {}

    /// Whether every target is the weight of its row or its negative.
    static bool fits(const ExactRows& rows) {
        if (rows.n_outputs != 1) return false;
        for (std::size_t row = 0; row < rows.weights.size(); ++row) {
            if (std::abs(rows.targets[row]) != rows.weights[row]) return false;
        }
        return true;
    }
    using ScalarCriterion::add;
    void add(Sums& sums, std::uint32_t row) const {
        const std::int64_t cell = cells_[row];
        sums.sum += cell;
        sums.weight += std::abs(cell);
    }

  private:
    std::span<const std::int64_t> cells_;
};

/// One number per row; target and weight stand together, so that a row is one access.
class NumberRows : public ScalarCriterion {
  public:
    static constexpr bool kIsScalar = true;

    explicit NumberRows(const ExactRows& rows)
        : ScalarCriterion(rows), cells_(rows.weights.size()) {
        for (std::size_t row = 0; row < cells_.size(); ++row) {
            cells_[row] = {rows.targets[row], rows.weights[row]};
        }
    }
    using ScalarCriterion::add;
    void add(Sums& sums, std::uint32_t row) const { add(sums, cells_[row]); }

  private:
    std::vector<Sums> cells_;
};

/// Several targets per row: one-hot classes, or a sign per class.
class VectorRows {
  public:
    static constexpr bool kIsScalar = false;
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
        double gain = 0.0;
        for (std::size_t k = 0; k < rows_.n_outputs; ++k) {
            gain += squared_gain(static_cast<double>(left.sums[k]), weight,
                                 static_cast<double>(total.sums[k]), all);
        }
        return gain;
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
