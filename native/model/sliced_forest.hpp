/// A forest of small trees in a form that many rows pass at once: every question is one comparison
/// of bytes for all of them, whatever way each row takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "native/model/byte_columns.hpp"
#include "native/model/forest.hpp"

namespace spinney {

/// The most leaves of a tree: a leaf is a byte.
inline constexpr std::size_t kMostSlicedLeaves = 256;

/// An inner node. Leaves are numbered from left to right. A row that comes to the node has so far
/// the leftmost of its leaves, `from`; if it goes right, that becomes the leftmost one on the
/// right, `to`. In preorder nothing else has that number: rows elsewhere are before or behind.
struct SlicedNode {
    std::uint32_t column;
    std::int8_t limit;
    std::uint8_t from;
    std::uint8_t to;
};

/// A question about a category: bit b says whether bin b goes right. Its answers, 0 or 1, become
/// the column of one node.
struct SlicedSet {
    std::uint32_t column;
    std::uint32_t answers;
    std::uint8_t goes_right[kCategorySetBytes];
};

/// What finds the leaves of the rows of some slices, of kByteRows rows each, in one tree; those of
/// rows that do not exist mean nothing. Buffers are aligned to 64 bytes.
struct SliceTask {
    const SlicedSet* sets;
    std::size_t n_sets;
    const SlicedNode* nodes;
    std::size_t n_nodes;
    std::int8_t* bytes;      ///< of a slice: columns, then room for the answers of sets
    std::size_t slice_size;  ///< bytes from one slice to the next
    std::size_t n_slices;
    std::uint8_t* leaves;  ///< kByteRows per slice
};

using SliceKernel = void(const SliceTask& task);
SliceKernel find_leaves_portable, find_leaves_avx2;

/// scores[s * stride + i] += values[leaves[s * kByteRows + i]] for the kByteRows rows of slices s.
struct AddTask {
    const double* values;
    std::size_t n_leaves;  ///< values there are
    const std::uint8_t* leaves;
    std::size_t n_slices;
    double* scores;
    std::size_t stride;
};

using AddLeavesKernel = void(const AddTask& task);
AddLeavesKernel add_leaves_portable, add_leaves_avx2, add_leaves_avx512;

struct SliceKernels {
    SliceKernel* find_leaves;
    AddLeavesKernel* add_leaves;
};

/// Those of the active instruction set. AVX-512 finds leaves as AVX2 does: its comparisons end in
/// mask registers, and were measured to take 1.3 to 2 times as long (decision 12).
SliceKernels slice_kernels();

class SlicedForest {
  public:
    /// The forest must fit: see fits().
    explicit SlicedForest(const ForestArrays& forest);

    /// Whether no tree has too many leaves.
    static bool fits(const ForestArrays& forest);

    const ByteColumns& columns() const { return columns_; }
    /// Bytes that kByteRows rows take: columns and answers.
    std::size_t n_bytes() const { return (columns_.n_columns() + most_sets_) * kByteRows; }
    std::size_t n_trees() const { return trees_.size(); }

    SliceTask task(std::size_t tree, std::int8_t* bytes, std::size_t n_slices,
                   std::uint8_t* leaves) const;
    std::size_t n_leaves(std::size_t tree) const { return trees_[tree].n_leaves; }
    /// weight * value of the leaves of a tree, from left to right, output by output.
    const double* leaf_values(std::size_t tree) const {
        return leaf_values_.data() + trees_[tree].first_leaf * value_width_;
    }
    /// Positions of the leaves of a tree in the arrays of the forest, from left to right.
    std::span<const std::int32_t> leaf_nodes(std::size_t tree) const;

  private:
    struct Tree {
        std::size_t first_node, n_nodes;
        std::size_t first_set, n_sets;
        std::size_t first_leaf, n_leaves;
    };

    void add_tree(const ForestArrays& forest, std::size_t tree);
    /// The question of a node; one about categories gets its set, and `answers` as its column.
    ByteQuestion ask(const ForestArrays& forest, std::size_t node, std::uint32_t answers);

    ByteColumns columns_;
    std::vector<Tree> trees_;
    std::vector<SlicedNode> nodes_;
    std::vector<SlicedSet> sets_;
    std::vector<std::int32_t> leaf_nodes_;
    std::vector<double> leaf_values_;
    std::size_t value_width_;
    std::size_t most_sets_ = 0;  ///< of a tree
};

}  // namespace spinney
