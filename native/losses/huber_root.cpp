#include "native/losses/huber_root.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace spinney {
namespace {

__extension__ using Wide = __int128;

/// Largest integer on the grid: 2^60, so that differences are below 2^61 and, times weights that
/// sum to less than 2^62, no sum reaches 2^123.
constexpr int kGridBits = 60;
constexpr std::int64_t kTop = std::int64_t{1} << kGridBits;

/// Differences from the median on the grid.
struct Grid {
    std::vector<std::int64_t> values;
    std::span<const std::int64_t> weights;
    std::int64_t delta;
    int exponent;  ///< one step is 2^exponent
};

/// How hard the rows pull at a constant, and how heavy those are that are not clipped.
struct Pull {
    Wide sum;
    std::int64_t inside;
};

std::int64_t clip(std::int64_t value, std::int64_t limit) {
    return value > limit ? limit : (value < -limit ? -limit : value);
}

Pull pull_at(const Grid& grid, std::int64_t constant) {
    Pull pull = {0, 0};
    const std::size_t n = grid.values.size();
    if (grid.weights.empty()) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::int64_t difference = clip(grid.values[i] - constant, grid.delta);
            pull.sum += difference;
            pull.inside += difference < grid.delta && difference > -grid.delta ? 1 : 0;
        }
        return pull;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t difference = clip(grid.values[i] - constant, grid.delta);
        const std::int64_t weight = grid.weights[i];
        pull.sum += static_cast<Wide>(difference) * weight;
        pull.inside += difference < grid.delta && difference > -grid.delta ? weight : 0;
    }
    return pull;
}

/// Half of each side is clipped: all constants between the two sides are minima.
double middle_of_flat(const Grid& grid, std::int64_t constant) {
    std::int64_t low = std::numeric_limits<std::int64_t>::min();
    std::int64_t high = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t value : grid.values) {
        if (value - constant <= -grid.delta) low = std::max(low, value);
        if (value - constant >= grid.delta) high = std::min(high, value);
    }
    return 0.5 * (static_cast<double>(low) + static_cast<double>(high));
}

/// A constant that was tried, and the pull there.
struct Tried {
    std::int64_t constant;
    Pull pull;
};

/// Newton's step where some rows are not clipped, halving otherwise and at every third step, which
/// bounds the number of steps; strictly between low and high.
std::int64_t next_guess(const Tried& last, const Tried& low, const Tried& high, int step) {
    const std::int64_t half = low.constant + (high.constant - low.constant) / 2;
    if (last.pull.inside == 0 || step % 3 == 2) return half;
    const Wide newton = last.constant + last.pull.sum / last.pull.inside;
    const Wide guess = std::clamp<Wide>(newton, low.constant + 1, high.constant - 1);
    return static_cast<std::int64_t>(guess);
}

/// Invariant: the pull is positive at low, negative at high. Clipping begins and ends at integers,
/// so between neighbours it is linear.
double root_on_grid(const Grid& grid) {
    Tried low = {-kTop, pull_at(grid, -kTop)};
    Tried high = {kTop, pull_at(grid, kTop)};
    Tried last = {0, {}};
    for (int step = 0; high.constant - low.constant > 1; ++step) {
        last.pull = pull_at(grid, last.constant);
        if (last.pull.sum == 0) {
            return last.pull.inside > 0 ? static_cast<double>(last.constant)
                                        : middle_of_flat(grid, last.constant);
        }
        (last.pull.sum > 0 ? low : high) = last;
        last.constant = next_guess(last, low, high, step);
    }
    const auto above = static_cast<double>(low.pull.sum);
    const auto below = static_cast<double>(high.pull.sum);
    return static_cast<double>(low.constant) + above / (above - below);
}

/// Largest |r - median| that counts: beyond 2 delta everything is clipped for all constants.
double reach_of(std::span<const double> residuals, double median, double delta) {
    double reach = 0.0;
    for (const double residual : residuals) {
        reach = std::max(reach, std::fabs(residual - median));
    }
    return std::min({reach, 2.0 * delta, 0x1p1022});
}

}  // namespace

double huber_root(std::span<const double> residuals, std::span<const std::int64_t> weights,
                  double median, double delta) {
    const double reach = reach_of(residuals, median, delta);
    if (!(reach > 0.0)) return median;
    int magnitude = 0;
    std::frexp(reach, &magnitude);  // reach < 2^magnitude
    Grid grid = {std::vector<std::int64_t>(residuals.size()), weights, 0, magnitude - kGridBits};
    // In two factors, because one would leave the range of float64 for tiny numbers.
    const double first = std::ldexp(1.0, -grid.exponent / 2);
    const double second = std::ldexp(1.0, -grid.exponent - (-grid.exponent / 2));
    for (std::size_t i = 0; i < residuals.size(); ++i) {
        const double difference = residuals[i] - median;
        const double near =
            difference < reach ? (difference > -reach ? difference : -reach) : reach;
        grid.values[i] = static_cast<std::int64_t>(near * first * second);
    }
    // Twice the reach: no difference is that large, so more would clip nothing either.
    grid.delta = static_cast<std::int64_t>(std::min(delta, 2.0 * reach) * first * second);
    return median + std::ldexp(root_on_grid(grid), grid.exponent);
}

}  // namespace spinney
