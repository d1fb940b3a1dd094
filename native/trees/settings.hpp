/// How one tree may grow. Validated by spinney/trees/settings.py; trusted here.
#pragma once

#include <cstdint>

namespace spinney {

struct TreeSettings {
    std::int32_t max_leaf_nodes = 0;  ///< 0: no limit, and the tree grows depth first
    std::int32_t max_depth = 0;       ///< 0: no limit
    double min_samples_split = 2.0;   ///< weight a node must have to be split
    double min_samples_leaf = 1.0;    ///< weight each child must keep
    double min_gain = 0.0;            ///< gain below which a node stays a leaf
    std::int32_t max_features = 0;    ///< features each node chooses from; 0: all
    std::uint64_t seed = 0;           ///< decides which
};

}  // namespace spinney
