#include "native/trees/category_order.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

namespace spinney {
namespace {

/// Up to this many categories nothing is held back.
constexpr std::size_t kFewCategories = 4;

/// A number whose unsigned order is that of the doubles.
std::uint64_t sortable(double number) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    return (bits >> 63) != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}

}  // namespace

bool CategoryWeights::needs_care() const {
    const auto n_present =
        n_values + 1 -
        static_cast<std::size_t>(std::count(
            weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(n_values) + 1, 0));
    return n_present > kFewCategories;
}

double CategoryWeights::support(const GradientObjective& objective,
                                const GradientTreeSettings& settings) const {
    const double scale = objective.scales.weight;
    const double least = settings.category_support / scale;
    const double wanted = 0.5 * std::sqrt(objective.weight(total)) / scale;
    if (wanted <= least) return least;
    std::int64_t enough = 0;  // weight of the categories that reach what is wanted
    for (std::size_t bin = 0; bin <= n_values; ++bin) {
        if (static_cast<double>(weights[bin]) >= wanted) enough += weights[bin];
    }
    if (4 * enough >= total.weight) return wanted;
    std::array<std::int64_t, kMostCells> sorted = weights;
    std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(n_values) + 1,
              std::greater<>());
    std::int64_t held = 0;
    std::size_t i = 0;
    while (4 * held < total.weight) held += sorted[i++];
    return std::max(static_cast<double>(sorted[i - 1]), least);
}

void CategoryOrder::add(std::size_t bin, double slope) {
    keys_[size_++] = (sortable(slope) & ~std::uint64_t{0xFF}) | bin;
}

void CategoryOrder::finish() {
    std::sort(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(size_));
}

void CategoryOrder::cut_behind(std::size_t last, bool left_is_larger, Split& split) const {
    split.is_categorical = true;
    split.bin = -1;
    split.missing_left = left_is_larger && !is_rare_[n_values_];
    for (std::size_t bin = 0; bin < kMostCells; ++bin) {
        split.put(bin, left_is_larger && bin < n_values_ && !is_rare_[bin]);
    }
    for (std::size_t i = 0; i < size_; ++i) {
        const bool goes_left = i <= last;
        if ((*this)[i] == n_values_) {
            split.missing_left = goes_left;
        } else {
            split.put((*this)[i], goes_left);
        }
    }
}

}  // namespace spinney
