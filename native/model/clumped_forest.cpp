#include "native/model/clumped_forest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "native/base/isa.hpp"
#include "native/base/parallel.hpp"
#include "native/data/cut_grid.hpp"
#include "native/data/round_down.hpp"
#include "native/model/leaf_products.hpp"

namespace spinney {
namespace {

constexpr RowKey kNever = kMissingKey;  // no key is above
constexpr std::size_t kNowhere = SIZE_MAX;

RowKey limit_of(double threshold) { return OrderedBits<float>::of(round_down<float>(threshold)); }

RowKey key_of(float x) { return x == x ? OrderedBits<float>::of(x) : kMissingKey; }

/// The next float that is not below: on the same side of every float as x itself.
float round_up(double x) {
    const auto rounded = static_cast<float>(x);
    const bool is_below = static_cast<double>(rounded) < x;
    return is_below ? std::nextafter(rounded, std::numeric_limits<float>::infinity()) : rounded;
}

template <class T>
RowKey key_at(const std::byte* address) {
    T x;
    std::memcpy(&x, address, sizeof x);
    if constexpr (sizeof(T) == 8) return key_of(round_up(x));
    return key_of(static_cast<float>(x));
}

/// Keys of rows first + i, i < n.
template <class T>
void read_keys(const ColumnView& column, std::size_t first, std::size_t n, RowKey* keys) {
    if (!column.is_sparse) {
        const std::byte* const from = column.address(first);
        for (std::size_t i = 0; i < n; ++i) {
            keys[i] = key_at<T>(from + static_cast<std::ptrdiff_t>(i) * column.stride);
        }
        return;
    }
    std::fill_n(keys, n, key_of(0.0F));
    for (std::size_t place = column.stored_from(first); place < column.rows.size(); ++place) {
        const std::size_t i = static_cast<std::size_t>(column.rows[place]) - first;
        if (i >= n) return;
        keys[i] = key_at<T>(column.data + place * sizeof(T));
    }
}

/// The features that some node asks about, in their order.
std::vector<std::size_t> asked_features(const ForestArrays& forest) {
    std::vector<std::uint8_t> asked(forest.n_features);
    for (const std::int32_t feature : forest.feature) {
        if (feature >= 0) asked[static_cast<std::size_t>(feature)] = 1;
    }
    std::vector<std::size_t> found;
    for (std::size_t f = 0; f < forest.n_features; ++f) {
        if (asked[f] != 0) found.push_back(f);
    }
    return found;
}

}  // namespace

/// Makes the clumps of one tree. Clumps that many training rows come to stand near the crown.
class ClumpedForest::TreeMaker {
  public:
    TreeMaker(const ForestArrays& forest, std::size_t tree, const std::vector<std::uint8_t>& slots,
              Tree& made)
        : forest_(forest),
          slots_(slots),
          first_(static_cast<std::size_t>(forest.tree_start[tree])),
          made_(made),
          products_(forest, tree) {}

    std::vector<Clump> make() {
        make_crown();
        while (!waiting_.empty()) {
            const Waiting next = waiting_.back();
            waiting_.pop_back();
            make_clump(next);
        }
        if (clumps_.empty()) clumps_.emplace_back();  // kernels look at the first one
        made_.values = products_.take();
        turn_values();
        return std::move(clumps_);
    }

  private:
    /// A node that gets a clump, and who leads to it.
    struct Waiting {
        std::size_t node;
        std::size_t clump;  ///< kNowhere: the crown
        std::size_t exit;
    };
    /// A place of a clump that has no question yet.
    struct Open {
        std::uint32_t place;
        std::int64_t rows;  ///< that come, and one; 0: a leaf or nobody; -1: too far from the root
    };

    void turn_values() {
        const std::size_t width = forest_.value_width;
        const std::size_t n = made_.values.size() / width;
        if (n > kFewProducts) return;
        made_.values_by_output.resize(made_.values.size());
        for (std::size_t i = 0; i < made_.values.size(); ++i) {
            made_.values_by_output[i % width * n + i / width] = made_.values[i];
        }
    }

