/// What leaves of a tree add to scores, once for leaves that add the same.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "native/model/forest.hpp"

namespace spinney {

/// Collects weight * value, all outputs, of the leaves of one tree.
class LeafProducts {
  public:
    LeafProducts(const ForestArrays& forest, std::size_t tree)
        : forest_(forest), weight_(forest.tree_weight[tree]), known_(kKnown, kUnknown) {}

    /// The number of the products of a leaf. One that differs in the last bit has another number;
    /// equal ones of a tree with many may have, too.
    std::uint32_t number_of(std::size_t leaf) {
        const std::size_t width = forest_.value_width;
        const double* values = &forest_.values[leaf * width];
        std::uint32_t& there = known_[hash(values)];
        if (there == kUnknown || !are(&products_[there * width], values)) {
            there = static_cast<std::uint32_t>(products_.size() / width);
            for (std::size_t k = 0; k < width; ++k) products_.push_back(weight_ * values[k]);
        }
        return there;
    }

    std::vector<double> take() { return std::move(products_); }

  private:
    /// Leaves that are asked for again are looked for in this many places.
    static constexpr std::size_t kKnown = 1 << 10;
    static constexpr std::uint32_t kUnknown = UINT32_MAX;

    std::uint64_t bits(double value) const { return std::bit_cast<std::uint64_t>(weight_ * value); }

    std::size_t hash(const double* values) const {
        std::uint64_t hash = 0;
        for (std::size_t k = 0; k < forest_.value_width; ++k) {
            hash = (hash ^ bits(values[k])) * 0x9E3779B97F4A7C15U;
            hash ^= hash >> 29;
        }
        return static_cast<std::size_t>(hash >> 20) % kKnown;
    }

    /// To the last bit: zero has a sign.
    bool are(const double* products, const double* values) const {
        for (std::size_t k = 0; k < forest_.value_width; ++k) {
            if (std::bit_cast<std::uint64_t>(products[k]) != bits(values[k])) return false;
        }
        return true;
    }

    const ForestArrays& forest_;
    double weight_;
    std::vector<std::uint32_t> known_;
    std::vector<double> products_;
};

}  // namespace spinney
