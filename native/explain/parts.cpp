#include "native/explain/parts.hpp"

#include <numeric>

namespace spinney {
namespace {

/// Which cells of its feature a node sends left, or right.
Cells sent(const CellForest& forest, std::size_t node, bool left) {
    Cells cells;
    const std::int32_t set = forest.category_set[node];
    if (set >= 0) {
        const auto bytes = forest.category_sets.subspan(static_cast<std::size_t>(set) * 32, 32);
        cells.bins = {};
        for (std::size_t i = 0; i < 32; ++i) {
            cells.bins[i / 8] |= static_cast<std::uint64_t>(bytes[i]) << (i % 8 * 8);
        }
        for (std::uint64_t& word : cells.bins) word = left ? word : ~word;
    } else if (left) {
        cells.high = forest.cut[node] + 1;
    } else {
        cells.low = forest.cut[node] + 1;
    }
    cells.missing = (forest.missing_left[node] != 0) == left;
    return cells;
}

const Cells* find(const Box& box, std::int32_t feature) {
    for (const Side& side : box) {
        if (side.feature == feature) return &side.cells;
    }
    return nullptr;
}

void restrict_to(Box& box, std::int32_t feature, const Cells& cells) {
    for (Side& side : box) {
        if (side.feature == feature) {
            side.cells = cells;
            return;
        }
    }
    box.push_back({feature, cells});
}

/// The walk of all corners down one tree at once: they agree in the free features.
class Walk {
  public:
    Walk(const CellForest& forest, std::size_t tree, std::span<const Corner> corners)
        : forest_(forest),
          corners_(corners),
          first_(static_cast<std::size_t>(forest.tree_start[tree])) {
        find_separations(static_cast<std::size_t>(forest.tree_start[tree + 1]));
    }

    bool separates() const { return separates_[0] != 0; }

    /// Calls emit(value, box) for every piece.
    template <class Emit>
    void run(const Emit& emit) {
        waiting_.push_back({std::vector<std::size_t>(corners_.size(), first_), {}});
        while (!waiting_.empty()) {
            const State state = std::move(waiting_.back());
            waiting_.pop_back();
            const std::size_t moving = first_moving(state);
            if (moving == corners_.size()) {
                emit(total(state), state.box);
            } else {
                step(state, moving);
            }
        }
    }

  private:
    struct State {
        std::vector<std::size_t> nodes;
        Box box;
    };

    std::size_t child(std::size_t node, bool left) const {
        return left ? node + 1 : first_ + static_cast<std::size_t>(forest_.right[node]);
    }

    bool goes_left(std::size_t corner, std::size_t node) const {
        const Cells* cell = find(corners_[corner].fixed, forest_.feature[node]);
        return meet(*cell, sent(forest_, node, true));
    }

    /// From the back, because children stand behind their parents.
    void find_separations(std::size_t end) {
        separates_.assign(end - first_, 0);
        for (std::size_t node = end; node-- > first_;) {
            if (forest_.feature[node] < 0) continue;
            const bool below = separates_[child(node, true) - first_] != 0 ||
                               separates_[child(node, false) - first_] != 0;
            separates_[node - first_] = below || splits_corners(node) ? 1 : 0;
        }
    }

    bool splits_corners(std::size_t node) const {
        if (find(corners_[0].fixed, forest_.feature[node]) == nullptr) return false;
        for (std::size_t i = 1; i < corners_.size(); ++i) {
            if (goes_left(i, node) != goes_left(0, node)) return true;
        }
        return false;
    }

    /// The first corner that is not at its leaf; none if they stay together to the end, where they
    /// cancel.
    std::size_t first_moving(const State& state) const {
        const std::vector<std::size_t>& nodes = state.nodes;
        if (corners_.size() > 1 && separates_[nodes[0] - first_] == 0 &&
            std::all_of(nodes.begin(), nodes.end(), [&](std::size_t n) { return n == nodes[0]; })) {
            return corners_.size();
        }
        std::size_t i = 0;
        while (i < nodes.size() && forest_.feature[nodes[i]] < 0) ++i;
        return i;
    }

    double total(const State& state) const {
        if (forest_.feature[state.nodes[0]] >= 0) return 0.0;  // they stay together
        double sum = 0.0;
        for (std::size_t i = 0; i < corners_.size(); ++i) {
            sum += corners_[i].sign * forest_.value[state.nodes[i]];
        }
        return sum;
    }

    void step(const State& state, std::size_t moving) {
        const std::size_t node = state.nodes[moving];
        const std::int32_t feature = forest_.feature[node];
        const bool is_fixed = find(corners_[moving].fixed, feature) != nullptr;
        for (const bool left : {false, true}) {
            if (is_fixed && goes_left(moving, node) != left) continue;
            State next = state;
            next.nodes[moving] = child(node, left);
            if (!is_fixed) {
                const Cells* before = find(state.box, feature);
                const Cells& whole = forest_.domain[static_cast<std::size_t>(feature)];
                const Cells cells =
                    intersection(before ? *before : whole, sent(forest_, node, left));
                if (cells.is_empty()) continue;
                restrict_to(next.box, feature, cells);
            }
            waiting_.push_back(std::move(next));
        }
    }

    const CellForest& forest_;
    std::span<const Corner> corners_;
    std::size_t first_;
    std::vector<std::uint8_t> separates_;
    std::vector<State> waiting_;
};

/// Puts the pieces of one part behind the others, the largest value first.
void append(Parts& parts, std::span<const double> values, std::span<const Box> boxes) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
    for (const std::size_t i : order) {
        parts.value.push_back(values[i]);
        parts.sides.insert(parts.sides.end(), boxes[i].begin(), boxes[i].end());
        parts.first_side.push_back(parts.sides.size());
    }
    parts.first_piece.push_back(parts.value.size());
}

}  // namespace

Parts parts_of(const CellForest& forest, std::span<const Corner> corners) {
    Parts parts;
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        Walk walk(forest, tree, corners);
        if (corners.size() > 1 && !walk.separates()) continue;
        std::vector<double> values;
        std::vector<Box> boxes;
        walk.run([&](double value, const Box& box) {
            values.push_back(value);
            boxes.push_back(box);
        });
        const bool is_zero =
            std::all_of(values.begin(), values.end(), [](double value) { return value == 0.0; });
        if (!is_zero) append(parts, values, boxes);
    }
    return parts;
}

}  // namespace spinney