    bool is_leaf(std::size_t node) const { return forest_.feature[node] < 0; }
    std::size_t left(std::size_t node) const { return node + 1; }
    std::size_t right(std::size_t node) const {
        return first_ + static_cast<std::size_t>(forest_.right[node]);
    }
    std::uint32_t slot(std::size_t node) const {
        return slots_[static_cast<std::size_t>(forest_.feature[node])];
    }
    RowKey limit(std::size_t node) {
        const double threshold = forest_.threshold[node];
        made_.takes_doubles &= static_cast<double>(round_down<float>(threshold)) == threshold;
        return limit_of(threshold);
    }

    void make_crown() {
        std::array<std::size_t, 2 * kCrownExits> nodes;
        nodes.fill(kNowhere);
        nodes[1] = first_;
        Crown& crown = made_.crown;
        crown = {};
        for (std::size_t q = 1; q < kCrownExits; ++q) {
            const std::size_t node = nodes[q];
            crown.limits[q] = kNever;
            if (node == kNowhere) continue;
            nodes[2 * q] = node;  // a leaf is its own left child
            if (is_leaf(node)) continue;
            nodes[2 * q] = left(node);
            nodes[2 * q + 1] = right(node);
            crown.limits[q] = limit(node);
            crown.not_above[q] = forest_.missing_left[node] != 0 ? kMissingKey : 0;
            crown.columns[q] = slot(node) * static_cast<std::uint32_t>(kCrownRows * sizeof(RowKey));
        }
        for (std::size_t exit = 0; exit < kCrownExits; ++exit) {
            const std::size_t node = nodes[kCrownExits + exit];
            if (node != kNowhere) lead(node, kNowhere, exit);
        }
    }

    void make_clump(const Waiting& from) {
        const std::size_t at = clumps_.size();
        *exit(from.clump, from.exit) |= static_cast<std::uint32_t>(at * sizeof(Clump));
        clumps_.emplace_back();
        choose(from.node);
        fill(clumps_[at]);
        std::size_t e = 0;
        for (std::uint64_t rest = exits_; rest != 0; rest &= rest - 1, ++e) {
            const std::size_t node = nodes_[static_cast<std::size_t>(std::countr_zero(rest))];
            if (node != kNowhere) lead(node, at, e);
        }
    }

    /// Puts questions at seven places: where most rows come to, and then anywhere.
    void choose(std::size_t root) {
        shape_ = 0;
        open_[0] = open(root, 1);
        for (std::size_t n_open = 1; n_open < kClumpExits; ++n_open) {
            std::size_t best = 0;
            for (std::size_t i = 1; i < n_open; ++i) {
                best = open_[i].rows > open_[best].rows ? i : best;
            }
            const std::uint32_t q = open_[best].place;
            const std::size_t node = nodes_[q];
            shape_ |= ClumpShape{1} << q;
            const bool any = open_[best].rows > 0;
            questions_[q] = any ? node : kNowhere;
            open_[best] = open(any ? left(node) : node, 2 * q);
            open_[n_open] = open(any ? right(node) : kNowhere, 2 * q + 1);
        }
        exits_ = 0;
        for (const Open& exit : open_) exits_ |= std::uint64_t{1} << exit.place;
    }

    /// A place without a question, and the node that is there: kNowhere if nobody comes.
    Open open(std::size_t node, std::uint32_t place) {
        nodes_[place] = node;
        if (place >= kClumpPlaces) return {place, -1};
        if (node == kNowhere) return {place, 0};
#if defined(__GNUC__)
        // Soon one of them is asked for; both may be far away.
        __builtin_prefetch(&forest_.threshold[node]);
        __builtin_prefetch(&forest_.values[node * forest_.value_width]);
#endif
        if (is_leaf(node)) return {place, 0};
        return {place, forest_.count[node] + 1};
    }

