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
    return forest.n_features <= (0x10000 / kWalkingRows - 2) / 2;
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
        using Number = NumberOf<Key>;
        const auto feature = static_cast<std::size_t>(forest.feature[node]);
        const std::size_t slot = slot_numbers_[2 * feature + (forest.missing_left[node] ? 1 : 0)];
        const Key key = OrderedBits<Number>::of(round_down<Number>(forest.threshold[node]));
        made.nodes[place] = {key, static_cast<Index>(slot * kWalkingRows),
                             static_cast<Index>(pair)};
        const std::size_t right = first + static_cast<std::size_t>(forest.right[node]);
        const std::int64_t half = forest.count[node] - forest.count[node] / 2;
        const bool left_first = forest.count[node + 1] >= half;
        const std::size_t behind_left = pair + 1 + (right - node - 1) / 2;
        const std::size_t behind_right = pair + 1 + (end - right) / 2;
        waiting.push_back({2 * pair + 1, left_first ? behind_left : pair + 1, end});
        waiting.push_back({2 * pair, left_first ? pair + 1 : behind_right, right});
    }
    made.values = products.take();
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
    using Number = NumberOf<Key>;
    constexpr Key kHighest = std::numeric_limits<Key>::max();
    const std::size_t n_groups = (n + kWalkingRows - 1) / kWalkingRows;
    KeyedRows<Key> rows;
    rows.n = n;
    rows.keys.resize(n_groups * n_keys());  // rows that do not exist have keys, too
    rows.waiting.resize(n_groups * kWalkingRows);
    rows.places.resize(n_groups * kWalkingRows);
    for (std::size_t s = 0; s < slots_.size(); ++s) {
        const ColumnView& column = columns.features[slots_[s].feature];
        const Key missing = slots_[s].missing_left ? Key{0} : kHighest;
        for (std::size_t i = 0; i < n_groups * kWalkingRows; ++i) {
            Key& key = rows.keys[i / kWalkingRows * n_keys() + s * kWalkingRows + i % kWalkingRows];
            if (s < kFirstSlot) {
                key = s == kNever ? Key{0} : kHighest;
            } else if (i < n) {
                const auto x = number_at<Number>(column, first + i);
                key = x == x ? OrderedBits<Number>::of(x) : missing;
            }
        }
    }
    return rows;
}

template <class Key, class Index>
void KeyedForest<Key, Index>::find(std::size_t tree, KeyedRows<Key>& rows) const {
    const Node* const nodes = trees_[tree].nodes.data();
    std::size_t n_waiting = set_out(nodes, rows);
    while (n_waiting > 0) n_waiting = advance(nodes, rows, n_waiting);
}

/// Where a walker goes from a node; the keys of its row begin at keys[kRow].
template <class Key, class Index>
template <std::size_t kRow>
[[gnu::always_inline]] inline std::size_t KeyedForest<Key, Index>::next(const Node* nodes,
                                                                        std::size_t at,
                                                                        const Key* keys) {
#if defined(__x86_64__) && defined(__GNUC__)
    if constexpr (sizeof(Node) == 8) {
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
    return std::size_t{2} * node.pair + (node.key < keys[node.slot + kRow] ? 1 : 0);
}

/// The first steps of all rows; how many have not arrived then.
template <class Key, class Index>
std::size_t KeyedForest<Key, Index>::set_out(const Node* nodes, KeyedRows<Key>& rows) const {
    std::uint32_t* const waiting = rows.waiting.data();
    std::size_t n_waiting = 0;
    // Spelled out for each of the rows, so that their places stay in registers.
    const auto walk = [&]<std::size_t... w>(std::size_t row, std::index_sequence<w...>) {
        const Key* const keys = &rows.keys[row / kWalkingRows * n_keys()];
        std::size_t at[kWalkingRows] = {};
        for (std::size_t step = 0; step < kFirstSteps; ++step) {
            ((at[w] = next<w>(nodes, at[w], keys)), ...);
        }
        ((rows.places[row + w] = static_cast<std::uint32_t>(at[w])), ...);
        ((waiting[n_waiting] = static_cast<std::uint32_t>(row + w),
          n_waiting += is_leaf(nodes[at[w]]) ? 0 : 1),
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
std::size_t KeyedForest<Key, Index>::advance(const Node* nodes, KeyedRows<Key>& rows,
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
            ((at[w] = next<0>(nodes, at[w], keys[w])), ...);
        }
        ((places[own[w]] = static_cast<std::uint32_t>(at[w])), ...);
        ((waiting[n_left] = own[w], n_left += is_leaf(nodes[at[w]]) ? 0 : 1), ...);
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
