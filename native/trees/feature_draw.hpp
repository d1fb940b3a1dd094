/// Which features a node chooses from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/trees/settings.hpp"

namespace spinney {

/// The features node number `node` may split on, increasing: all, or settings.max_features drawn
/// without replacement, as a function of the seed and the number alone.
std::vector<std::uint32_t> draw_features(std::size_t n_features, const TreeSettings& settings,
                                         std::int32_t node);

}  // namespace spinney
