/// What trees of a forest are grown for: the targets of rows, how often a tree counts each row, and
/// how a node is judged by the sums of its rows.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "native/base/elementary.hpp"

namespace spinney {

/// What a split lowers.
enum class NodeCriterion : std::uint8_t {
    kGini,
    kEntropy,    ///< in bits
    kError,      ///< weight outside the majority
    kTwoing,     ///< raises P_left P_right (sum of |differences of shares|)^2 / 4
    kDkm,        ///< 2 sqrt(p (1 - p)), two classes
    kHellinger,  ///< raises the Hellinger distance of the classes' shares of the children
    kGainRatio,  ///< raises the decrease of entropy over the entropy of the split
    kSquared,
    kPoisson,  ///< half the Poisson deviance
};

/// The rows of a table as all trees share them. Integers on grids, so that the sum over any rows,
/// repeated as often as a tree draws them, is exact and below 2^62.
struct ForestRows {
    std::size_t n_rows = 0;
    std::size_t n_outputs = 1;               ///< classes, or numbers per row
    std::span<const std::uint32_t> classes;  ///< by row; empty: targets are numbers
    std::span<const std::int64_t> numbers;   ///< row-major n_rows * n_outputs, weighted
    std::span<const std::int64_t> weights;   ///< by row, at least 1; empty: one each
    std::span<const double> centre;          ///< by output: what was subtracted from the numbers
    double number_scale = 1.0;               ///< what a unit of the numbers is worth
    double weight_scale = 1.0;
    NodeCriterion criterion = NodeCriterion::kGini;

    std::int64_t weight(std::uint32_t row) const { return weights.empty() ? 1 : weights[row]; }
};

/// A row in a tree: its number below, and 32 bits above that are the target's own (`mark`).
using TreeRow = std::uint64_t;

constexpr std::uint32_t row_of(TreeRow item) { return static_cast<std::uint32_t>(item); }
constexpr std::uint32_t mark_of(TreeRow item) { return static_cast<std::uint32_t>(item >> 32); }

/// Two classes, every row counted once or several whole times, judged by Gini impurity.
///
/// A sum is one word: how many rows, and above it how many of the second class. So the sums of a
/// node with fewer than 2^31 rows cost one addition per row.
class BinaryCounts {
  public:
    static constexpr std::size_t kMostRepetitions = 0xFFFF;

    using Sums = std::array<std::int64_t, 1>;
    static constexpr bool kSmall = true;

    explicit BinaryCounts(const ForestRows& rows) : rows_(rows) {}

    static Sums no_sums() { return {}; }
    static constexpr std::size_t width() { return 1; }
    std::uint32_t mark(std::uint32_t row, std::uint32_t repetitions) const {
        return repetitions | (rows_.classes[row] == 1 ? repetitions << 16 : 0U);
    }
    /// Prepares for the payloads of these rows.
    void load(std::span<const TreeRow> /*items*/) {}
    /// Sums a node row by row, to know whether it is pure.
    void begin() {}
    static void visit(std::uint32_t payload, std::int64_t* total) { add(payload, total); }
    static std::uint32_t payload(TreeRow item, std::size_t /*position*/) { return mark_of(item); }
    static void add(std::uint32_t payload, std::int64_t* cell) { *cell += widened(payload); }
    static void add_if(bool counts, std::uint32_t payload, std::int64_t* cell) {
        *cell += counts ? widened(payload) : 0;
    }

    static bool is_pure(const std::int64_t* total) {
        return second(*total) == 0 || second(*total) == count(*total);
    }
    static bool has_rows(const std::int64_t* cell) { return *cell != 0; }
    static double weight(const std::int64_t* total) { return static_cast<double>(count(*total)); }
    static double mean(const std::int64_t* cell, std::size_t /*output*/) {
        return static_cast<double>(second(*cell)) / static_cast<double>(count(*cell));
    }
    static std::size_t n_orders() { return 1; }
    static void values(const std::int64_t* total, double* into) {
        const auto all = static_cast<double>(count(*total));
        into[0] = static_cast<double>(count(*total) - second(*total)) / all;
        into[1] = static_cast<double>(second(*total)) / all;
    }

    /// The node that gains are about.
    void focus(const std::int64_t* total) {
        total_ = *total;
        scale_ = 2.0 / static_cast<double>(count(*total));
    }

    /// (second_left count_right - second_right count_left)^2 * 2 / (count_left count_right count):
    /// both products are exact, so equal splits have equal gains.
    [[gnu::always_inline]] double gain(const std::int64_t* left) const {
        const std::int64_t right = total_ - *left;
        const std::int64_t difference = second(*left) * count(right) - second(right) * count(*left);
        const auto size = static_cast<double>(count(*left) * count(right));
        const auto apart = static_cast<double>(difference);
        return apart * apart / size * scale_;
    }

  private:
    static std::int64_t widened(std::uint32_t payload) {
        return static_cast<std::int64_t>(payload & 0xFFFFU) |
               static_cast<std::int64_t>(payload >> 16) << 32;
    }
    static std::int64_t count(std::int64_t sum) { return sum & 0xFFFFFFFF; }
    static std::int64_t second(std::int64_t sum) { return sum >> 32; }

