#include "native/model/sliced_forest.hpp"

#include <algorithm>

#include "native/base/isa.hpp"

namespace spinney {

SliceKernels slice_kernels() {
#if defined(__x86_64__) && defined(__GNUC__)
    return {pick<SliceKernel>(find_leaves_portable, find_leaves_avx2, nullptr),
            pick<AddLeavesKernel>(add_leaves_portable, add_leaves_avx2, add_leaves_avx512)};
#else
    return {find_leaves_portable, add_leaves_portable};
#endif
}

bool SlicedForest::fits(const ForestArrays& forest) {
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        const std::int64_t n_nodes = forest.tree_start[tree + 1] - forest.tree_start[tree];
        if (n_nodes / 2 + 1 > static_cast<std::int64_t>(kMostSlicedLeaves)) return false;
    }
    return true;
}

SlicedForest::SlicedForest(const ForestArrays& forest)
    : columns_(forest), value_width_(forest.value_width) {
    trees_.reserve(forest.n_trees());
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) add_tree(forest, tree);
}

void SlicedForest::add_tree(const ForestArrays& forest, std::size_t tree) {
    const auto first = static_cast<std::size_t>(forest.tree_start[tree]);
    const auto last = static_cast<std::size_t>(forest.tree_start[tree + 1]);
    Tree added{nodes_.size(), 0, sets_.size(), 0, leaf_nodes_.size(), 0};
    std::vector<std::uint8_t> leaves_before(last - first);  // the number of the next leaf there
    int n_leaves = 0;
    for (std::size_t node = first; node < last; ++node) {
        leaves_before[node - first] = static_cast<std::uint8_t>(n_leaves);
        if (forest.feature[node] >= 0) continue;
        leaf_nodes_.push_back(static_cast<std::int32_t>(node));
        ++n_leaves;
    }
    for (std::size_t node = first; node < last; ++node) {
        if (forest.feature[node] < 0) continue;
        const auto right = static_cast<std::size_t>(forest.right[node]);
        // Answers stand behind the columns, those of each tree in the same place.
        const std::size_t answers = columns_.n_columns() + (sets_.size() - added.first_set);
        const ByteQuestion question = ask(forest, node, static_cast<std::uint32_t>(answers));
        nodes_.push_back(
            {question.column, question.limit, leaves_before[node - first], leaves_before[right]});
    }
    added.n_nodes = nodes_.size() - added.first_node;
    added.n_sets = sets_.size() - added.first_set;
    added.n_leaves = leaf_nodes_.size() - added.first_leaf;
    most_sets_ = std::max(most_sets_, added.n_sets);
    for (std::size_t k = 0; k < value_width_; ++k) {
        for (std::size_t leaf = added.first_leaf; leaf < leaf_nodes_.size(); ++leaf) {
            const auto node = static_cast<std::size_t>(leaf_nodes_[leaf]);
            leaf_values_.push_back(forest.tree_weight[tree] *
                                   forest.values[node * value_width_ + k]);
        }
    }
    trees_.push_back(added);
}

ByteQuestion SlicedForest::ask(const ForestArrays& forest, std::size_t node,
                               std::uint32_t answers) {
    const std::int32_t feature = forest.feature[node];
    const bool missing_left = forest.missing_left[node] != 0;
    if (forest.category_set[node] < 0) {
        return columns_.question(feature, forest.threshold[node], missing_left);
    }
    SlicedSet set{columns_.bins_of(feature), answers, {}};
    const std::size_t first =
        static_cast<std::size_t>(forest.category_set[node]) * kCategorySetBytes;
    for (std::size_t byte = 0; byte < kCategorySetBytes; ++byte) {
        set.goes_right[byte] = static_cast<std::uint8_t>(~forest.category_sets[first + byte]);
    }
    std::uint8_t& last = set.goes_right[kCategorySetBytes - 1];  // its highest bit: missing
    last = static_cast<std::uint8_t>((last & 0x7FU) | (missing_left ? 0U : 0x80U));
    sets_.push_back(set);
    return {answers, 1};
}

SliceTask SlicedForest::task(std::size_t tree, std::int8_t* bytes, std::size_t n_slices,
                             std::uint8_t* leaves) const {
    const Tree& chosen = trees_[tree];
    return {sets_.data() + chosen.first_set,
            chosen.n_sets,
            nodes_.data() + chosen.first_node,
            chosen.n_nodes,
            bytes,
            n_bytes(),
            n_slices,
            leaves};
}

std::span<const std::int32_t> SlicedForest::leaf_nodes(std::size_t tree) const {
    return std::span(leaf_nodes_).subspan(trees_[tree].first_leaf, trees_[tree].n_leaves);
}

}  // namespace spinney
