#include "native/model/keyed_forest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "native/base/parallel.hpp"
#include "native/data/cut_grid.hpp"
#include "native/data/round_down.hpp"
#include "native/model/leaf_products.hpp"

namespace spinney {
namespace {

template <class Key>
using NumberOf = std::conditional_t<sizeof(Key) == 4, float, double>;

constexpr std::size_t kNoSlot = SIZE_MAX;

template <class T>
T number_at(const ColumnView& column, std::size_t row) {
    const bool narrow = column.type == ValueType::kFloat32;
    if (!column.is_sparse) {
        return narrow ? static_cast<T>(column.at<float>(row))
                      : static_cast<T>(column.at<double>(row));
    }
    const std::size_t place = column.stored_from(row);
    if (place == column.rows.size() || static_cast<std::size_t>(column.rows[place]) != row) {
        return T{0};
    }
    return narrow ? static_cast<T>(reinterpret_cast<const float*>(column.data)[place])
                  : static_cast<T>(reinterpret_cast<const double*>(column.data)[place]);
}

/// Bins that categories of the feature fall into, up to the last of them; at least one.
std::size_t n_bins_of(const ForestArrays& forest, std::size_t feature) {
    std::size_t n_bins = 1;
    for (std::int64_t c = forest.category_start[feature]; c < forest.category_start[feature + 1];
         ++c) {
        n_bins =
            std::max<std::size_t>(n_bins, forest.category_bins[static_cast<std::size_t>(c)] + 1U);
    }
    return n_bins;
}

}  // namespace

bool has_keys(const ForestArrays& forest) {
    std::int64_t most = 0;
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        most = std::max(most, forest.tree_start[tree + 1] - forest.tree_start[tree]);
    }
    const int n_bits = forest.category_sets.empty() ? 30 : 26;  // of a node's set, four bytes count
    return forest.n_features < (std::size_t{1} << 24) && most < (std::int64_t{1} << n_bits);
}

bool has_small_trees(const ForestArrays& forest) {
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        if (forest.tree_start[tree + 1] - forest.tree_start[tree] > 2 * 0xFFFF) return false;
    }
    return forest.n_features <= (0x10000 / kWalkingRows - 2) / 2;
}

template <class Key, class Index>
KeyedForest<Key, Index>::KeyedForest(const ForestArrays& forest, int n_threads)
    : forest_(forest),
      trees_(forest.n_trees()),
      slots_(kFirstSlot),
      slot_numbers_(2 * forest.n_features, kNoSlot),
      value_width_(forest.value_width) {
    find_slots(forest);
    parallel_for(n_threads, trees_.size(), [&](std::size_t tree) { add_tree(forest, tree); });
}

template <class Key, class Index>
void KeyedForest<Key, Index>::find_slots(const ForestArrays& forest) {
    for (const bool of_categories : {false, true}) {
        if (of_categories) first_set_ = slots_.size();
        for (std::size_t node = 0; node < forest.n_nodes(); ++node) {
            const bool has_set = forest.category_set[node] >= 0;
            if (forest.feature[node] < 0 || has_set != of_categories) continue;
            const auto feature = static_cast<std::size_t>(forest.feature[node]);
            const bool missing_left = !has_set && forest.missing_left[node] != 0;
            std::size_t& slot = slot_numbers_[2 * feature + (missing_left ? 1 : 0)];
            if (slot != kNoSlot) continue;
            slot = slots_.size();
            slots_.push_back({feature, missing_left, has_set ? n_bins_of(forest, feature) : 0});
        }
    }
}

/// The child that more training rows came to has its own children right behind it. Nodes are read
/// in their order, in which those of a subtree stand together: so the places of its pairs are known
/// before it is seen.
template <class Key, class Index>
void KeyedForest<Key, Index>::add_tree(const ForestArrays& forest, std::size_t tree) {
    struct Subtree {
        std::size_t place;  ///< of its root
        std::size_t pair;   ///< its first one, if it has any
        std::size_t end;    ///< behind its last node
    };
    const auto first = static_cast<std::size_t>(forest.tree_start[tree]);
    const auto last = static_cast<std::size_t>(forest.tree_start[tree + 1]);
    Tree& made = trees_[tree];
    made.nodes.resize(last - first + 1);  // the root has no neighbour
    made.ids.resize(last - first + 1);
    LeafProducts products(forest, tree);
    std::vector<Subtree> waiting = {{0, 1, last}};
    for (std::size_t node = first; node < last; ++node) {
        const auto [place, pair, end] = waiting.back();
        waiting.pop_back();
        made.ids[place] = static_cast<std::int32_t>(node - first);
        if (forest.feature[node] < 0) {
            made.nodes[place] = leaf_node(products.number_of(node), place);
            continue;
        }
        made.nodes[place] = inner_node(forest, node, pair, made);
        const std::size_t right = first + static_cast<std::size_t>(forest.right[node]);
        const std::int64_t half = forest.count[node] - forest.count[node] / 2;
        const bool left_first = forest.count[node + 1] >= half;
        const std::size_t behind_left = pair + 1 + (right - node - 1) / 2;
        const std::size_t behind_right = pair + 1 + (end - right) / 2;
        waiting.push_back({2 * pair + 1, left_first ? behind_left : pair + 1, end});
        waiting.push_back({2 * pair, left_first ? pair + 1 : behind_right, right});
    }
    made.values = products.take();
    made.sets.push_back(0);  // what walkers look at where the question is about a number
}

