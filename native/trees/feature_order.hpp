/// In which order a node of a forest looks at features.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "native/base/random.hpp"

namespace spinney {

/// The features a tree may split on, and the drawn order of one node at a time: a function of the
/// node's key, found only as far as it is asked for.
class FeatureOrder {
  public:
    /// most: features a node looks at, 0 for all. shuffles: whether there is an order to draw where
    /// all are looked at; otherwise it is that of the table.
    FeatureOrder(std::size_t n_features, std::size_t most, bool shuffles)
        : most_(most), shuffles_(shuffles), features_(n_features) {
        std::iota(features_.begin(), features_.end(), 0U);
        count_wanted();
    }

    /// Before the first node of a tree. allowed: 1 for each feature the tree may split on.
    void allow(std::span<const std::uint8_t> allowed) {
        features_.clear();
        for (std::uint32_t f = 0; f < allowed.size(); ++f) {
            if (allowed[f] != 0) features_.push_back(f);
        }
        count_wanted();
    }

    /// Those of the tree; increasing, unless draws are to be undone.
    std::span<const std::uint32_t> features() const { return features_; }
    std::size_t size() const { return features_.size(); }
    /// How many a node looks at, if they vary.
    std::size_t n_wanted() const { return n_wanted_; }
    bool wants_all() const { return n_wanted_ == features_.size(); }

    /// Number `seen` of the node's features in drawn order; to be asked for one after the other.
    std::uint32_t drawn(std::uint64_t node_key, std::size_t seen) {
        if (shuffles_ || !wants_all()) {
            const std::size_t n_left = features_.size() - seen;
            const std::size_t other =
                seen + random_below(node_key, Stream::kFeatures, seen, n_left);
            std::swap(features_[seen], features_[other]);
            swaps_.push_back(other);
        }
        return features_[seen];
    }

    /// Puts features back to where they were: a draw depends on the node alone.
    void undo_draws() {
        while (!swaps_.empty()) {
            std::swap(features_[swaps_.size() - 1], features_[swaps_.back()]);
            swaps_.pop_back();
        }
    }

  private:
    void count_wanted() {
        n_wanted_ = most_ == 0 ? features_.size() : std::min(most_, features_.size());
    }

    std::size_t most_;
    bool shuffles_;
    std::size_t n_wanted_ = 0;
    std::vector<std::uint32_t> features_;
    std::vector<std::size_t> swaps_;
};

}  // namespace spinney
