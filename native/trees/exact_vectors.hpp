/// Rows with several targets each, and how exact trees judge a split of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "native/trees/exact_rows.hpp"

namespace spinney {

/// Several targets per row: one-hot classes, or a sign per class.
class VectorRows {
  public:
    static constexpr bool kIsScalar = false;
    struct Sums {
        std::vector<std::int64_t> sums;
        std::int64_t weight = 0;
    };

    explicit VectorRows(const ExactRows& rows) : rows_(rows), total_(none()) {
        for (std::uint32_t row = 0; row < rows.weights.size(); ++row) add(total_, row);
    }

    const Sums& total() const { return total_; }
    /// Of classes; a sign per class may be mixed whatever the sums are.
    bool is_mixed(const Sums& sums) const {
        return rows_.criterion != Criterion::kHamming &&
               *std::max_element(sums.sums.begin(), sums.sums.end()) < sums.weight;
    }
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
        double gain = 0.0;
        for (std::size_t k = 0; k < rows_.n_outputs; ++k) {
            gain += squared_gain({left.sums[k], left.weight, total.sums[k], total.weight});
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
    Sums total_;
};

}  // namespace spinney
