#include "native/model/walked_forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "native/data/round_down.hpp"

namespace spinney {
namespace {

constexpr std::uint32_t kNoSlot = UINT32_MAX;

/// The number r for which x > t exactly when -x <= r.
template <class T>
T mirrored(T threshold) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    if (threshold == kInfinity) return std::numeric_limits<T>::quiet_NaN();  // nothing is above
    return std::nextafter(-threshold, -kInfinity);
}

double number_at(const ColumnView& column, std::size_t row) {
    const bool narrow = column.type == ValueType::kFloat32;
    if (!column.is_sparse) {
        return narrow ? static_cast<double>(column.at<float>(row)) : column.at<double>(row);
    }
    const std::size_t place = column.stored_from(row);
    if (place == column.rows.size() || static_cast<std::size_t>(column.rows[place]) != row) {
        return 0.0;
    }
    return narrow ? static_cast<double>(reinterpret_cast<const float*>(column.data)[place])
                  : reinterpret_cast<const double*>(column.data)[place];
}

/// A code among numbers; what cannot be one is missing.
std::int32_t code_of(double x) {
    return x >= 0 && x < 2147483647.0 ? static_cast<std::int32_t>(x) : -1;
}

}  // namespace

template <class T>
WalkedForest<T>::WalkedForest(const ForestArrays& forest)
    : forest_(forest), slot_numbers_(2 * forest.n_features, kNoSlot) {
    nodes_.reserve(forest.n_nodes());
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        const std::int64_t first = forest.tree_start[tree];
        for (std::int64_t node = first; node < forest.tree_start[tree + 1]; ++node) {
            const std::int64_t right = first + forest.right[static_cast<std::size_t>(node)];
            nodes_.push_back(make_node(static_cast<std::size_t>(node),
                                       static_cast<std::int32_t>(node + 1),
                                       static_cast<std::int32_t>(right)));
        }
    }
    if (slots_.empty()) slot_of(0, false);  // leaves ask about slot 0, and do not care
}

template <class T>
typename WalkedForest<T>::Node WalkedForest<T>::make_node(std::size_t node, std::int32_t left,
                                                          std::int32_t right) {
    const auto self = static_cast<std::int32_t>(node);
    if (forest_.feature[node] < 0) return {T{0}, 0, {self, self}};
    const auto feature = static_cast<std::size_t>(forest_.feature[node]);
    if (forest_.category_set[node] >= 0) {
        has_sets_ = true;
        return {T{0}, slot_of(feature, false), {right, left}};
    }
    const T threshold = round_down<T>(forest_.threshold[node]);
    if (!forest_.missing_left[node]) return {threshold, slot_of(feature, false), {right, left}};
    return {mirrored(threshold), slot_of(feature, true), {left, right}};
}

template <class T>
std::uint32_t WalkedForest<T>::slot_of(std::size_t feature, bool negated) {
    std::uint32_t& slot = slot_numbers_[2 * feature + (negated ? 1 : 0)];
    if (slot == kNoSlot) {
        slot = static_cast<std::uint32_t>(slots_.size());
        slots_.push_back({feature, negated});
    }
    return slot;
}

template <class T>
void WalkedForest<T>::read(const Columns& columns, std::size_t row, T* values) const {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        const Slot& slot = slots_[i];
        const ColumnView& column = columns.features[slot.feature];
        const double x = column.type == ValueType::kCode32
                             ? forest_.bin_of(slot.feature, column.at<std::int32_t>(row))
                             : number_at(column, row);
        values[i] = static_cast<T>(slot.negated ? -x : x);
    }
}

template <class T>
void WalkedForest<T>::read(const double* row, T* values) const {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        const Slot& slot = slots_[i];
        double x = row[slot.feature];
        if (forest_.is_categorical(slot.feature)) x = forest_.bin_of(slot.feature, code_of(x));
        values[i] = static_cast<T>(slot.negated ? -x : x);
    }
}

template <class T>
bool WalkedForest<T>::in_set(std::size_t node, T bin) const {
    if (bin != bin) return forest_.missing_left[node] != 0;
    const auto b = static_cast<std::size_t>(bin);
    const auto set = static_cast<std::size_t>(forest_.category_set[node]);
    return (forest_.category_sets[set * kCategorySetBytes + b / 8] >> (b % 8)) & 1;
}

/// Whether some walker moved.
template <class T>
template <bool kHasSets>
bool WalkedForest<T>::step(std::int32_t (&at)[kWalkers], const T* const (&rows)[kWalkers]) const {
    std::int32_t moved = 0;
    for (std::size_t w = 0; w < kWalkers; ++w) {
        const auto here = static_cast<std::size_t>(at[w]);
        const Node& node = nodes_[here];
        const T x = rows[w][node.slot];
        bool answer = x <= node.threshold;
        if constexpr (kHasSets) {
            if (forest_.category_set[here] >= 0) answer = in_set(here, x);
        }
        const std::int32_t next = node.next[answer ? 1 : 0];
        moved |= next ^ at[w];
        at[w] = next;
    }
    return moved != 0;
}

template <class T>
void WalkedForest<T>::walk(std::int32_t (&at)[kWalkers], const T* const (&rows)[kWalkers]) const {
    if (has_sets_) {
        while (step<true>(at, rows)) {
        }
    } else {
        while (step<false>(at, rows)) {
        }
    }
}

template class WalkedForest<float>;
template class WalkedForest<double>;

}  // namespace spinney
