/// What exact trees are grown for: weighted targets of rows, and how a split of them is judged.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "native/trees/sorted_columns.hpp"

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
    std::span<const std::int64_t> weights;  ///< n_rows, not negative
    std::span<const std::int32_t> cells =
        {};                     ///< instead of both: one sign per row times its weight
    double target_scale = 1.0;  ///< what a unit of the sums is worth
    double weight_scale = 1.0;
    Criterion criterion = Criterion::kSquared;

    std::size_t n_rows() const { return cells.empty() ? weights.size() : cells.size(); }
};

/// The sums of rows with one target each.
struct ScalarSums {
    std::int64_t sum = 0;
    std::int64_t weight = 0;
};

/// Two sides of a split as floats. Subtracted as integers before, so that a side with no rows of a
/// class has exactly none, however large the sums are.
struct Sides {
    double left_sum;
    double left;
    double right_sum;
    double right;

    Sides(std::int64_t sum, std::int64_t weight, std::int64_t all_sum, std::int64_t all)
        : left_sum(static_cast<double>(sum)),
          left(static_cast<double>(weight)),
          right_sum(static_cast<double>(all_sum - sum)),
          right(static_cast<double>(all - weight)) {}
};

/// Squared error that two means remove beyond one: (S_left W_right - S_right W_left)^2 / (W_left
/// W_right W), which is the squared difference of the means times W_left W_right / W. Means that
/// differ by rounding alone are equal.
inline double squared_gain(const Sides& sides) {
    constexpr double kRounding = 0x1p-50;
    const double left = sides.left_sum * sides.right;
    const double right = sides.right_sum * sides.left;
    const double difference = left - right;
    const double noise = kRounding * (std::abs(left) + std::abs(right));
    if (std::abs(difference) <= noise) return 0.0;
    return difference * difference / (sides.left * sides.right * (sides.left + sides.right));
}

inline double exponential_part(std::int64_t weight, std::int64_t sum) {
    return std::sqrt(static_cast<double>(weight - sum) * static_cast<double>(weight + sum));
}

/// Cuts of one feature that are judged together: what would go left in each.
inline constexpr std::size_t kCutsAtOnce = 256;
struct Cuts {
    std::array<std::int64_t, kCutsAtOnce> sums;
    std::array<std::int64_t, kCutsAtOnce> weights;
    std::array<std::uint32_t, kCutsAtOnce> places;  ///< rows before it go left
};
using Gains = std::array<double, kCutsAtOnce>;

/// The largest of the first n, or 0 if none is positive. In strands: one would wait for itself.
inline double largest(const Gains& gains, std::size_t n) {
    constexpr std::size_t kStrands = 8;
    std::array<double, kStrands> most{};
    std::size_t i = 0;
    for (; i + kStrands <= n; i += kStrands) {
        for (std::size_t k = 0; k < kStrands; ++k) {
            most[k] = gains[i + k] > most[k] ? gains[i + k] : most[k];
        }
    }
    for (; i < n; ++i) most[0] = gains[i] > most[0] ? gains[i] : most[0];
    return *std::max_element(most.begin(), most.end());
}

/// Rows of one target, however they are stored. Loops over cuts have no branch, so that compilers
/// make vectors of them.
template <class Rows>
class ScalarRows {
  public:
    static constexpr bool kIsScalar = true;
    using Sums = ScalarSums;

    explicit ScalarRows(const ExactRows& rows)
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

    /// Whether a cut may gain more than `least`; most blocks hold none, and are done with this.
    bool may_exceed(const Cuts& cuts, std::size_t n, const Sums& total, double least) const {
        if constexpr (!Rows::kIsShort) return true;  // differences of floats would not be exact
        const auto all = static_cast<double>(total.weight);
        const auto all_sum = static_cast<double>(total.sum);
        Gains excess;  // positive where the gain is above the limit, without its division
        if (criterion_ == Criterion::kSquared) {
            const double limit = least * all * (1.0 - 0x1p-40);  // no gain is missed by rounding
            for (std::size_t i = 0; i < n; ++i) {
                const double sum = Rows::to_double(cuts.sums[i]);
                const double weight = Rows::to_double(cuts.weights[i]);
                const double other = all - weight;
                const double difference = sum * other - (all_sum - sum) * weight;
                excess[i] = difference * difference - limit * (weight * other);
            }
        } else if (criterion_ == Criterion::kError) {
            const double limit = 2.0 * least + std::abs(all_sum);
            for (std::size_t i = 0; i < n; ++i) {
                const double sum = Rows::to_double(cuts.sums[i]);
                excess[i] = std::abs(sum) + std::abs(all_sum - sum) - limit;
            }
        } else {
            return true;
        }
        return largest(excess, n) > 0.0;
    }

