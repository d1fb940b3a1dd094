#include "native/trees/grown_tree.hpp"

namespace spinney {

void GrownTree::append(const Split* split) {
    const bool by_category = split != nullptr && split->is_categorical;
    feature.push_back(split != nullptr ? split->feature : -1);
    bin.push_back(split != nullptr && !by_category ? split->bin : -1);
    right.push_back(-1);
    missing_left.push_back(split != nullptr && split->missing_left ? 1 : 0);
    category_set.push_back(
        by_category ? static_cast<std::int32_t>(category_sets.size() / kCategorySetBytes) : -1);
    if (by_category) {
        category_sets.insert(category_sets.end(), split->left_bins.begin(), split->left_bins.end());
    }
}

}  // namespace spinney
