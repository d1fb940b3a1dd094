/// A forest in a form that a few walkers pass at once, each its own way down: for deep trees, and
/// for few rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/data/columns.hpp"
#include "native/model/forest.hpp"

namespace spinney {

/// Walkers whose steps overlap: while one waits for its node, the others walk.
inline constexpr std::size_t kWalkers = 8;

/// Nodes stand where they stand in the arrays of the forest. A row of values has a number per slot.
/// T is float for tables of float32, where thresholds are rounded down: x <= t stays the same.
template <class T>
class WalkedForest {
  public:
    explicit WalkedForest(const ForestArrays& forest);

    std::size_t n_slots() const { return slots_.size(); }

    /// Values of one row: numbers, or bins of categories; NaN for missing.
    void read(const Columns& columns, std::size_t row, T* values) const;

    /// The same of a row that is numbers already: of categories their codes, NaN for missing.
    void read(const double* row, T* values) const;

    /// Moves every walker from where it is to a leaf. at[w] is a node; rows[w] are its values.
    void walk(std::int32_t (&at)[kWalkers], const T* const (&rows)[kWalkers]) const;

  private:
    /// A walker goes on to next[x <= threshold], x its value in the slot. A leaf leads to itself.
    struct Node {
        T threshold;
        std::uint32_t slot;
        std::int32_t next[2];
    };

    /// Questions that send missing values left ask about -x instead, so that no comparison with
    /// NaN is ever true: x > t as -x <= the number before -t.
    struct Slot {
        std::size_t feature;
        bool negated;
    };

    Node make_node(std::size_t node, std::int32_t left, std::int32_t right);
    std::uint32_t slot_of(std::size_t feature, bool negated);
    template <bool kHasSets>
    bool step(std::int32_t (&at)[kWalkers], const T* const (&rows)[kWalkers]) const;
    bool in_set(std::size_t node, T bin) const;

    const ForestArrays& forest_;
    std::vector<Node> nodes_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> slot_numbers_;
    bool has_sets_ = false;
};

extern template class WalkedForest<float>;
extern template class WalkedForest<double>;

}  // namespace spinney