    /// Whether what goes left could gain as much as `bound`, with room for rounding; true where
    /// that is not known.
    bool may_reach(const Sums& left, const Sums& total, double bound) const {
        const auto all = static_cast<double>(total.weight);
        const auto all_sum = static_cast<double>(total.sum);
        const double magnitude =
            criterion_ == Criterion::kSquared ? all_sum * (all_sum / all) : all;
        const double limit = bound * (1.0 - 0x1p-40) - 0x1p-48 * magnitude;
        const bool one_side = left.weight == 0 || left.weight == total.weight;
        return one_side || !(gain(left, total) < limit);
    }

    /// Gains of cuts, in units of the sums.
    void gains(const Cuts& cuts, std::size_t n, const Sums& total, Gains& to) const {
        for (std::size_t i = 0; i < n; ++i) to[i] = gain({cuts.sums[i], cuts.weights[i]}, total);
    }
    double gain(const Sums& left, const Sums& total) const {
        const Sums right = difference(total, left);
        switch (criterion_) {
            case Criterion::kSquared:
                return squared_gain({left.sum, left.weight, total.sum, total.weight});
            case Criterion::kExponential:
                return exponential_part(total.weight, total.sum) -
                       exponential_part(left.weight, left.sum) -
                       exponential_part(right.weight, right.sum);
            default:
                return 0.5 * static_cast<double>(std::abs(left.sum) + std::abs(right.sum) -
                                                 std::abs(total.sum));
        }
    }
    void values(const Sums& sums, std::vector<double>& to) const {
        to.push_back(mean(sums, 0) * value_scale_);
    }

  protected:
    Criterion criterion_;

  private:
    double value_scale_;
};

/// One sign per row: the target is the weight or its negative. One word for both, because a scan is
/// as fast as rows in the order of their values are read, which is any order in memory. Short words
/// are faster, long ones tell weights apart that differ little. Borrows the words.
template <class Cell>
class SignedRows : public ScalarRows<SignedRows<Cell>> {
    using Base = ScalarRows<SignedRows<Cell>>;

  public:
    using typename Base::Sums;
    static constexpr bool kIsShort = true;  ///< all sums are exact as floats

    /// Nothing, if the sums would be too long.
    static std::optional<SignedRows> of(const ExactRows& rows, std::span<const Cell> cells) {
        const SignedRows made(rows, cells);
        if (made.total_.weight >= (std::int64_t{1} << 51)) return std::nullopt;
        return made;
    }
    const Sums& total() const { return total_; }

    static bool is_mixed(const Sums& sums) { return std::abs(sums.sum) < sums.weight; }

    /// By the bits of the mantissa: vectors lack the conversion of long integers.
    [[gnu::always_inline]] static double to_double(std::int64_t number) {
        constexpr std::uint64_t kMiddle = 0x4338000000000000U;  // 2^52 + 2^51
        return std::bit_cast<double>(static_cast<std::uint64_t>(number) + kMiddle) -
               std::bit_cast<double>(kMiddle);
    }
    using Base::add;
    void add(Sums& sums, std::uint32_t row) const {
        const std::int64_t cell = cells_[row];
        sums.sum += cell;
        sums.weight += std::abs(cell);
    }

    /// Sums of some rows; how far those of a part of them can stray follows from them.
    struct Spread {
        Sums sums;
    };
    Spread spread(std::span<const OrderedRow> order) const {
        Sums sums;
        for (const OrderedRow& entry : order) add(sums, entry.row());
        return {sums};
    }
    /// All positive rows may come first, or all negative ones.
    static std::array<Sums, 4> corners(const Sums& before, const Spread& spread) {
        const std::int64_t up = (spread.sums.weight + spread.sums.sum) / 2;
        const std::int64_t down = (spread.sums.weight - spread.sums.sum) / 2;
        Sums after = before;
        add(after, spread.sums);
        return {{before,
                 after,
                 {before.sum + up, before.weight + up},
                 {before.sum - down, before.weight + down}}};
    }

