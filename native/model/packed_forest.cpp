#include "native/model/packed_forest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include "native/base/failure.hpp"
#include "native/base/parallel.hpp"

namespace spinney {
namespace {

constexpr std::uint32_t kRestCode = 255;
constexpr std::int64_t kLargestSteps = 0x7FEFFFFFFFFFFFFF;  ///< the largest finite number

void require(bool holds, const char* what) {
    if (!holds) throw Failure(FailureKind::kInvalidModel, what);
}

bool bit_at(std::span<const std::uint8_t> bits, std::size_t i) {
    return (bits[i / 8] >> (i % 8)) & 1;
}

/// What eight nodes do to the number of nodes that are yet to come: in all, and at the lowest.
struct EightNodes {
    int sum = 0;
    int lowest = 0;
};

std::vector<EightNodes> all_eights() {
    std::vector<EightNodes> eights(256);
    for (unsigned byte = 0; byte < 256; ++byte) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            eights[byte].sum += (byte >> bit) & 1U ? -1 : 1;
            eights[byte].lowest = std::min(eights[byte].lowest, eights[byte].sum);
        }
    }
    return eights;
}

/// As many bits as said, and nothing behind the last.
bool are_bits(std::span<const std::uint8_t> bits, std::size_t n) {
    return bits.size() == (n + 7) / 8 && (n % 8 == 0 || bits.back() >> (n % 8) == 0);
}

bool all_finite(std::span<const double> numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

template <class T>
std::uint32_t largest(const PackedNumbers& codes) {
    T most = 0;
    for (std::size_t i = 0; i < codes.size; ++i) most = std::max(most, codes.read<T>(i));
    return most;
}

std::uint32_t largest_code(const PackedNumbers& codes) {
    if (codes.bytes == 1) return largest<std::uint8_t>(codes);
    if (codes.bytes == 2) return largest<std::uint16_t>(codes);
    return largest<std::uint32_t>(codes);
}

template <class T>
bool all_numbers(const PackedNumbers& floats) {
    std::size_t n = 0;  // counted, not tested one by one: several at once
    for (std::size_t i = 0; i < floats.size; ++i) n += std::isnan(floats.read<T>(i)) ? 1 : 0;
    return n == 0;
}

/// The lowest number of a step's type: not a step.
std::int32_t rest_step(const PackedNumbers& steps) { return steps.bytes == 1 ? -128 : -32768; }

std::size_t count_rest(const PackedNumbers& codes, std::size_t first, std::size_t last) {
    std::size_t n = 0;
    for (std::size_t i = first; i < last; ++i) n += codes.data[i] == kRestCode ? 1 : 0;
    return n;
}

std::size_t count_rest_steps(const PackedNumbers& steps, std::size_t first, std::size_t last) {
    const std::int32_t rest = rest_step(steps);
    std::size_t n = 0;
    for (std::size_t i = first; i < last; ++i) n += steps.step(i) == rest ? 1 : 0;
    return n;
}

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
        return step == rest_step(steps_) ? rest_[--rest_at_] : moved(foretell(), step);
    }

  private:
    const PackedNumbers& steps_;
    std::span<const double> rest_;
    std::size_t at_, rest_at_;
};

}  // namespace

PackedForest::PackedForest(const PackedNodes& nodes) : nodes_(nodes) {
    check_shape();
    check_inner();
    check_leaves();
    check_full();
    find_places();
}