template <class Key, class Index>
typename KeyedForest<Key, Index>::Node KeyedForest<Key, Index>::inner_node(
    const ForestArrays& forest, std::size_t node, std::size_t pair, Tree& made) {
    using Number = NumberOf<Key>;
    const bool has_set = forest.category_set[node] >= 0;
    const bool missing_left = !has_set && forest.missing_left[node] != 0;
    const auto feature = static_cast<std::size_t>(forest.feature[node]);
    const std::size_t slot = slot_numbers_[2 * feature + (missing_left ? 1 : 0)];
    const Key key = has_set ? add_set(forest, node, slots_[slot].n_bins, made)
                            : OrderedBits<Number>::of(round_down<Number>(forest.threshold[node]));
    return {key, static_cast<Index>(slot * kWalkingRows), static_cast<Index>(pair)};
}

/// Where the set begins; no more bytes of it than its feature has bins.
template <class Key, class Index>
Key KeyedForest<Key, Index>::add_set(const ForestArrays& forest, std::size_t node,
                                     std::size_t n_bins, Tree& made) {
    const std::size_t place = made.sets.size();
    const auto set = static_cast<std::size_t>(forest.category_set[node]) * kCategorySetBytes;
    for (std::size_t first = 0; first <= n_bins; first += 8) {
        const bool any = first / 8 < kCategorySetBytes;
        const auto left = any ? forest.category_sets[set + first / 8] : std::uint8_t{0};
        made.sets.push_back(static_cast<std::uint8_t>(~left));
    }
    const auto missing = static_cast<std::uint8_t>(1U << (n_bins % 8));
    std::uint8_t& last = made.sets.back();
    last = static_cast<std::uint8_t>(forest.missing_left[node] != 0 ? last & ~missing
                                                                    : last | missing);
    return static_cast<Key>(place);
}

template <class Key, class Index>
typename KeyedForest<Key, Index>::Node KeyedForest<Key, Index>::leaf_node(std::uint32_t product,
                                                                          std::size_t place) {
    const std::size_t slot = place % 2 == 0 ? kNever : kAlways;
    return {product, static_cast<Index>(slot * kWalkingRows), static_cast<Index>(place / 2)};
}

template <class Key, class Index>
KeyedRows<Key> KeyedForest<Key, Index>::read(const Columns& columns, std::size_t first,
                                             std::size_t n) const {
    constexpr Key kHighest = std::numeric_limits<Key>::max();
    const std::size_t n_groups = (n + kWalkingRows - 1) / kWalkingRows;
    KeyedRows<Key> rows;
    rows.n = n;
    rows.keys.resize(n_groups * n_keys());  // rows that do not exist have keys, too
    rows.waiting.resize(n_groups * kWalkingRows);
    rows.places.resize(n_groups * kWalkingRows);
    for (std::size_t s = 0; s < slots_.size(); ++s) {
        const ColumnView& column = columns.features[slots_[s].feature];
        for (std::size_t i = 0; i < n_groups * kWalkingRows; ++i) {
            Key& key = rows.keys[i / kWalkingRows * n_keys() + s * kWalkingRows + i % kWalkingRows];
            if (s < kFirstSlot) {
                key = s == kNever ? Key{0} : kHighest;
            } else if (i < n) {
                key = key_of(slots_[s], column, first + i);
            }
        }
    }
    return rows;
}

template <class Key, class Index>
Key KeyedForest<Key, Index>::key_of(const Slot& slot, const ColumnView& column,
                                    std::size_t row) const {
    using Number = NumberOf<Key>;
    if (slot.n_bins > 0) {
        const double bin = forest_.bin_of(slot.feature, column.at<std::int32_t>(row));
        return static_cast<Key>(bin == bin ? bin : static_cast<double>(slot.n_bins));
    }
    const auto x = number_at<Number>(column, row);
    if (x == x) return OrderedBits<Number>::of(x);
    return slot.missing_left ? Key{0} : std::numeric_limits<Key>::max();
}

template <class Key, class Index>
void KeyedForest<Key, Index>::find(std::size_t tree, KeyedRows<Key>& rows) const {
    const Nodes nodes = {trees_[tree].nodes.data(), trees_[tree].sets.data(),
                         first_set_ * kWalkingRows};
    // A tree without questions about categories is passed faster.
    trees_[tree].sets.size() > 1 ? find<true>(nodes, rows) : find<false>(nodes, rows);
}

template <class Key, class Index>
template <bool kHasSets>
void KeyedForest<Key, Index>::find(const Nodes& tree, KeyedRows<Key>& rows) const {
    std::size_t n_waiting = set_out<kHasSets>(tree, rows);
    while (n_waiting > 0) n_waiting = advance<kHasSets>(tree, rows, n_waiting);
}