    /// Writes the questions in the order of their places.
    void fill(Clump& clump) {
        clump = {};
        clump.first_exit = static_cast<std::uint16_t>(number_of_shape(shape_) * kClumpAnswers);
        std::size_t i = 0;
        for (ClumpShape rest = shape_; rest != 0; rest &= rest - 1, ++i) {
            const std::size_t node = questions_[static_cast<std::size_t>(std::countr_zero(rest))];
            clump.limits[i] = kNever;
            if (node == kNowhere) continue;
            clump.limits[i] = limit(node);
            clump.exits[i] = slot(node);
            const unsigned missing_left = forest_.missing_left[node] != 0 ? 1U << i : 0U;
            clump.missing_left = static_cast<std::uint8_t>(clump.missing_left | missing_left);
        }
    }

    std::uint32_t* exit(std::size_t clump, std::size_t exit) {
        return clump == kNowhere ? &made_.crown.exits[exit] : &clumps_[clump].exits[exit];
    }

    /// Lets an exit lead to a node: to its leaf, or to a clump that is made later.
    void lead(std::size_t node, std::size_t clump, std::size_t from) {
        if (is_leaf(node)) {
            *exit(clump, from) |=
                kClumpLeaf | static_cast<std::uint32_t>(products_.number_of(node) * sizeof(Clump));
        } else {
            waiting_.push_back({node, clump, from});
        }
    }

    static constexpr std::uint32_t kClumpPlaces = std::uint32_t{1} << kClumpLevels;

    const ForestArrays& forest_;
    const std::vector<std::uint8_t>& slots_;
    std::size_t first_;
    Tree& made_;
    LeafProducts products_;
    std::vector<Clump> clumps_;
    std::vector<Waiting> waiting_;
    std::array<Open, kClumpExits> open_;
    std::array<std::size_t, kClumpPlaces> questions_;  ///< by place
    std::array<std::size_t, 2 * kClumpPlaces> nodes_;  ///< by place
    ClumpShape shape_ = 0;
    std::uint64_t exits_ = 0;  ///< their places, as bits
};

bool ClumpedForest::fits(const ForestArrays& forest) {
    // A tree has fewer clumps than leaves, and no more products: 64 times each is below 2^31.
    constexpr std::int64_t kMostNodes = std::int64_t{1} << 25;
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        if (forest.tree_start[tree + 1] - forest.tree_start[tree] > kMostNodes) return false;
    }
    const std::size_t n_asked = asked_features(forest).size();
    return forest.category_sets.empty() && n_asked > 0 && n_asked <= kMostClumpSlots;
}

ClumpedForest::ClumpedForest(const ForestArrays& forest, int n_threads)
    : trees_(forest.n_trees()),
      features_(asked_features(forest)),
      slots_(forest.n_features),
      value_width_(forest.value_width) {
    for (std::size_t slot = 0; slot < features_.size(); ++slot) {
        slots_[features_[slot]] = static_cast<std::uint8_t>(slot);
    }
    while (n_vectors_ * kKeysTogether < features_.size()) n_vectors_ *= 2;
    std::vector<std::vector<Clump>> clumps(trees_.size());
    parallel_for(n_threads, trees_.size(), [&](std::size_t tree) {
        clumps[tree] = TreeMaker(forest, tree, slots_, trees_[tree]).make();
    });
    std::size_t n_clumps = 0;
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
        trees_[tree].first_clump = n_clumps;
        trees_[tree].n_clumps = clumps[tree].size();
        n_clumps += clumps[tree].size();
    }
    clumps_.resize(n_clumps);
    parallel_for(n_threads, trees_.size(), [&](std::size_t tree) {
        std::copy(clumps[tree].begin(), clumps[tree].end(),
                  clumps_.begin() + static_cast<std::ptrdiff_t>(trees_[tree].first_clump));
    });
}

