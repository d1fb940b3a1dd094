#include "native/trees/allowed_features.hpp"

#include <algorithm>
#include <cmath>

#include "native/trees/feature_draw.hpp"

namespace spinney {
namespace {

/// A share of features, rounded up.
std::int32_t n_drawn(double share, std::size_t n_features) {
    return static_cast<std::int32_t>(std::ceil(share * static_cast<double>(n_features)));
}

}  // namespace

std::vector<std::uint32_t> features_of_tree(std::size_t n_features,
                                            const GradientTreeSettings& settings) {
    const TreeSettings drawing = {
        .max_features = n_drawn(settings.max_features_per_tree, n_features), .seed = settings.seed};
    constexpr std::int32_t kWholeTree = -1;  // no node has this number
    return draw_features(n_features, drawing, kWholeTree);
}

std::vector<std::uint8_t> features_of_node(std::size_t n_features,
                                           std::span<const std::uint32_t> tree_features,
                                           std::span<const std::uint32_t> used, std::int32_t id,
                                           const GradientTreeSettings& settings) {
    const bool draws = settings.max_features < 1.0;
    if (!draws && settings.interactions.empty()) return {};
    std::vector<std::uint8_t> allowed(n_features, settings.interactions.empty() ? 1 : 0);
    for (const auto& group : settings.interactions) {
        const auto in_group = [&group](std::uint32_t feature) {
            return std::find(group.begin(), group.end(), feature) != group.end();
        };
        if (!std::all_of(used.begin(), used.end(), in_group)) continue;
        for (const std::uint32_t feature : group) allowed[feature] = 1;
    }
    if (!draws) return allowed;
    std::vector<std::uint32_t> candidates;
    for (const std::uint32_t feature : tree_features) {
        if (allowed[feature] != 0) candidates.push_back(feature);
    }
    const TreeSettings drawing = {.max_features = n_drawn(settings.max_features, candidates.size()),
                                  .seed = settings.seed};
    allowed.assign(n_features, 0);
    for (const std::uint32_t drawn : draw_features(candidates.size(), drawing, id)) {
        allowed[candidates[drawn]] = 1;
    }
    return allowed;
}

}  // namespace spinney
