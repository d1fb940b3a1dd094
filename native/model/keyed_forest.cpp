#include "native/model/keyed_forest.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "native/base/parallel.hpp"
#include "native/data/cut_grid.hpp"
#include "native/data/round_down.hpp"

namespace spinney {
namespace {

template <class Key>
using NumberOf = std::conditional_t<sizeof(Key) == 4, float, double>;

constexpr std::size_t kNoSlot = SIZE_MAX;
/// Values that a tree is asked for again are looked for in this many places.
constexpr std::size_t kKnownValues = 1 << 10;

template <class T>
T number_at(const ColumnView& column, std::size_t row) {
    const bool narrow = column.type == ValueType::kFloat32;
    if (!column.is_sparse) {
        return narrow ? static_cast<T>(column.at<float>(row)) : static_cast<T>(column.at<double>(row));
    }
    const std::size_t place = column.stored_from(row);
    if (place == column.rows.size() || static_cast<std::size_t>(column.rows[place]) != row) {
        return T{0};
    }
    return narrow ? static_cast<T>(reinterpret_cast<const float*>(column.data)[place])
                  : static_cast<T>(reinterpret_cast<const double*>(column.data)[place]);
}

std::size_t hash_of(const double* values, std::size_t n) {
    std::uint64_t hash = 0;
    for (std::size_t k = 0; k < n; ++k) {
        hash = (hash ^ std::bit_cast<std::uint64_t>(values[k])) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 29;
    }
    return static_cast<std::size_t>(hash >> 20) % kKnownValues;
}

}  // namespace

bool has_keys(const ForestArrays& forest) {
    std::int64_t most = 0;
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        most = std::max(most, forest.tree_start[tree + 1] - forest.tree_start[tree]);
    }
    return forest.category_sets.empty() && forest.n_features < (std::size_t{1} << 24) &&
           most < (std::int64_t{1} << 30);
}

bool has_small_trees(const ForestArrays& forest) {
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        if (forest.tree_start[tree + 1] - forest.tree_start[tree] > 2 * 0xFFFF) return false;
    }
    return forest.n_features <= (0x10000 / kKeyedRows - 2) / 2;
}

template <class Key, class Index>
KeyedForest<Key, Index>::KeyedForest(const ForestArrays& forest, int n_threads)
    : trees_(forest.n_trees()),
      slots_(kFirstSlot),
      slot_numbers_(2 * forest.n_features, kNoSlot),
      value_width_(forest.value_width) {
    find_slots(forest);
    parallel_for(n_threads, trees_.size(), [&](std::size_t tree) { add_tree(forest, tree); });
}

template <class Key, class Index>
void KeyedForest<Key, Index>::find_slots(const ForestArrays& forest) {
    for (std::size_t node = 0; node < forest.n_nodes(); ++node) {
        if (forest.feature[node] < 0) continue;
        const auto feature = static_cast<std::size_t>(forest.feature[node]);
        const bool missing_left = forest.missing_left[node] != 0;
        std::size_t& slot = slot_numbers_[2 * feature + (missing_left ? 1 : 0)];
        if (slot != kNoSlot) continue;
        slot = slots_.size();
        slots_.push_back({feature, missing_left});
    }
}

/// The child that more training rows came to has its own children right behind it.
template <class Key, class Index>
void KeyedForest<Key, Index>::add_tree(const ForestArrays& forest, std::size_t tree) {
    struct Visit {
        std::size_t node, place;
    };
    const auto first = static_cast<std::size_t>(forest.tree_start[tree]);
    const auto size = static_cast<std::size_t>(forest.tree_start[tree + 1]) - first;
    Tree& made = trees_[tree];
    made.nodes.resize(size + 1);  // the root has no neighbour
    made.ids.resize(size + 1);
    std::vector<std::uint32_t> known(kKnownValues, UINT32_MAX);
    std::vector<Visit> waiting = {{first, 0}};
    std::size_t n_pairs = 1;
    while (!waiting.empty()) {
        const auto [node, place] = waiting.back();
        waiting.pop_back();
        made.ids[place] = static_cast<std::int32_t>(node - first);
        if (forest.feature[node] < 0) {
            made.nodes[place] = leaf_node(forest, tree, node, place, known);
            continue;
        }
        using Number = NumberOf<Key>;
        const auto feature = static_cast<std::size_t>(forest.feature[node]);
        const std::size_t slot = slot_numbers_[2 * feature + (forest.missing_left[node] ? 1 : 0)];
        const Key key = OrderedBits<Number>::of(round_down<Number>(forest.threshold[node]));
        made.nodes[place] = {key, static_cast<Index>(slot * kKeyedRows),
                             static_cast<Index>(n_pairs)};
        const Visit left{node + 1, 2 * n_pairs};
        const Visit right{first + static_cast<std::size_t>(forest.right[node]), 2 * n_pairs + 1};
        const bool left_first = forest.count[left.node] >= forest.count[right.node];
        waiting.push_back(left_first ? right : left);
        waiting.push_back(left_first ? left : right);
        ++n_pairs;
    }
}

