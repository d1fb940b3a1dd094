/// The nodes of a forest in a tenth of their size, as files hold them. What follows from something
/// else is not stored: children from which nodes are leaves; counts, weights, values and gains of
/// inner nodes from their children. docs/reference/file-format.md describes the arrays.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace spinney {

/// Borrowed numbers of 1, 2, 4 or 8 bytes.
struct PackedNumbers {
    const std::uint8_t* data = nullptr;
    std::size_t size = 0;
    unsigned bytes = 1;

    bool empty() const { return size == 0; }
    /// As whole numbers without a sign, of at most 4 bytes.
    std::uint32_t code(std::size_t i) const {
        if (bytes == 1) return data[i];
        if (bytes == 2) return read<std::uint16_t>(i);
        return read<std::uint32_t>(i);
    }
    /// As whole numbers with a sign, of at most 2 bytes.
    std::int32_t step(std::size_t i) const {
        return bytes == 1 ? read<std::int8_t>(i) : read<std::int16_t>(i);
    }
    /// The lowest step of the type, which is none: the number stands apart.
    std::int32_t rest_step() const { return bytes == 1 ? -128 : -32768; }
    double number(std::size_t i) const {
        return bytes == 4 ? static_cast<double>(read<float>(i)) : read<double>(i);
    }

    template <class T>
    T read(std::size_t i) const {
        T number;
        std::memcpy(&number, data + i * sizeof(T), sizeof(T));
        return number;
    }
};

/// A code that is none: the number stands apart.
inline constexpr std::uint32_t kRestCode = 255;

inline bool bit_at(std::span<const std::uint8_t> bits, std::size_t i) {
    return (bits[i / 8] >> (i % 8)) & 1;
}

/// How the value of an inner node is foretold from its children.
enum class ValueRule : std::uint8_t {
    kMean,    ///< mean by weight
    kShares,  ///< the same of shares of whole weights, which are made whole again
};

/// How the gain of an inner node is foretold.
enum class GainRule : std::uint8_t {
    kMeans,   ///< squared difference of the children's values
    kBinary,  ///< Gini impurity of two classes, whole weights
    kGini,    ///< Gini impurity of any number of classes, whole weights
};

/// Borrowed arrays. Codes of 255 (counts, weights) and the lowest step say: the next of `rest`.
struct PackedNodes {
    std::size_t n_features = 0;
    std::size_t n_sets = 0;
    std::size_t value_width = 1;
    std::span<const std::int64_t> tree_start;
    std::span<const std::uint8_t> categorical;

    std::span<const std::uint8_t> leaves;         ///< a bit per node: whether it is a leaf
    PackedNumbers feature;                        ///< codes of inner nodes
    std::span<const std::uint8_t> missing_left;   ///< a bit per inner node; empty: no
    PackedNumbers threshold;                      ///< of inner nodes: numbers, or
    PackedNumbers threshold_table;                ///< codes, if there is this table, or
    std::span<const std::uint8_t> threshold_low;  ///< upper halves, if there are these bytes
    PackedNumbers value;                          ///< codes of leaves; empty: one row each
    std::span<const double> value_table;          ///< rows of value_width numbers
    PackedNumbers count;                          ///< codes of leaves; empty: 1 each
    std::span<const std::int64_t> count_rest;
    PackedNumbers weight;  ///< codes of leaves; empty: as the counts
    std::span<const double> weight_rest;
    PackedNumbers value_steps;  ///< inner nodes: floats from the foretold value to the true one
    std::span<const double> value_rest;
    PackedNumbers gain_steps;
    std::span<const double> gain_rest;
    ValueRule value_rule = ValueRule::kMean;
    GainRule gain_rule = GainRule::kMeans;

    /// Arrays that are stored in full instead, one entry (row) per node.
    std::span<const std::int64_t> full_count;
    std::span<const double> full_weight;
    std::span<const double> full_values;
    std::span<const double> full_gain;
    bool has_count() const { return !full_count.empty(); }
    bool has_weight() const { return !full_weight.empty(); }
    bool has_values() const { return !full_values.empty(); }
    bool has_gain() const { return !full_gain.empty(); }

    /// Of an inner node.
    double threshold_of(std::size_t inner) const {
        if (!threshold_low.empty()) {
            return std::bit_cast<double>(std::uint64_t{threshold.code(inner)} << 32 |
                                         std::uint64_t{threshold_low[inner]} << 24);
        }
        if (!threshold_table.empty()) return threshold_table.number(threshold.code(inner));
        return threshold.number(inner);
    }
    bool has_narrow_thresholds() const {
        return threshold_low.empty() &&
               (threshold_table.empty() ? threshold : threshold_table).bytes == 4;
    }
    std::size_t n_trees() const { return tree_start.size() - 1; }
    std::size_t n_nodes() const { return static_cast<std::size_t>(tree_start.back()); }
    std::size_t n_inner() const { return (n_nodes() - n_trees()) / 2; }
    std::size_t n_leaves() const { return n_nodes() - n_inner(); }
};

/// Room for the arrays of model/forest.hpp. `threshold` is float or double, as in the file. Arrays
/// that are stored in full are not written.
struct UnpackedNodes {
    std::span<std::int32_t> feature;
    std::span<std::int32_t> right;
    std::span<std::uint8_t> missing_left;
    std::span<std::int32_t> category_set;
    void* threshold = nullptr;
    std::int64_t* count = nullptr;
    double* weight = nullptr;
    double* values = nullptr;
    double* gain = nullptr;
};

/// Packed nodes that were checked: whatever file they come from, unpacking cannot fail, leaves no
/// array and gives only finite numbers.
class PackedForest {
  public:
    /// Throws Failure(kInvalidModel). O(nodes), a few bytes of memory per tree.
    explicit PackedForest(const PackedNodes& nodes);

    const PackedNodes& nodes() const { return nodes_; }

    void unpack(const UnpackedNodes& into, int n_threads) const;

    /// Of the roots alone, without unpacking the nodes below them. Weights that are no whole
    /// numbers are added up in another order: the last digit may be another one.
    std::vector<std::int64_t> root_counts() const;
    std::vector<double> root_weights() const;

  private:
    /// Where the numbers of a tree begin.
    struct Place {
        std::size_t inner, leaf, set;
        std::size_t count_rest, weight_rest, value_rest, gain_rest;
    };

    void check_shape() const;
    void check_inner() const;
    void check_thresholds() const;
    void check_leaves() const;
    void check_full() const;
    void find_places();
    void unpack_shape(std::size_t tree, const UnpackedNodes& into) const;
    void unpack_counts(std::size_t tree, const UnpackedNodes& into) const;
    void unpack_weights(std::size_t tree, const UnpackedNodes& into) const;
    void unpack_values(std::size_t tree, const UnpackedNodes& into) const;

    PackedNodes nodes_;
    std::vector<Place> places_;  ///< of every tree, and behind the last
    bool has_categories_ = false;
};

}  // namespace spinney
