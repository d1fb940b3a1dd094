/// Where rows in the order of their sizes are to be cut, without sorting them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "native/base/parallel.hpp"
#include "native/resampling/derivative_draws.hpp"

namespace spinney {

/// What some rows weigh, and their sizes on a grid, times their weights.
struct SizeSums {
    std::int64_t weight = 0;
    std::int64_t size = 0;

    SizeSums& operator+=(const SizeSums& more) {
        weight += more.weight;
        size += more.size;
        return *this;
    }
};

/// Sizes of rows, none negative or NaN: as bits they have the order of whole numbers.
class SizedRows {
  public:
    SizedRows(const DrawCandidates& candidates, std::vector<float> sizes, int n_threads);

    float size(std::uint32_t row) const { return sizes_[row]; }
    std::uint32_t key(std::uint32_t row) const { return std::bit_cast<std::uint32_t>(sizes_[row]); }
    const SizeSums& total() const { return total_; }
    double step() const { return step_; }  ///< of the grid

    struct Place {
        std::uint32_t key = 0;
        SizeSums above;  ///< of rows with larger keys
        SizeSums at;     ///< of rows with this one
    };
    /// Goes down from the largest size, by bits of keys. is_in(above, some, key): whether the place
    /// is among the rows `some` of keys from `key` on, given that it is not among those above.
    template <class IsIn>
    Place search(const IsIn& is_in) const {
        Place place;
        int shift = 32;
        for (const int bits : {kFirstBits, 11, 10}) {
            const std::vector<SizeSums> table =
                shift == 32 ? by_first_bits_ : sums_by_bits(place.key, shift, bits);
            shift -= bits;
            std::size_t bucket = table.size() - 1;
            for (; bucket > 0; --bucket) {
                const auto key = place.key | static_cast<std::uint32_t>(bucket << shift);
                if (is_in(place.above, table[bucket], key)) break;
                place.above += table[bucket];
            }
            place.key |= static_cast<std::uint32_t>(bucket << shift);
            place.at = table[bucket];
        }
        return place;
    }

  private:
    static constexpr int kFirstBits = 11;

    /// Of the rows whose keys agree with `prefix` from bit `shift` on, by the `bits` bits below.
    std::vector<SizeSums> sums_by_bits(std::uint32_t prefix, int shift, int bits) const;

    const DrawCandidates& candidates_;
    std::vector<float> sizes_;
    int n_threads_;
    double step_ = 1.0;
    std::vector<SizeSums> by_first_bits_;
    SizeSums total_;
};

}  // namespace spinney