void ClumpedForest::read(const Columns& columns, std::size_t first, std::size_t n,
                         ClumpRows& rows) const {
    const std::size_t n_crowns = (n + kCrownRows - 1) / kCrownRows;
    const std::size_t n_rows = n_crowns * kCrownRows;  // those that do not exist have keys, too
    const std::size_t width = n_vectors_ * kKeysTogether;
    rows.any_missing = false;
    rows.columns.resize(n_rows / kKeysTogether * features_.size());
    rows.rows.resize(n_rows * n_vectors_);
    rows.waiting.resize(n_rows);
    rows.leaves.resize(n_rows);
    for (std::size_t begin = 0; begin < n; begin += kCrownRows) {
        RowKey* const by_slot = rows.columns.data()->keys + begin * features_.size();
        RowKey* const by_row = rows.rows.data()->keys + begin * width;
        const std::size_t some = std::min(kCrownRows, n - begin);
        for (std::size_t s = 0; s < features_.size(); ++s) {
            const ColumnView& column = columns.features[features_[s]];
            RowKey* const keys = by_slot + s * kCrownRows;
            if (column.type == ValueType::kFloat32) {
                read_keys<float>(column, first + begin, some, keys);
            } else {
                read_keys<double>(column, first + begin, some, keys);
            }
            RowKey highest = 0;
            for (std::size_t i = 0; i < some; ++i) {
                highest = std::max(highest, keys[i]);
                by_row[i * width + s] = keys[i];
            }
            rows.any_missing |= highest == kMissingKey;
        }
    }
}

void ClumpedForest::find(std::size_t tree, ClumpRows& rows) const {
    const Tree& chosen = trees_[tree];
    const Tree& next = trees_[tree + 1 < n_trees() ? tree + 1 : 0];
    clump_kernel()({&chosen.crown, &clumps_[chosen.first_clump], &clumps_[next.first_clump],
                    next.n_clumps, kClumpExitsByAnswers.data(), rows.columns.data()->keys,
                    rows.rows.data()->keys, features_.size(), n_vectors_, rows.leaves.size(),
                    rows.any_missing, rows.waiting.data(), rows.leaves.data()});
}

ClumpKernel* clump_kernel() {
#if defined(__x86_64__) && defined(__GNUC__)
    return pick<ClumpKernel>(find_clumped_portable, nullptr, find_clumped_avx512);
#else
    return find_clumped_portable;
#endif
}

bool has_clump_vectors() { return clump_kernel() != &find_clumped_portable; }

void find_clumped_portable(const ClumpTask& task) {
    const auto goes_right = [](RowKey key, RowKey limit, bool missing_left) {
        return key > limit && !(missing_left && key == kMissingKey);
    };
    for (std::size_t row = 0; row < task.n_rows; ++row) {
        const RowKey* const keys = task.rows + row * task.n_vectors * kKeysTogether;
        std::size_t q = 1;
        while (q < kCrownExits) {
            const Crown& crown = *task.crown;
            const std::size_t slot = crown.columns[q] / (kCrownRows * sizeof(RowKey));
            q = 2 * q + (goes_right(keys[slot], crown.limits[q], crown.not_above[q] != 0) ? 1 : 0);
        }
        std::uint32_t at = task.crown->exits[q - kCrownExits];
        while ((at & kClumpLeaf) == 0) {
            const Clump& clump = task.clumps[at / sizeof(Clump)];
            std::size_t answers = 0;
            for (std::size_t i = 0; i < kClumpQuestions; ++i) {
                const bool missing_left = ((clump.missing_left >> i) & 1) != 0;
                const RowKey key = keys[clump.exits[i] & kSlotBits];
                answers |= std::size_t{goes_right(key, clump.limits[i], missing_left)} << i;
            }
            at = clump.exits[task.exits_by_answers[clump.first_exit + answers]] & ~kSlotBits;
        }
        task.leaves[row] = at;
    }
}

}  // namespace spinney
