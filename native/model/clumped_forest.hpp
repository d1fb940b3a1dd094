/// A forest of deep trees in a form that asks seven questions at a time: the keys of a row lie in
/// vector registers, and one permutation and one comparison answer a clump of neighbouring nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/base/large_pages.hpp"
#include "native/data/columns.hpp"
#include "native/model/clump_shapes.hpp"
#include "native/model/forest.hpp"

namespace spinney {

/// Levels of a tree that many rows pass side by side, before each goes its own way.
inline constexpr std::size_t kCrownLevels = 5;
inline constexpr std::size_t kCrownExits = std::size_t{1} << kCrownLevels;
/// Rows that pass a crown side by side.
inline constexpr std::size_t kCrownRows = 32;
/// Rows that pass a tree before the next one does, at most: their keys and a tree fit the second
/// cache.
inline constexpr std::size_t kClumpedRows = 4096;
/// Features that forests of clumps ask about, at most: a slot has six bits.
inline constexpr std::size_t kMostClumpSlots = 64;
/// Keys of a row fill vectors of this many.
inline constexpr std::size_t kKeysTogether = 16;

/// Numbers as keys, unsigned and in the order of the numbers; that of a missing value is above all.
using RowKey = std::uint32_t;
inline constexpr RowKey kMissingKey = UINT32_MAX;

/// Where a row goes: 64 times the number of a clump, or of what a leaf adds with this bit.
/// Six bits are free.
inline constexpr std::uint32_t kClumpLeaf = std::uint32_t{1} << 31;
inline constexpr std::uint32_t kSlotBits = 63;

/// Up to seven questions that hang together, chosen by how many training rows come to them; in the
/// places that are left nobody goes right. A key above its limit goes right.
struct alignas(64) Clump {
    RowKey limits[kClumpQuestions];
    std::uint16_t first_exit;          ///< of its shape, in kClumpExitsByAnswers
    std::uint8_t missing_left;         ///< a bit for each question
    std::uint8_t unused;               ///< together with the limits, 32 bytes
    std::uint32_t exits[kClumpExits];  ///< where to go; in the lowest bits the slot of question i
};
static_assert(sizeof(Clump) == 64);

/// The first levels of a tree: question q >= 1 has those of its children at 2 q and 2 q + 1.
struct Crown {
    RowKey limits[kCrownExits];
    RowKey not_above[kCrownExits];       ///< kMissingKey: missing goes left; 0: right
    std::uint32_t columns[kCrownExits];  ///< bytes from the first column to that of the question
    std::uint32_t exits[kCrownExits];
};

/// What finds leaves of rows in one tree. n_rows: a multiple of kCrownRows; those that do not exist
/// have keys. Buffers are aligned to 64 bytes.
struct ClumpTask {
    const Crown* crown;
    const Clump* clumps;
    const Clump* next;  ///< of the tree that comes next, n_next of them
    std::size_t n_next;
    const std::uint8_t* exits_by_answers;
    const RowKey* columns;  ///< of 32 rows: slot after slot; then the next 32 rows
    const RowKey* rows;     ///< keys of a row, n_vectors * 16 of them; then the next row
    std::size_t n_slots;
    std::size_t n_vectors;  ///< 1, 2 or 4
    std::size_t n_rows;
    bool any_missing;
    std::uint32_t* waiting;  ///< room for a number per row
    std::uint32_t* leaves;   ///< what is found: kClumpLeaf and 64 times the number of a product
};

using ClumpKernel = void(const ClumpTask& task);
ClumpKernel find_clumped_portable, find_clumped_avx512;

/// That of the active instruction set.
ClumpKernel* clump_kernel();
/// Whether the active instruction set has a kernel that is faster than walking.
bool has_clump_vectors();

/// A cache line of keys.
struct alignas(64) KeyLine {
    RowKey keys[kKeysTogether];
};

/// Keys of some rows, and room to find their leaves.
struct ClumpRows {
    bool any_missing = false;
    std::vector<KeyLine> columns;
    std::vector<KeyLine> rows;
    std::vector<std::uint32_t> waiting;
    std::vector<std::uint32_t> leaves;
};

class ClumpedForest {
  public:
    /// The forest must fit: see fits().
    ClumpedForest(const ForestArrays& forest, int n_threads);

    /// Whether it asks about numbers only, and about some features but few enough. O(nodes).
    static bool fits(const ForestArrays& forest);

    std::size_t n_trees() const { return trees_.size(); }

    /// Whether doubles find their leaves in a tree, and not only floats: they do if its thresholds
    /// are floats, for then a double and the next float that is not below it answer the same.
    bool takes_doubles(std::size_t tree) const { return trees_[tree].takes_doubles; }

    /// Rows first + i, i < n.
    void read(const Columns& columns, std::size_t first, std::size_t n, ClumpRows& rows) const;

    /// Finds the leaves that rows reach in a tree, in rows.leaves.
    void find(std::size_t tree, ClumpRows& rows) const;

    /// weight * value, all outputs, of the products of a tree.
    const double* values(std::size_t tree) const { return trees_[tree].values.data(); }
    std::size_t n_products(std::size_t tree) const {
        return trees_[tree].values.size() / value_width_;
    }
    /// The same output by output, of a tree with few products.
    const double* values_by_output(std::size_t tree) const {
        return trees_[tree].values_by_output.data();
    }
    /// So many that a byte tells them apart.
    static constexpr std::size_t kFewProducts = 256;
    /// Which of them a leaf that was found adds.
    static std::size_t product_of(std::uint32_t leaf) {
        return (leaf & ~kClumpLeaf) / sizeof(Clump);
    }

  private:
    struct Tree {
        Crown crown;
        std::size_t first_clump = 0;
        std::size_t n_clumps = 0;
        std::vector<double> values;
        std::vector<double> values_by_output;  ///< empty if there are many
        bool takes_doubles = true;
    };
    class TreeMaker;

    std::vector<Tree> trees_;
    UnsetVector<Clump> clumps_;          ///< of all trees
    std::vector<std::size_t> features_;  ///< by slot
    std::vector<std::uint8_t> slots_;    ///< by feature
    std::size_t value_width_;
    std::size_t n_vectors_ = 1;
};

}  // namespace spinney