    const ForestRows& rows_;
    std::int64_t total_ = 0;
    double scale_ = 0.0;
};

/// One number per row, judged by squared error; with kPoisson by half the Poisson deviance, for
/// numbers that are not negative and were not shifted.
template <bool kPoisson>
class ScalarSum {
  public:
    using Sums = std::array<std::int64_t, 2>;
    static constexpr bool kSmall = true;

    explicit ScalarSum(const ForestRows& rows) : rows_(rows) {}

    static Sums no_sums() { return {}; }
    static constexpr std::size_t width() { return 2; }
    static std::uint32_t mark(std::uint32_t /*row*/, std::uint32_t repetitions) {
        return repetitions;
    }
    void load(std::span<const TreeRow> items) {
        here_.resize(std::max(here_.size(), items.size()));
        for (std::size_t i = 0; i < items.size(); ++i) {
            const std::uint32_t row = row_of(items[i]);
            const auto repetitions = static_cast<std::int64_t>(mark_of(items[i]));
            here_[i] = {rows_.numbers[row] * repetitions, rows_.weight(row) * repetitions};
        }
    }
    void begin() { n_different_ = 0; }
    void visit(std::uint32_t payload, std::int64_t* total) {
        if (n_different_ == 0) {
            first_ = here_[payload];
            n_different_ = 1;
        } else if (n_different_ == 1 && !same_mean(here_[payload], first_)) {
            n_different_ = 2;
        }
        add(payload, total);
    }
    static std::uint32_t payload(TreeRow /*item*/, std::size_t position) {
        return static_cast<std::uint32_t>(position);
    }
    void add(std::uint32_t payload, std::int64_t* cell) const {
        cell[0] += here_[payload].number;
        cell[1] += here_[payload].weight;
    }
    void add_if(bool counts, std::uint32_t payload, std::int64_t* cell) const {
        cell[0] += counts ? here_[payload].number : 0;
        cell[1] += counts ? here_[payload].weight : 0;
    }

    bool is_pure(const std::int64_t* /*total*/) const { return n_different_ < 2; }
    static bool has_rows(const std::int64_t* cell) { return cell[1] != 0; }
    double weight(const std::int64_t* total) const {
        return static_cast<double>(total[1]) * rows_.weight_scale;
    }
    static double mean(const std::int64_t* cell, std::size_t /*output*/) {
        return static_cast<double>(cell[0]) / static_cast<double>(cell[1]);
    }
    static std::size_t n_orders() { return 1; }
    void values(const std::int64_t* total, double* into) const {
        into[0] =
            static_cast<double>(total[0]) * rows_.number_scale / weight(total) + rows_.centre[0];
    }

    void focus(const std::int64_t* total) {
        total_weight_ = total[1];
        total_number_ = total[0];
        all_ = static_cast<double>(total[1]);
        mean_ = static_cast<double>(total[0]) / all_;
        scale_ = all_ * unit();
    }
    [[gnu::always_inline]] double gain(const std::int64_t* left) const {
        return kPoisson ? poisson_gain(left) : squared_gain(left);
    }

  private:
    struct Sum {
        std::int64_t number = 0;
        std::int64_t weight = 0;
    };

    /// With d the sum on the left less what the mean of the node would give it:
    /// d^2 W / (W_left W_right). One division, and means that differ by rounding alone are equal.
    [[gnu::always_inline]] double squared_gain(const std::int64_t* left) const {
        constexpr double kRounding = 0x1p-50;
        const auto sum = static_cast<double>(left[0]);
        const auto own = static_cast<double>(left[1]);
        const double expected = mean_ * own;
        double apart = sum - expected;
        if (std::abs(apart) <= kRounding * std::abs(sum)) apart = 0.0;
        const auto rest = static_cast<double>(total_weight_ - left[1]);
        return apart * apart / (own * rest) * scale_;
    }

    /// S_left log(mean left) + S_right log(mean right) - S log(mean). A child whose numbers are all
    /// 0 would predict what no Poisson distribution has: such a split is none.
    double poisson_gain(const std::int64_t* left) const {
        const auto sum = static_cast<double>(left[0]);
        const auto own = static_cast<double>(left[1]);
        const auto rest_sum = static_cast<double>(total_number_ - left[0]);
        const auto rest = static_cast<double>(total_weight_ - left[1]);
        if (sum <= 0.0 || rest_sum <= 0.0) return -std::numeric_limits<double>::infinity();
        const double gain =
            sum * exact_log(sum / own / mean_) + rest_sum * exact_log(rest_sum / rest / mean_);
        return std::max(gain, 0.0) * rows_.number_scale;
    }

    bool same_mean(const Sum& a, const Sum& b) const {
        if (a.weight == b.weight) return a.number == b.number;
        return static_cast<double>(a.number) / static_cast<double>(a.weight) ==
               static_cast<double>(b.number) / static_cast<double>(b.weight);
    }
    double unit() const { return rows_.number_scale * rows_.number_scale / rows_.weight_scale; }

    const ForestRows& rows_;
    std::vector<Sum> here_;  ///< sums of the node's rows, one each
    Sum first_;
    int n_different_ = 0;            ///< targets seen in the node: none, one, several
    std::int64_t total_number_ = 0;  ///< of the node that gains are about
    std::int64_t total_weight_ = 0;
    double all_ = 0.0;
    double mean_ = 0.0;
    double scale_ = 0.0;
};

}  // namespace spinney