/// In preorder a tree ends where as many leaves as inner nodes came, and one more.
void PackedForest::check_shape() const {
    const auto& starts = nodes_.tree_start;
    require(!starts.empty() && starts.front() == 0 && starts.back() >= 0 &&
                starts.size() - 1 <= nodes_.n_nodes() && are_bits(nodes_.leaves, nodes_.n_nodes()),
            "trees do not cover the packed nodes");
    for (std::size_t tree = 0; tree < nodes_.n_trees(); ++tree) {
        const std::int64_t size = starts[tree + 1] - starts[tree];
        require(size >= 1 && size % 2 == 1 && starts[tree + 1] <= starts.back() &&
                    size <= std::numeric_limits<std::int32_t>::max(),
                "a packed tree has an impossible size");
    }
    static const std::vector<EightNodes> eights = all_eights();
    for (std::size_t tree = 0; tree < nodes_.n_trees(); ++tree) {
        const auto end = static_cast<std::size_t>(starts[tree + 1]);
        std::int64_t open = 1;  // nodes that are yet to come
        std::size_t node = static_cast<std::size_t>(starts[tree]);
        for (; node < end && open > 0;) {
            const EightNodes& eight = eights[nodes_.leaves[node / 8]];
            if (node % 8 == 0 && node + 8 <= end && open + eight.lowest > 0) {
                open += eight.sum;
                node += 8;
            } else {
                open += bit_at(nodes_.leaves, node++) ? -1 : 1;
            }
        }
        require(node == end && open == 0, "the nodes of a packed tree are not one tree");
    }
}

void PackedForest::check_inner() const {
    const std::size_t n = nodes_.n_inner();
    require(nodes_.categorical.size() == nodes_.n_features && nodes_.feature.size == n,
            "packed features have the wrong length");
    require(nodes_.missing_left.empty() || are_bits(nodes_.missing_left, n),
            "packed directions of missing values have the wrong length");
    require(n == 0 || largest_code(nodes_.feature) < nodes_.n_features,
            "a node splits on a feature that does not exist");
    check_thresholds();
    std::size_t n_sets = 0;
    const bool any = std::find(nodes_.categorical.begin(), nodes_.categorical.end(), 1) !=
                     nodes_.categorical.end();
    for (std::size_t i = 0; any && i < n; ++i) {
        if (nodes_.categorical[nodes_.feature.code(i)] == 0) continue;
        ++n_sets;
        require(nodes_.threshold_of(i) == 0.0, "a categorical node has a threshold");
    }
    require(n_sets == nodes_.n_sets,
            "there are more or fewer category sets than categorical nodes");
    for (const auto& [steps, rest, width] :
         {std::tuple(nodes_.value_steps, nodes_.value_rest, nodes_.value_width),
          std::tuple(nodes_.gain_steps, nodes_.gain_rest, std::size_t{1})}) {
        require(steps.empty() ? rest.empty()
                              : steps.size / width == n && steps.size % width == 0 &&
                                    count_rest_steps(steps, 0, steps.size) == rest.size(),
                "packed steps have the wrong length");
        require(all_finite(rest), "a packed value or gain is not a finite number");
    }
}

void PackedForest::check_thresholds() const {
    const std::size_t n = nodes_.n_inner();
    const auto& [table, low] = std::tie(nodes_.threshold_table, nodes_.threshold_low);
    require(nodes_.threshold.size == n && (low.empty() || (low.size() == n && table.empty())),
            "packed thresholds have the wrong length");
    require(table.empty() || n == 0 || largest_code(nodes_.threshold) < table.size,
            "a packed threshold is not in its table");
    bool is_number = true;
    if (low.empty()) {
        const PackedNumbers& numbers = table.empty() ? nodes_.threshold : table;
        is_number = numbers.bytes == 4 ? all_numbers<float>(numbers) : all_numbers<double>(numbers);
    } else {
        for (std::size_t i = 0; i < n; ++i) is_number &= !std::isnan(nodes_.threshold_of(i));
    }
    require(is_number, "a threshold is not a number");
}

