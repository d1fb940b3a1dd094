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

void require(bool holds, const char* what) {
    if (!holds) throw Failure(FailureKind::kInvalidModel, what);
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

/// Calls add(i, own) for all of them; own is a small number, added to the sum every few times.
template <class Small, class Add>
std::uint64_t sum_up(std::size_t first, std::size_t last, const Add& add) {
    constexpr std::size_t kFew = 240;  // no Small number overflows, and several are added at once
    std::uint64_t sum = 0;
    for (; first < last; first += std::min(kFew, last - first)) {
        Small own = 0;
        for (std::size_t i = first; i < std::min(first + kFew, last); ++i) add(i, own);
        sum += own;
    }
    return sum;
}

std::size_t count_rest(const PackedNumbers& codes, std::size_t first, std::size_t last) {
    return sum_up<std::uint8_t>(first, last, [&](std::size_t i, std::uint8_t& own) {
        own = static_cast<std::uint8_t>(own + (codes.data[i] == kRestCode ? 1 : 0));
    });
}

/// What is small; the rest stands apart.
std::uint64_t sum_codes(const PackedNumbers& codes, std::size_t first, std::size_t last) {
    return sum_up<std::uint16_t>(first, last, [&](std::size_t i, std::uint16_t& own) {
        own = static_cast<std::uint16_t>(own + (codes.data[i] == kRestCode ? 0 : codes.data[i]));
    });
}

std::size_t count_rest_steps(const PackedNumbers& steps, std::size_t first, std::size_t last) {
    const std::int32_t rest = steps.rest_step();
    std::size_t n = 0;
    for (std::size_t i = first; i < last; ++i) n += steps.step(i) == rest ? 1 : 0;
    return n;
}

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
        constexpr std::uint32_t kInfinity = 0x7FF00000;  // the upper half of one
        std::uint32_t n_odd = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t upper = nodes_.threshold.read<std::uint32_t>(i) & 0x7FFFFFFFU;
            n_odd |= (upper > kInfinity ? 1U : 0U) | (upper == kInfinity ? low[i] : 0U);
        }
        is_number = n_odd == 0;
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
        return codes.bytes == 1 && codes.size == n;  // and find_places counts the rest
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
        if (!nodes_.count.empty()) {
            place.count_rest += count_rest(nodes_.count, place.leaf, leaf);
        }
        if (!nodes_.weight.empty()) {
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
    require(place.count_rest == nodes_.count_rest.size() &&
                place.weight_rest == nodes_.weight_rest.size(),
            "packed counts or weights have the wrong length");
}

std::vector<std::int64_t> PackedForest::root_counts() const {
    std::vector<std::int64_t> counts(nodes_.n_trees());
    for (std::size_t tree = 0; tree < counts.size(); ++tree) {
        const Place& from = places_[tree];
        const Place& to = places_[tree + 1];
        if (nodes_.has_count()) {
            counts[tree] = nodes_.full_count[static_cast<std::size_t>(nodes_.tree_start[tree])];
        } else if (nodes_.count.empty()) {
            counts[tree] = static_cast<std::int64_t>(to.leaf - from.leaf);
        } else {
            counts[tree] = static_cast<std::int64_t>(sum_codes(nodes_.count, from.leaf, to.leaf));
            for (std::size_t i = from.count_rest; i < to.count_rest; ++i) {
                counts[tree] += nodes_.count_rest[i];
            }
        }
    }
    return counts;
}

std::vector<double> PackedForest::root_weights() const {
    if (!nodes_.has_weight() && nodes_.weight.empty()) {
        const std::vector<std::int64_t> counts = root_counts();
        return {counts.begin(), counts.end()};
    }
    std::vector<double> weights(nodes_.n_trees());
    for (std::size_t tree = 0; tree < weights.size(); ++tree) {
        const Place& from = places_[tree];
        const Place& to = places_[tree + 1];
        if (nodes_.has_weight()) {
            weights[tree] = nodes_.full_weight[static_cast<std::size_t>(nodes_.tree_start[tree])];
            continue;
        }
        weights[tree] = static_cast<double>(sum_codes(nodes_.weight, from.leaf, to.leaf));
        for (std::size_t i = from.weight_rest; i < to.weight_rest; ++i) {
            weights[tree] += nodes_.weight_rest[i];
        }
    }
    return weights;
}

}  // namespace spinney
