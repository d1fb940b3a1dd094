#include "native/trees/tree_store.hpp"

#include <algorithm>

#include "native/base/parallel.hpp"

namespace spinney {
namespace {

/// Calls with each array of forests: its number, and a function from a tree or forest to it.
template <class Use>
void each_array(Use use) {
    use(0, [](auto& forest) -> auto& { return forest.threshold; });
    use(1, [](auto& forest) -> auto& { return forest.nodes.feature; });
    use(2, [](auto& forest) -> auto& { return forest.nodes.right; });
    use(3, [](auto& forest) -> auto& { return forest.nodes.missing_left; });
    use(4, [](auto& forest) -> auto& { return forest.nodes.category_set; });
    use(5, [](auto& forest) -> auto& { return forest.nodes.category_sets; });
    use(6, [](auto& forest) -> auto& { return forest.nodes.values; });
    use(7, [](auto& forest) -> auto& { return forest.nodes.count; });
    use(8, [](auto& forest) -> auto& { return forest.nodes.weight; });
    use(9, [](auto& forest) -> auto& { return forest.nodes.gain; });
}

std::size_t n_nodes(const ForestTree& tree) { return tree.threshold.size(); }

/// Numbers sets behind those of the trees before; sets are in the order of the nodes that use them.
void number_through(UnsetVector<std::int32_t>& category_set) {
    std::int32_t n_sets = 0;
    for (std::int32_t& set : category_set) {
        if (set >= 0) set = n_sets++;
    }
}

}  // namespace

TreeStore::Block& TreeStore::block_for(const ForestTree& tree) {
    constexpr std::size_t kMostBytes = std::size_t{1}
                                       << 26;  // each is twice the one before up to it
    if (!blocks_.empty()) {
        Block& last = *blocks_.back();
        if (last.forest.threshold.size() + n_nodes(tree) <= last.room) return last;
    }
    const std::size_t bytes = 48 * n_nodes(tree) + 8 * tree.nodes.values.size();
    const std::size_t before = blocks_.empty() ? 1 : blocks_.back()->numbers.size();
    const std::size_t n_trees = std::clamp<std::size_t>(kMostBytes / bytes, 1, 2 * before);
    blocks_.push_back(std::make_unique<Block>());
    Block& block = *blocks_.back();
    block.room = n_trees * n_nodes(tree);
    each_array([&](std::size_t k, auto array) {
        array(block.forest).reserve(n_trees * array(tree).size());
        block.starts[k] = {0};
    });
    return block;
}

void TreeStore::add(const ForestTree& tree, std::size_t number) {
    Block& block = block_for(tree);
    each_array([&](std::size_t k, auto array) {
        auto& into = array(block.forest);
        const auto& own = array(tree);
        const std::size_t begin = into.size();
        into.resize(begin + own.size());
        std::copy(own.begin(), own.end(), into.begin() + static_cast<std::ptrdiff_t>(begin));
        block.starts[k].push_back(into.size());
    });
    block.numbers.push_back(number);
}

GrownForest TreeStore::join(std::vector<TreeStore> stores, int n_threads) {
    struct Stored {
        Block* block;
        std::size_t place;
    };
    std::vector<Stored> trees;
    for (TreeStore& store : stores) {
        for (const auto& block : store.blocks_) {
            for (std::size_t place = 0; place < block->numbers.size(); ++place) {
                trees.push_back({block.get(), place});
            }
        }
    }
    std::sort(trees.begin(), trees.end(), [](const Stored& a, const Stored& b) {
        return a.block->numbers[a.place] < b.block->numbers[b.place];
    });
    GrownForest all;
    each_array([&](std::size_t k, auto array) {
        std::vector<std::size_t> begins = {0};
        for (const auto& [block, place] : trees) {
            const auto& starts = block->starts[k];
            begins.push_back(begins.back() + starts[place + 1] - starts[place]);
        }
        if (k == 0) all.tree_start.assign(begins.begin(), begins.end());
        auto& into = array(all);
        into.resize(begins.back());
        parallel_for(n_threads, trees.size(), [&](std::size_t t) {
            const auto& [block, place] = trees[t];
            const auto own = array(block->forest).data();
            const auto& starts = block->starts[k];
            std::copy(own + starts[place], own + starts[place + 1], into.data() + begins[t]);
        });
        for (const auto& [block, place] : trees) {  // one array at a time is there twice
            if (place == 0) array(block->forest) = {};
        }
    });
    if (!all.nodes.category_sets.empty()) number_through(all.nodes.category_set);
    return all;
}

}  // namespace spinney
