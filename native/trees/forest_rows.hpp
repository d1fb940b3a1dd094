/// What trees of a forest are grown for: the targets of rows, how often a tree counts each row, and
/// how a node is judged by the sums of its rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

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
    kPoisson,   ///< half the Poisson deviance
    kAbsolute,  ///< absolute error; values are medians
};

/// The rows of a table as all trees share them. Integers on grids, so that the sum over any rows,
/// repeated as often as a tree draws them, is exact and below 2^62.
struct ForestRows {
    std::size_t n_rows = 0;
    std::size_t n_outputs = 1;  ///< classes of all labels, or numbers per row
    /// Row-major n_rows * n_labels: the class of each label; empty: targets are numbers.
    std::span<const std::uint32_t> classes;
    std::span<const std::uint32_t> label_starts;  ///< first output of each label, then n_outputs
    std::span<const std::int64_t> numbers;        ///< row-major n_rows * n_outputs, weighted
    std::span<const std::int64_t> weights;        ///< by row, at least 1; empty: one each
    std::span<const double> centre;  ///< by output: what was subtracted from the numbers
    double number_scale = 1.0;       ///< what a unit of the numbers is worth, where units is 1
    /// By output, a power of two up to 1: what a unit of its numbers is worth beside that of the
    /// largest numbers. All 1 for absolute error.
    std::span<const double> units;
    double weight_scale = 1.0;
    NodeCriterion criterion = NodeCriterion::kGini;
    /// Row-major n_rows * n_outputs, for absolute error: what values are chosen from.
    std::span<const double> targets;
    /// Weights are repetitions, which nodes count; and numbers are exact: rows of the same target
    /// have the same number per weight. For absolute error they are their own units, too.
    bool whole = false;

    std::size_t n_labels() const { return classes.empty() ? 0 : label_starts.size() - 1; }
    std::int64_t weight(std::uint32_t row) const { return weights.empty() ? 1 : weights[row]; }

    /// How many rows the rows of a node count as; weight: of them all.
    double repetitions(std::size_t n_rows, double weight) const {
        return whole ? weight : static_cast<double>(n_rows);
    }

    /// Whether two rows have the same number, so that nothing is gained by parting them. Products
    /// of weights that are not whole were rounded once, and so were these weights: what differs by
    /// that alone is the same.
    bool same_number(std::uint32_t a, std::uint32_t b, std::size_t output) const {
        const std::int64_t number_a = numbers[a * n_outputs + output];
        const std::int64_t number_b = numbers[b * n_outputs + output];
        if (weight(a) == weight(b)) return number_a == number_b;
        if (whole) return same_ratio(number_a, weight(a), number_b, weight(b));
        constexpr double kRounding = 0x1p-50;
        const auto per_a = static_cast<double>(number_a) / static_cast<double>(weight(a));
        const auto per_b = static_cast<double>(number_b) / static_cast<double>(weight(b));
        const double larger = std::max(std::abs(per_a), std::abs(per_b));
        const double lighter = static_cast<double>(std::min(weight(a), weight(b)));
        return std::abs(per_a - per_b) <= (1.0 + larger) / lighter + kRounding * larger;
    }

    /// Whether a / b is c / d; b and d are positive. Their products may leave 64 bits: Euclid.
    static bool same_ratio(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
        while (a / b == c / d) {
            a %= b;
            c %= d;
            if (a == 0 || c == 0) return a == c;
            std::swap(a, b);
            std::swap(c, d);
        }
        return false;
    }
};

/// A row in a tree: its number below, and 32 bits above that are the target's own (`mark`).
using TreeRow = std::uint64_t;

constexpr std::uint32_t row_of(TreeRow item) { return static_cast<std::uint32_t>(item); }
constexpr std::uint32_t mark_of(TreeRow item) { return static_cast<std::uint32_t>(item >> 32); }

}  // namespace spinney
