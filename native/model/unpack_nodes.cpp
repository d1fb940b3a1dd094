#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "native/base/parallel.hpp"
#include "native/model/packed_forest.hpp"

namespace spinney {
namespace {

constexpr std::int64_t kLargestSteps = 0x7FEFFFFFFFFFFFFF;  ///< the largest finite number

/// Numbers in their order as whole numbers without a gap: one step from a float to the next. Its
/// own inverse.
std::int64_t mirrored(std::int64_t bits) {
    return bits ^ ((bits >> 63) & std::numeric_limits<std::int64_t>::max());
}

/// The number some steps behind what was foretold; a finite one in any case.
double moved(double foretold, std::int64_t steps) {
    const double from = foretold == foretold ? foretold : 0.0;
    const std::int64_t place = mirrored(std::bit_cast<std::int64_t>(from)) + steps;
    return std::bit_cast<double>(mirrored(std::clamp(place, -kLargestSteps - 1, kLargestSteps)));
}

/// The whole number next to x, for x below 2^51.
double whole(double x) { return (x + 0x1p52) - 0x1p52; }

/// A node as its children tell: their weights, their values and its own weight.
struct Family {
    double left, right, all;
    const double* left_values;
    const double* right_values;

    double value(ValueRule rule, std::size_t k) const {
        const double a = left * left_values[k];
        const double b = right * right_values[k];
        return rule == ValueRule::kShares ? (whole(a) + whole(b)) / all : (a + b) / all;
    }

    double gain(GainRule rule, std::size_t width) const {
        if (rule == GainRule::kBinary) return binary();
        return rule == GainRule::kGini ? gini(width) : means(width);
    }

  private:
    double means(std::size_t width) const {
        double squares = 0.0;
        for (std::size_t k = 0; k < width; ++k) {
            const double apart = left_values[k] - right_values[k];
            squares += apart * apart;
        }
        return squares * left * (right / all);
    }

    double binary() const {
        const double apart =
            whole(left * left_values[1]) * right - whole(right * right_values[1]) * left;
        return apart * apart / (left * right) * (2.0 / all);
    }

    double gini(std::size_t width) const {
        double squares = 0.0;
        for (std::size_t k = 0; k < width; ++k) {
            const double a = whole(left * left_values[k]) * right;
            const double b = whole(right * right_values[k]) * left;
            if (std::abs(a - b) > 0x1p-50 * (a + b)) squares += (a - b) * (a - b);
        }
        return squares / (left * right) / all;
    }
};

/// Steps or numbers of some nodes, read from the last to the first.
class BackwardSteps {
  public:
    BackwardSteps(const PackedNumbers& steps, std::span<const double> rest, std::size_t end,
                  std::size_t rest_end)
        : steps_(steps), rest_(rest), at_(end), rest_at_(rest_end) {}

    /// The true number where one was foretold.
    template <class Foretell>
    double next(const Foretell& foretell) {
        if (steps_.empty()) return moved(foretell(), 0);
        const std::int32_t step = steps_.step(--at_);
        return step == steps_.rest_step() ? rest_[--rest_at_] : moved(foretell(), step);
    }

