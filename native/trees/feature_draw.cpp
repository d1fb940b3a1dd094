#include "native/trees/feature_draw.hpp"

#include <algorithm>
#include <numeric>

#include "native/base/random.hpp"

namespace spinney {

std::vector<std::uint32_t> draw_features(std::size_t n_features, const TreeSettings& settings,
                                         std::int32_t node) {
    std::vector<std::uint32_t> features(n_features);
    std::iota(features.begin(), features.end(), 0U);
    const auto n_drawn = static_cast<std::size_t>(settings.max_features);
    if (n_drawn == 0 || n_drawn >= n_features) return features;
    const std::uint64_t node_seed =
        random_bits(settings.seed, Stream::kFeatures, static_cast<std::uint64_t>(node));
    // The features with the smallest draws: every subset is equally likely.
    const auto comes_first = [node_seed](std::uint32_t a, std::uint32_t b) {
        const std::uint64_t draw_a = random_bits(node_seed, Stream::kFeatures, a);
        const std::uint64_t draw_b = random_bits(node_seed, Stream::kFeatures, b);
        return draw_a != draw_b ? draw_a < draw_b : a < b;
    };
    const auto last = features.begin() + static_cast<std::ptrdiff_t>(n_drawn);
    std::nth_element(features.begin(), last, features.end(), comes_first);
    features.erase(last, features.end());
    std::sort(features.begin(), features.end());
    return features;
}

}  // namespace spinney
