#include "native/trees/tree_store.hpp"

#include <algorithm>
#include <utility>

#include "native/trees/split.hpp"

namespace spinney {
namespace {

/// Calls with each array of a tree and the same of the forest.
template <class Use>
void each_array(const ForestTree& tree, GrownForest& forest, Use use) {
    use(tree.nodes.feature, forest.nodes.feature);
    use(tree.nodes.right, forest.nodes.right);
    use(tree.nodes.missing_left, forest.nodes.missing_left);
    use(tree.nodes.category_set, forest.nodes.category_set);
    use(tree.nodes.category_sets, forest.nodes.category_sets);
    use(tree.nodes.values, forest.nodes.values);
    use(tree.nodes.count, forest.nodes.count);
    use(tree.nodes.weight, forest.nodes.weight);
    use(tree.nodes.gain, forest.nodes.gain);
    use(tree.threshold, forest.threshold);
}

}  // namespace

void TreeStore::add(const ForestTree& tree, std::size_t number) {
    const std::lock_guard guard(lock_);
    const auto n_there = [this] { return forest_.tree_start.size() - 1; };
    if (number != n_there()) {
        ForestTree& copy = waiting_[number];
        if (!spare_.empty()) {
            copy = std::move(spare_.back());
            spare_.pop_back();
        }
        copy = tree;
        return;
    }
    put(tree);
    while (!waiting_.empty() && waiting_.begin()->first == n_there()) {
        auto next = waiting_.extract(waiting_.begin());
        put(next.mapped());
        spare_.push_back(std::move(next.mapped()));
    }
}

void TreeStore::make_room(const ForestTree& tree) {
    const std::size_t n_more = n_trees_ - 1;
    each_array(tree, forest_, [n_more](const auto& own, auto& all) {
        all.reserve(own.size() + n_more * (own.size() + own.size() / 16));
    });
}

void TreeStore::put(const ForestTree& tree) {
    if (forest_.tree_start.size() == 1) make_room(tree);
    const std::size_t first = forest_.nodes.category_set.size();
    each_array(tree, forest_,
               [](const auto& own, auto& all) { all.insert(all.end(), own.begin(), own.end()); });
    if (!tree.nodes.category_sets.empty()) {
        for (std::size_t i = first; i < forest_.nodes.category_set.size(); ++i) {
            std::int32_t& set = forest_.nodes.category_set[i];
            set += set >= 0 ? n_sets_ : 0;
        }
        n_sets_ += static_cast<std::int32_t>(tree.nodes.category_sets.size() / kCategorySetBytes);
    }
    forest_.tree_start.push_back(forest_.tree_start.back() +
                                 static_cast<std::int64_t>(tree.n_nodes()));
}

}  // namespace spinney
