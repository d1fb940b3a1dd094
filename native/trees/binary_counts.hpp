/// Nodes of two classes whose rows count whole times.
#pragma once

#include <array>

#include "native/trees/cut_gains.hpp"
#include "native/trees/forest_rows.hpp"

namespace spinney {

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

    static constexpr bool kPlaces = false;  ///< whether payloads are places of rows
    static constexpr bool kVectors = true;  ///< whether it has a Prefix

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
        *cell += widened(payload) & -static_cast<std::int64_t>(counts);  // a mask, not a branch
    }

    static bool is_pure(const std::int64_t* total) {
        return second(*total) == 0 || second(*total) == count(*total);
    }
    /// Whether no split of the node can gain more: it separates the classes.
    bool is_perfect(double gain, std::size_t /*n_rows*/) const { return gain >= most_gain_; }
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
        node_ = {static_cast<double>(second(*total)), static_cast<double>(count(*total))};
        scale_ = 2.0 / node_.all;
        const std::int64_t first = count(*total) - second(*total);
        most_gain_ = node_.gain(static_cast<std::uint64_t>(first)) * scale_;
    }
    [[gnu::always_inline]] double gain(const std::int64_t* left) const {
        return node_.gain(static_cast<std::uint64_t>(*left)) * scale_;
    }

    /// What gains depend on besides the counts on the left, and what they are multiplied by.
    const BinaryNode& node() const { return node_; }
    double scale() const { return scale_; }

    /// Whether the sums of a node's rows, of all or some, fit two counts of 16 bits.
    static bool is_packed(const std::int64_t* total) { return count(*total) < (1 << 16); }
    /// Two counts of 16 bits as two of 32.
    static std::int64_t widened(std::uint32_t payload) {
        return static_cast<std::int64_t>(payload & 0xFFFFU) |
               static_cast<std::int64_t>(payload >> 16) << 32;
    }

    /// Sums of sorted rows up to each, for gains of many cuts at a time.
    class Prefix {
      public:
        explicit Prefix(std::size_t most_rows)
            : counts_(most_rows + kCutPadding), gains_(most_rows + kCutPadding) {}

        template <class PayloadAt>
        void fill(const BinaryCounts& /*target*/, std::size_t n, PayloadAt payload_at) {
            std::uint64_t sum = 0;
            std::uint64_t* counts = counts_.data();
            for (std::size_t i = 0; i < n; ++i) {
                sum += static_cast<std::uint64_t>(widened(payload_at(i)));
                counts[i] = sum;
            }
        }
        double weight(const BinaryCounts& /*target*/, std::size_t row) const {
            return static_cast<double>(counts_[row] & 0xFFFFFFFFU);
        }
        Sums sums(std::size_t row) const { return {static_cast<std::int64_t>(counts_[row])}; }
        BestRow best(const BinaryCounts& target, const std::uint32_t* keys, int key_shift,
                     std::size_t first, std::size_t last, double /*bar*/) {
            BestRow best =
                kernel_(counts_.data(), keys, key_shift, first, last, target.node_, gains_.data());
            best.gain *= target.scale_;
            return best;
        }

      private:
        BestBinaryRow* kernel_ = SPINNEY_CUT_KERNEL(best_binary_row);
        std::vector<std::uint64_t> counts_;
        std::vector<double> gains_;
    };

  private:
    static std::int64_t count(std::int64_t sum) { return sum & 0xFFFFFFFF; }
    static std::int64_t second(std::int64_t sum) { return sum >> 32; }

    const ForestRows& rows_;
    BinaryNode node_;
    double scale_ = 0.0;
    double most_gain_ = 0.0;
};

}  // namespace spinney