/// Where a walker goes from a node; the keys of its row begin at keys[kRow].
template <class Key, class Index>
template <bool kHasSets, std::size_t kRow>
[[gnu::always_inline]] inline std::size_t KeyedForest<Key, Index>::next(const Nodes& tree,
                                                                        std::size_t at,
                                                                        const Key* keys) {
    const Node* const nodes = tree.nodes;
#if defined(__x86_64__) && defined(__GNUC__)
    if constexpr (sizeof(Node) == 8 && !kHasSets) {
        // Five instructions, which are all there is to a step; compilers make eight.
        std::size_t to;
        std::size_t slot;
        __asm__(
            "movzwl 4(%[nodes],%[at],8), %k[slot]\n\t"
            "movzwl 6(%[nodes],%[at],8), %k[to]\n\t"
            "movl %c[row](%[keys],%[slot],4), %k[slot]\n\t"
            "cmpl %k[slot], (%[nodes],%[at],8)\n\t"
            "adcl %k[to], %k[to]"
            : [to] "=&r"(to), [slot] "=&r"(slot)
            : [nodes] "r"(nodes), [at] "r"(at), [keys] "r"(keys), [row] "i"(kRow * 4),
              "m"(*reinterpret_cast<const Node(*)[]>(nodes)),
              "m"(*reinterpret_cast<const Key(*)[]>(keys))
            : "cc");
        return to;
    }
#endif
    const Node& node = nodes[at];
    const Key key = keys[node.slot + kRow];
    std::size_t right = node.key < key ? 1 : 0;
    if constexpr (kHasSets) {
        // Both answers, and a choice without a branch: what comes next cannot be foretold.
        const std::size_t has_set = node.slot >= tree.first_set ? 1 : 0;
        const std::size_t byte = tree.sets[(node.key + key / 8) & (std::size_t{0} - has_set)];
        right ^= (right ^ (byte >> (key % 8))) & has_set;
    }
    return std::size_t{2} * node.pair + right;
}

/// The first steps of all rows; how many have not arrived then.
template <class Key, class Index>
template <bool kHasSets>
std::size_t KeyedForest<Key, Index>::set_out(const Nodes& tree, KeyedRows<Key>& rows) const {
    std::uint32_t* const waiting = rows.waiting.data();
    std::size_t n_waiting = 0;
    // Spelled out for each of the rows, so that their places stay in registers.
    const auto walk = [&]<std::size_t... w>(std::size_t row, std::index_sequence<w...>) {
        const Key* const keys = &rows.keys[row / kWalkingRows * n_keys()];
        std::size_t at[kWalkingRows] = {};
        for (std::size_t step = 0; step < kFirstSteps; ++step) {
            ((at[w] = next<kHasSets, w>(tree, at[w], keys)), ...);
        }
        ((rows.places[row + w] = static_cast<std::uint32_t>(at[w])), ...);
        ((waiting[n_waiting] = static_cast<std::uint32_t>(row + w),
          n_waiting += is_leaf(tree.nodes[at[w]]) ? 0 : 1),
         ...);
    };
    for (std::size_t row = 0; row < rows.places.size(); row += kWalkingRows) {
        walk(row, std::make_index_sequence<kWalkingRows>());
    }
    return n_waiting;
}

/// Some steps of the rows that have not arrived; how many are still on their way. Leaves of a deep
/// tree are not equally far, and walkers that wait for the last of sixteen would wait often.
template <class Key, class Index>
template <bool kHasSets>
std::size_t KeyedForest<Key, Index>::advance(const Nodes& tree, KeyedRows<Key>& rows,
                                             std::size_t n_waiting) const {
    std::uint32_t* const waiting = rows.waiting.data();
    std::uint32_t* const places = rows.places.data();
    const Key* const all_keys = rows.keys.data();
    const std::size_t n_together = n_keys();
    std::size_t n_left = 0;
    const auto walk = [&]<std::size_t... w>(std::size_t first, std::index_sequence<w...>) {
        const std::uint32_t own[] = {waiting[first + w]...};
        const Key* const keys[] = {
            (all_keys + own[w] / kWalkingRows * n_together + own[w] % kWalkingRows)...};
        std::size_t at[] = {places[own[w]]...};
        for (std::size_t step = 0; step < kMoreSteps; ++step) {
            ((at[w] = next<kHasSets, 0>(tree, at[w], keys[w])), ...);
        }
        ((places[own[w]] = static_cast<std::uint32_t>(at[w])), ...);
        ((waiting[n_left] = own[w], n_left += is_leaf(tree.nodes[at[w]]) ? 0 : 1), ...);
    };
    std::size_t first = 0;
    for (; first + kWalkingRows <= n_waiting; first += kWalkingRows) {
        walk(first, std::make_index_sequence<kWalkingRows>());
    }
    for (; first < n_waiting; ++first) walk(first, std::make_index_sequence<1>());
    return n_left;
}

template class KeyedForest<std::uint32_t, std::uint16_t>;
template class KeyedForest<std::uint32_t, std::uint32_t>;
template class KeyedForest<std::uint64_t, std::uint32_t>;

}  // namespace spinney
