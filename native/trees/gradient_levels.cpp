// Symmetric trees: level by level, one split for all nodes of a level.
#include <algorithm>

#include "native/base/parallel.hpp"
#include "native/base/random.hpp"
#include "native/trees/gradient_grower.hpp"
#include "native/trees/gradient_node.hpp"

namespace spinney {

/// A node that cannot make the split of its level stays whole, and is asked the next one: what a
/// tree whose leaves are numbered by the answers to all questions would say, both answers to this
/// one having the same value.
void GradientGrower::grow_levels() {
    std::vector<std::int32_t> level = {0};         // left to right
    std::vector<std::vector<std::int32_t>> above;  // nodes that were split, level by level
    std::vector<double> gains;                     // of each of these levels
    Node asked;                                    // what all nodes of a level may be split on
    for (std::int32_t depth = 0; depth < settings_.max_depth; ++depth) {
        std::erase_if(level, [this](std::int32_t id) {
            return nodes_[static_cast<std::size_t>(id)].histogram == nullptr;
        });
        if (level.empty()) break;
        const LevelSplit split = choose_level_split(level, asked, depth);
        if (!split.exists()) break;
        asked.used.push_back(static_cast<std::uint32_t>(split.feature));
        std::vector<std::int32_t> next =
            split_level(level, split, depth + 1 == settings_.max_depth);
        std::erase_if(level, [this](std::int32_t id) {
            return nodes_[static_cast<std::size_t>(id)].left < 0;
        });
        above.push_back(std::move(level));
        gains.push_back(split.gain);
        level = std::move(next);
    }
    while (!gains.empty() && gains.back() < settings_.prune_gain) {
        for (const std::int32_t id : above.back()) take_back(nodes_[static_cast<std::size_t>(id)]);
        above.pop_back();
        gains.pop_back();
    }
}

LevelSplit GradientGrower::choose_level_split(const std::vector<std::int32_t>& level, Node& asked,
                                              std::int32_t depth) const {
    allow_features(asked, depth);
    std::vector<std::uint32_t> features;
    for (const std::uint32_t feature : tree_features_) {
        if (asked.allows(feature)) features.push_back(feature);
    }
    std::vector<SplitTask> nodes;
    for (const std::int32_t id : level) {
        nodes.push_back(task_of(nodes_[static_cast<std::size_t>(id)]));
    }
    const std::uint64_t key =
        random_bits(nodes_[0].key, Stream::kNodes, static_cast<std::uint64_t>(depth));
    std::vector<LevelSplit> of_feature(features.size());
    parallel_for(n_threads_, features.size(),
                 [&](std::size_t i) { search_level(nodes, key, features[i], of_feature[i]); });
    LevelSplit best;
    for (const LevelSplit& split : of_feature) {
        if (split.exists() && split.gain > best.gain) best = split;
    }
    return best;
}

/// Gives the nodes of the next level.
std::vector<std::int32_t> GradientGrower::split_level(const std::vector<std::int32_t>& level,
                                                      const LevelSplit& split, bool is_last) {
    std::vector<std::int32_t> next;
    for (const std::int32_t id : level) {
        Node& node = nodes_[static_cast<std::size_t>(id)];
        node.split = split_of_node(task_of(node), split);
        if (node.split.exists()) {
            split_node(id, is_last);
            const Node& parent = nodes_[static_cast<std::size_t>(id)];
            next.insert(next.end(), {parent.left, parent.right});
        } else {
            next.push_back(id);
        }
    }
    return next;
}

}  // namespace spinney