void PackedForest::check_leaves() const {
    const std::size_t n = nodes_.n_leaves();
    const std::size_t width = nodes_.value_width;
    require(width >= 1 && nodes_.value_table.size() % width == 0,
            "packed values have the wrong length");
    const std::size_t n_rows = nodes_.value_table.size() / width;
    require(nodes_.has_values() ? nodes_.value.empty() && n_rows == 0
                                : nodes_.value.size == (nodes_.value.empty() ? 0 : n) &&
                                      (!nodes_.value.empty() || n_rows == n),
            "packed values have the wrong length");
    require(nodes_.value.empty() || largest_code(nodes_.value) < n_rows,
            "a packed value is not in its table");
    require(all_finite(nodes_.value_table), "a value is not a finite number");
    const auto fits = [&](const PackedNumbers& codes, const auto& rest, bool is_full) {
        if (codes.empty() || is_full) return codes.empty() && rest.empty();
        return codes.bytes == 1 && codes.size == n && count_rest(codes, 0, n) == rest.size();
    };
    require(fits(nodes_.count, nodes_.count_rest, nodes_.has_count()) &&
                fits(nodes_.weight, nodes_.weight_rest, nodes_.has_weight()),
            "packed counts or weights have the wrong length");
    // No sum over leaves may leave its type.
    const auto share = static_cast<std::int64_t>(std::max<std::size_t>(n, 1));
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / share;
    const double heaviest = std::numeric_limits<double>::max() / (2.0 * static_cast<double>(share));
    for (const std::int64_t count : nodes_.count_rest) {
        require(count >= 0 && count <= most, "a packed count is out of range");
    }
    for (const double weight : nodes_.weight_rest) {
        require(weight >= 0.0 && weight <= heaviest, "a packed weight is out of range");
    }
    require(nodes_.value_rule <= ValueRule::kShares && nodes_.gain_rule <= GainRule::kGini &&
                (nodes_.gain_rule != GainRule::kBinary || width == 2),
            "values or gains follow from an unknown rule");
}

void PackedForest::check_full() const {
    const std::size_t n = nodes_.n_nodes();
    const auto fits = [n](const auto& full, std::size_t width) {
        return full.empty() || (full.size() / width == n && full.size() % width == 0);
    };
    require(fits(nodes_.full_count, 1) && fits(nodes_.full_weight, 1) &&
                fits(nodes_.full_gain, 1) && fits(nodes_.full_values, nodes_.value_width),
            "arrays of nodes differ in length");
    const auto is_negative = [](auto number) { return !(number >= 0); };
    require(std::none_of(nodes_.full_count.begin(), nodes_.full_count.end(), is_negative) &&
                std::none_of(nodes_.full_weight.begin(), nodes_.full_weight.end(), is_negative),
            "a node has a negative count or weight");
    require(all_finite(nodes_.full_weight) && all_finite(nodes_.full_values) &&
                all_finite(nodes_.full_gain),
            "a value, weight or gain is not a finite number");
    for (std::size_t node = 0; node < nodes_.full_gain.size(); ++node) {
        require(!bit_at(nodes_.leaves, node) || nodes_.full_gain[node] == 0.0,
                "a leaf carries a split");
    }
}

void PackedForest::find_places() {
    has_categories_ = nodes_.n_sets > 0;
    Place place{};
    places_.reserve(nodes_.tree_start.size());
    for (std::size_t tree = 0;; ++tree) {
        places_.push_back(place);
        if (tree == nodes_.n_trees()) break;
        const auto size =
            static_cast<std::size_t>(nodes_.tree_start[tree + 1] - nodes_.tree_start[tree]);
        const std::size_t inner = place.inner + size / 2;
        const std::size_t leaf = place.leaf + size / 2 + 1;
        const std::size_t width = nodes_.value_width;
        if (!nodes_.count_rest.empty()) {
            place.count_rest += count_rest(nodes_.count, place.leaf, leaf);
        }
        if (!nodes_.weight_rest.empty()) {
            place.weight_rest += count_rest(nodes_.weight, place.leaf, leaf);
        }
        if (!nodes_.value_rest.empty()) {
            place.value_rest +=
                count_rest_steps(nodes_.value_steps, place.inner * width, inner * width);
        }
        if (!nodes_.gain_rest.empty()) {
            place.gain_rest += count_rest_steps(nodes_.gain_steps, place.inner, inner);
        }
        for (std::size_t i = place.inner; has_categories_ && i < inner; ++i) {
            place.set += nodes_.categorical[nodes_.feature.code(i)];
        }
        place.inner = inner;
        place.leaf = leaf;
    }
}

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
