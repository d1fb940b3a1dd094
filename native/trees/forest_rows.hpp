/// What trees of a forest are grown for: the targets of rows, how often a tree counts each row, and
/// how a node is judged by the sums of its rows.
#pragma once

#include <cstdint>
#include <span>
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
    /// For absolute error: weights are whole, and every number is a multiple of its weight.
    bool whole = false;

    std::size_t n_labels() const { return classes.empty() ? 0 : label_starts.size() - 1; }
    std::int64_t weight(std::uint32_t row) const { return weights.empty() ? 1 : weights[row]; }
};

/// A row in a tree: its number below, and 32 bits above that are the target's own (`mark`).
using TreeRow = std::uint64_t;

constexpr std::uint32_t row_of(TreeRow item) { return static_cast<std::uint32_t>(item); }
constexpr std::uint32_t mark_of(TreeRow item) { return static_cast<std::uint32_t>(item >> 32); }

}  // namespace spinney
