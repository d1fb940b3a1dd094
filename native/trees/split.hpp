/// A split of a node.
#pragma once

#include <array>
#include <cstdint>

#include "native/model/forest.hpp"

namespace spinney {

struct Split {
    std::int32_t feature = -1;  ///< -1: none found
    std::int32_t bin = -1;      ///< numeric: bins up to and including this one go left
    bool is_categorical = false;
    bool missing_left = false;
    std::array<std::uint8_t, kCategorySetBytes> left_bins{};  ///< categorical: bins that go left
    double gain = 0.0;                                        ///< in integer units

    bool exists() const { return feature >= 0; }
    bool has_left(std::size_t b) const { return (left_bins[b / 8] >> (b % 8)) & 1; }
    void set_left(std::size_t b) {
        left_bins[b / 8] = static_cast<std::uint8_t>(left_bins[b / 8] | (1U << (b % 8)));
    }
    void put(std::size_t b, bool goes_left) {
        const auto bit = static_cast<std::uint8_t>(1U << (b % 8));
        left_bins[b / 8] =
            static_cast<std::uint8_t>(goes_left ? left_bins[b / 8] | bit : left_bins[b / 8] & ~bit);
    }
    bool sends_left(std::uint8_t b, std::uint8_t missing_bin) const {
        if (b == missing_bin) return missing_left;
        return is_categorical ? has_left(b) : b <= bin;
    }
};

}  // namespace spinney
