/// A forest of deep trees in a form that walkers pass in a few instructions per step: numbers are
/// keys, whole numbers in their order, categories are keys that find a bit in a set, and a node is
/// eight bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "native/data/columns.hpp"
#include "native/model/forest.hpp"

namespace spinney {

/// Rows that pass a tree before the next one does, at most: it is fetched once for all of them.
inline constexpr std::size_t kKeyedRows = 8192;
/// Rows that are not divided among threads.
inline constexpr std::size_t kFewKeyedRows = 256;
/// Rows whose keys stand together, and which begin to walk together: the steps of one overlap the
/// waits of the others.
inline constexpr std::size_t kWalkingRows = 16;

/// Keys of up to kKeyedRows rows, and room to find their leaves.
template <class Key>
struct KeyedRows {
    std::size_t n = 0;
    std::vector<Key> keys;  ///< of kWalkingRows rows and a slot, then the next slot; then more rows
    std::vector<std::uint32_t> waiting;
    std::vector<std::uint32_t> places;  ///< what find() gives: a place for each row
};

/// Key is a whole number as wide as the numbers of the table; Index is as narrow as the largest
/// tree allows.
template <class Key, class Index>
class KeyedForest {
  public:
    KeyedForest(const ForestArrays& forest, int n_threads);

    std::size_t n_trees() const { return trees_.size(); }

    /// Rows first + i, i < n <= kKeyedRows.
    KeyedRows<Key> read(const Columns& columns, std::size_t first, std::size_t n) const;

    /// Places of the leaves that rows reach in a tree.
    void find(std::size_t tree, KeyedRows<Key>& rows) const;

    /// weight * value of a leaf, all outputs.
    const double* values(std::size_t tree, std::uint32_t place) const {
        const Tree& chosen = trees_[tree];
        return &chosen.values[static_cast<std::size_t>(chosen.nodes[place].key) * value_width_];
    }
    /// Number of a leaf within its tree.
    std::int32_t leaf_id(std::size_t tree, std::uint32_t place) const {
        return trees_[tree].ids[place];
    }

  private:
    /// Children stand side by side: a walker goes on to 2 * pair, or the place behind it if its key
    /// in the slot is above `key`; of a category, if the bit of its key is set, counted from byte
    /// `key` of the tree's sets. Leaves lead to themselves; their key says where their value is.
    struct Node {
        Key key;
        Index slot;  ///< times kWalkingRows
        Index pair;
    };

    struct Tree {
        std::vector<Node> nodes;
        std::vector<std::uint8_t> sets;  ///< of bins that go right; one byte more than there are
        std::vector<std::int32_t> ids;
        std::vector<double> values;  ///< of different leaves; equal ones share a row
    };

    /// A tree as walkers see it.
    struct Nodes {
        const Node* nodes;
        const std::uint8_t* sets;
        std::size_t first_set;  ///< slots of categories begin here, times kWalkingRows
    };

    /// What a question is about. The first two are about nothing: no key is above any, or every
    /// one; with them leaves stay where they are. Slots of categories stand behind all others.
    struct Slot {
        std::size_t feature;
        bool missing_left;
        std::size_t n_bins = 0;  ///< of a category; the key of a missing one is behind the last
    };
    static constexpr std::size_t kNever = 0, kAlways = 1, kFirstSlot = 2;

    /// Steps of all rows, and then of those that have not arrived, before it is seen who has.
    static constexpr std::size_t kFirstSteps = 12, kMoreSteps = 6;

    std::size_t n_keys() const { return slots_.size() * kWalkingRows; }
    static bool is_leaf(const Node& node) { return node.slot < kFirstSlot * kWalkingRows; }
    template <bool kHasSets, std::size_t kRow>
    static std::size_t next(const Nodes& tree, std::size_t at, const Key* keys);
    template <bool kHasSets>
    void find(const Nodes& tree, KeyedRows<Key>& rows) const;
    template <bool kHasSets>
    std::size_t set_out(const Nodes& tree, KeyedRows<Key>& rows) const;
    template <bool kHasSets>
    std::size_t advance(const Nodes& tree, KeyedRows<Key>& rows, std::size_t n_waiting) const;
    void find_slots(const ForestArrays& forest);
    void add_tree(const ForestArrays& forest, std::size_t tree);
    Node inner_node(const ForestArrays& forest, std::size_t node, std::size_t pair, Tree& made);
    Key add_set(const ForestArrays& forest, std::size_t node, std::size_t n_bins, Tree& made);
    Key key_of(const Slot& slot, const ColumnView& column, std::size_t row) const;
    static Node leaf_node(std::uint32_t product, std::size_t place);

    const ForestArrays& forest_;  ///< for the bins of categories
    std::vector<Tree> trees_;
    std::vector<Slot> slots_;
    std::vector<std::size_t> slot_numbers_;
    std::size_t first_set_ = 0;  ///< the first slot of a category, or behind the last slot
    std::size_t value_width_;
};

/// What a forest of deep trees needs: not too many nodes, sets or features.
bool has_keys(const ForestArrays& forest);
/// Whether two bytes count the nodes of every tree, and the features.
bool has_small_trees(const ForestArrays& forest);

extern template class KeyedForest<std::uint32_t, std::uint16_t>;
extern template class KeyedForest<std::uint32_t, std::uint32_t>;
extern template class KeyedForest<std::uint64_t, std::uint32_t>;

}  // namespace spinney