  private:
    SignedRows(const ExactRows& rows, std::span<const Cell> cells) : Base(rows), cells_(cells) {
        for (const std::int64_t cell : cells) {
            total_.sum += cell;
            total_.weight += std::abs(cell);
        }
    }

    std::span<const Cell> cells_;  ///< sign times weight
    Sums total_;
};

/// Whether every target is the weight of its row or its negative.
inline bool are_signs(const ExactRows& rows) {
    if (rows.n_outputs != 1 || !rows.cells.empty()) return false;
    bool all = true;
    for (std::size_t row = 0; row < rows.weights.size(); ++row) {
        const std::int64_t weight = rows.weights[row];
        all &= rows.targets[row] == weight || rows.targets[row] == -weight;
        all &= weight < (std::int64_t{1} << 51);
    }
    return all;
}

/// The targets as short words; nothing, if one is too long.
inline std::vector<std::int32_t> short_cells(const ExactRows& rows) {
    std::vector<std::int32_t> cells(rows.targets.size());
    std::uint64_t longest = 0;
    for (std::size_t row = 0; row < cells.size(); ++row) {
        cells[row] = static_cast<std::int32_t>(rows.targets[row]);
        longest |= static_cast<std::uint64_t>(rows.weights[row]);
    }
    if ((longest >> 31) != 0) cells.clear();
    return cells;
}

/// One number per row; target and weight stand together, so that a row is one access.
class NumberRows : public ScalarRows<NumberRows> {
  public:
    static constexpr bool kIsShort = false;

    explicit NumberRows(const ExactRows& rows) : ScalarRows(rows), cells_(rows.n_rows()) {
        for (std::size_t row = 0; row < cells_.size(); ++row) {
            cells_[row] = rows.cells.empty()
                              ? Sums{rows.targets[row], rows.weights[row]}
                              : Sums{rows.cells[row], std::abs(std::int64_t{rows.cells[row]})};
            add(total_, cells_[row]);
        }
    }
    const Sums& total() const { return total_; }
    /// Unknown of numbers; and nothing is lost by a leaf where no split gains.
    static bool is_mixed(const Sums&) { return false; }
    [[gnu::always_inline]] static double to_double(std::int64_t number) {
        return static_cast<double>(number);
    }
    using ScalarRows::add;
    void add(Sums& sums, std::uint32_t row) const { add(sums, cells_[row]); }

    /// Sums of some rows, and how far those of a part of them can stray.
    struct Spread {
        Sums sums;
        std::int64_t up = 0;    ///< of positive targets
        std::int64_t down = 0;  ///< of negative ones, less than 0
    };
    Spread spread(std::span<const OrderedRow> order) const {
        Spread spread;
        for (const OrderedRow& entry : order) {
            const Sums& cell = cells_[entry.row()];
            add(spread.sums, cell);
            spread.up += std::max<std::int64_t>(cell.sum, 0);
        }
        spread.down = spread.sums.sum - spread.up;
        return spread;
    }
    /// Any part of the weight may come with any part of the targets. The other criteria are those
    /// of signs, whose sum never exceeds their weight: all positive rows come first, or all others.
    std::array<Sums, 4> corners(const Sums& before, const Spread& spread) const {
        const std::int64_t weight = before.weight + spread.sums.weight;
        if (criterion_ == Criterion::kSquared) {
            return {{{before.sum + spread.up, before.weight},
                     {before.sum + spread.up, weight},
                     {before.sum + spread.down, before.weight},
                     {before.sum + spread.down, weight}}};
        }
        return {{before,
                 {before.sum + spread.sums.sum, weight},
                 {before.sum + spread.up, before.weight + spread.up},
                 {before.sum + spread.down, before.weight - spread.down}}};
    }

  private:
    std::vector<Sums> cells_;
    Sums total_;
};

}  // namespace spinney