  private:
    const PackedNumbers& steps_;
    std::span<const double> rest_;
    std::size_t at_, rest_at_;
};

}  // namespace

void PackedForest::unpack(const UnpackedNodes& into, int n_threads) const {
    UnpackedNodes all = into;  // what is stored in full is only read
    if (nodes_.has_count()) all.count = const_cast<std::int64_t*>(nodes_.full_count.data());
    if (nodes_.has_weight()) all.weight = const_cast<double*>(nodes_.full_weight.data());
    if (nodes_.has_values()) all.values = const_cast<double*>(nodes_.full_values.data());
    parallel_for(n_threads, nodes_.n_trees(), [&](std::size_t tree) {
        unpack_shape(tree, all);
        if (!nodes_.has_count()) unpack_counts(tree, all);
        if (!nodes_.has_weight()) unpack_weights(tree, all);
        unpack_values(tree, all);
    });
}

void PackedForest::unpack_shape(std::size_t tree, const UnpackedNodes& into) const {
    const auto first = static_cast<std::size_t>(nodes_.tree_start[tree]);
    const auto last = static_cast<std::size_t>(nodes_.tree_start[tree + 1]);
    const bool is_narrow = nodes_.has_narrow_thresholds();
    auto* narrow = static_cast<float*>(into.threshold);
    auto* wide = static_cast<double*>(into.threshold);
    std::vector<std::size_t> waiting;  // inner nodes whose right child is yet to come
    std::size_t inner = places_[tree].inner;
    auto set = static_cast<std::int32_t>(places_[tree].set);
    for (std::size_t node = first; node < last; ++node) {
        double threshold = 0.0;
        into.category_set[node] = -1;
        if (bit_at(nodes_.leaves, node)) {
            into.feature[node] = into.right[node] = -1;
            into.missing_left[node] = 0;
            if (!waiting.empty()) {
                into.right[waiting.back()] = static_cast<std::int32_t>(node + 1 - first);
                waiting.pop_back();
            }
        } else {
            const std::uint32_t feature = nodes_.feature.code(inner);
            into.feature[node] = static_cast<std::int32_t>(feature);
            into.missing_left[node] =
                !nodes_.missing_left.empty() && bit_at(nodes_.missing_left, inner) ? 1 : 0;
            if (has_categories_ && nodes_.categorical[feature] != 0) {
                into.category_set[node] = set++;
            }
            threshold = nodes_.threshold_of(inner);
            waiting.push_back(node);
            ++inner;
        }
        if (is_narrow) {
            narrow[node] = static_cast<float>(threshold);
        } else {
            wide[node] = threshold;
        }
    }
}

void PackedForest::unpack_counts(std::size_t tree, const UnpackedNodes& into) const {
    const auto first = static_cast<std::size_t>(nodes_.tree_start[tree]);
    std::size_t leaf = places_[tree + 1].leaf;
    std::size_t rest = places_[tree + 1].count_rest;
    for (auto node = static_cast<std::size_t>(nodes_.tree_start[tree + 1]); node-- > first;) {
        const std::int32_t right = into.right[node];
        if (right >= 0) {
            into.count[node] =
                into.count[node + 1] + into.count[first + static_cast<std::size_t>(right)];
            continue;
        }
        const std::uint32_t code = nodes_.count.empty() ? 1 : nodes_.count.code(--leaf);
        into.count[node] = code == kRestCode ? nodes_.count_rest[--rest] : code;
    }
}

void PackedForest::unpack_weights(std::size_t tree, const UnpackedNodes& into) const {
    const auto first = static_cast<std::size_t>(nodes_.tree_start[tree]);
    std::size_t leaf = places_[tree + 1].leaf;
    std::size_t rest = places_[tree + 1].weight_rest;
    for (auto node = static_cast<std::size_t>(nodes_.tree_start[tree + 1]); node-- > first;) {
        const std::int32_t right = into.right[node];
        if (right >= 0) {
            into.weight[node] =
                into.weight[node + 1] + into.weight[first + static_cast<std::size_t>(right)];
        } else if (nodes_.weight.empty()) {
            into.weight[node] = static_cast<double>(into.count[node]);
        } else {
            const std::uint32_t code = nodes_.weight.code(--leaf);
            into.weight[node] = code == kRestCode ? nodes_.weight_rest[--rest] : code;
        }
    }
}

/// And gains. Children stand behind their parents, so both are known before it.
void PackedForest::unpack_values(std::size_t tree, const UnpackedNodes& into) const {
    const Place& end = places_[tree + 1];
    const std::size_t width = nodes_.value_width;
    const auto first = static_cast<std::size_t>(nodes_.tree_start[tree]);
    BackwardSteps values(nodes_.value_steps, nodes_.value_rest, end.inner * width, end.value_rest);
    BackwardSteps gains(nodes_.gain_steps, nodes_.gain_rest, end.inner, end.gain_rest);
    std::size_t leaf = end.leaf;
    for (auto node = static_cast<std::size_t>(nodes_.tree_start[tree + 1]); node-- > first;) {
        double* own = into.values + node * width;
        if (into.right[node] < 0) {
            --leaf;
            const std::size_t row = nodes_.value.empty() ? leaf : nodes_.value.code(leaf);
            if (!nodes_.has_values()) std::copy_n(&nodes_.value_table[row * width], width, own);
            if (!nodes_.has_gain()) into.gain[node] = 0.0;
            continue;
        }
        const std::size_t left = node + 1;
        const std::size_t right = first + static_cast<std::size_t>(into.right[node]);
        const Family family{into.weight[left], into.weight[right], into.weight[node],
                            into.values + left * width, into.values + right * width};
        for (std::size_t k = width; !nodes_.has_values() && k-- > 0;) {
            own[k] = values.next([&] { return family.value(nodes_.value_rule, k); });
        }
        if (!nodes_.has_gain()) {
            into.gain[node] = gains.next([&] { return family.gain(nodes_.gain_rule, width); });
        }
    }
}

}  // namespace spinney