template <class Key, class Index>
typename KeyedForest<Key, Index>::Node KeyedForest<Key, Index>::leaf_node(
    const ForestArrays& forest, std::size_t tree, std::size_t node, std::size_t place,
    std::vector<std::uint32_t>& known) {
    std::vector<double>& values = trees_[tree].values;
    const std::size_t width = value_width_;
    const double* own = &forest.values[node * width];
    const auto row = static_cast<std::uint32_t>(values.size() / width);
    for (std::size_t k = 0; k < width; ++k) values.push_back(forest.tree_weight[tree] * own[k]);
    std::uint32_t& there = known[hash_of(&values[row * width], width)];
    if (there != UINT32_MAX && std::memcmp(&values[there * width], &values[row * width],
                                           width * sizeof(double)) == 0) {
        values.resize(row * width);
    } else {
        there = row;
    }
    const std::size_t slot = place % 2 == 0 ? kNever : kAlways;
    return {there, static_cast<Index>(slot * kKeyedRows), static_cast<Index>(place / 2)};
}

template <class Key, class Index>
void KeyedForest<Key, Index>::read(const Columns& columns, std::size_t first, std::size_t n,
                                   Key* keys) const {
    constexpr Key kHighest = std::numeric_limits<Key>::max();
    std::fill_n(keys + kNever * kKeyedRows, kKeyedRows, Key{0});
    std::fill_n(keys + kAlways * kKeyedRows, kKeyedRows, kHighest);
    for (std::size_t s = kFirstSlot; s < slots_.size(); ++s) {
        const ColumnView& column = columns.features[slots_[s].feature];
        const Key missing = slots_[s].missing_left ? Key{0} : kHighest;
        for (std::size_t i = 0; i < n; ++i) {
            const auto x = number_at<NumberOf<Key>>(column, first + i);
            keys[s * kKeyedRows + i] = x == x ? OrderedBits<NumberOf<Key>>::of(x) : missing;
        }
        std::fill_n(keys + s * kKeyedRows + n, kKeyedRows - n, Key{0});
    }
}

template <class Key, class Index>
void KeyedForest<Key, Index>::find(std::size_t tree, const Key* keys, std::size_t n,
                                   std::uint32_t* places) const {
    const Node* const nodes = trees_[tree].nodes.data();
    for (std::size_t row = 0; row < n; row += kKeyedRows, keys += n_keys()) {
        std::uint32_t at[kKeyedRows] = {};
        const auto step = [&] {
            for (std::size_t w = 0; w < kKeyedRows; ++w) {
                const Node& node = nodes[at[w]];
                const std::uint32_t pair = node.pair;
                at[w] = pair + pair + (node.key < keys[node.slot + w] ? 1 : 0);
            }
        };
        std::uint32_t moved = 1;
        while (moved != 0) {
            step();
            std::uint32_t before[kKeyedRows];
            std::copy_n(at, kKeyedRows, before);
            step();
            moved = 0;
            for (std::size_t w = 0; w < kKeyedRows; ++w) moved |= at[w] ^ before[w];
        }
        for (std::size_t w = 0; w < std::min(kKeyedRows, n - row); ++w) places[row + w] = at[w];
    }
}

template class KeyedForest<std::uint32_t, std::uint16_t>;
template class KeyedForest<std::uint32_t, std::uint32_t>;
template class KeyedForest<std::uint64_t, std::uint32_t>;

}  // namespace spinney
