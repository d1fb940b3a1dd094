#include "native/model/predictor.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "native/base/parallel.hpp"
#include "native/model/score_blocks.hpp"

namespace spinney {
namespace {

/// Rows that pass a tree before the next one does: a tree is fetched once for all of them, and the
/// bytes of 28 features stay in the first-level cache.
constexpr std::size_t kSlices = 3;
constexpr std::size_t kBlockRows = kSlices * kByteRows;
/// Below this, a slice of which most rows do not exist takes longer than walking.
constexpr std::size_t kFewRows = 16;

struct LeafConsumer {
    const ForestArrays& forest;
    std::span<std::int32_t> leaves;

    class Block {
      public:
        Block(const LeafConsumer& consumer, std::size_t first, std::size_t n)
            : forest_(consumer.forest),
              leaves_(consumer.leaves.data() + first * consumer.forest.n_trees()),
              n_(n) {}

        void add(std::size_t tree, std::size_t row, std::size_t node) {
            leaves_[row * forest_.n_trees() + tree] = static_cast<std::int32_t>(
                static_cast<std::int64_t>(node) - forest_.tree_start[tree]);
        }

        void add_slices(std::size_t tree, std::size_t, const std::uint8_t* leaves,
                        const SlicedForest& sliced) {
            const auto nodes = sliced.leaf_nodes(tree);
            for (std::size_t i = 0; i < n_; ++i) {
                add(tree, i, static_cast<std::size_t>(nodes[leaves[i]]));
            }
        }

        template <class Keyed>
        void add_places(std::size_t tree, const std::uint32_t* places, const Keyed& keyed) {
            for (std::size_t i = 0; i < n_; ++i) {
                leaves_[i * forest_.n_trees() + tree] = keyed.leaf_id(tree, places[i]);
            }
        }

        void end() {}

      private:
        const ForestArrays& forest_;
        std::int32_t* leaves_;
        std::size_t n_;
    };
};

template <class Consumer>
void pass_sliced(const SlicedForest& sliced, const Columns& columns, const Consumer& consumer,
                 std::size_t first, std::size_t n) {
    const std::size_t lines = sliced.n_bytes() / 64;
    std::vector<Line<std::int8_t>> room(kSlices * lines + 1);  // not empty without splits
    alignas(64) std::uint8_t leaves[kBlockRows];
    const std::size_t n_slices = (n + kByteRows - 1) / kByteRows;
    for (std::size_t s = 0; s < n_slices; ++s) {
        sliced.columns().read(columns, first + s * kByteRows,
                              std::min(kByteRows, n - s * kByteRows), room[s * lines].items);
    }
    typename Consumer::Block block(consumer, first, n);
    SliceKernel* find_leaves = slice_kernels().find_leaves;
    for (std::size_t tree = 0; tree < sliced.n_trees(); ++tree) {
        find_leaves(sliced.task(tree, room[0].items, n_slices, leaves));
        block.add_slices(tree, n_slices, leaves, sliced);
    }
    block.end();
}

template <class Key, class Index, class Consumer>
void pass_keyed(const KeyedForest<Key, Index>& keyed, const Columns& columns,
                const Consumer& consumer, std::size_t first, std::size_t n) {
    KeyedRows<Key> rows = keyed.read(columns, first, n);
    typename Consumer::Block block(consumer, first, n);
    for (std::size_t tree = 0; tree < keyed.n_trees(); ++tree) {
        keyed.find(tree, rows);
        block.add_places(tree, rows.places.data(), keyed);
    }
    block.end();
}

/// Walkers are rows in one tree, or trees for one row. `read_row(row, values)` reads a row.
template <class T, class Consumer, class ReadRow>
void pass_walked(const WalkedForest<T>& walked, const ForestArrays& forest,
                 const Consumer& consumer, std::size_t first, std::size_t n,
                 const ReadRow& read_row) {
    const std::size_t n_slots = walked.n_slots();
    std::vector<T> values(n * n_slots);
    for (std::size_t i = 0; i < n; ++i) read_row(first + i, &values[i * n_slots]);
    typename Consumer::Block block(consumer, first, n);
    const bool over_rows = n >= kWalkers;
    const std::size_t n_outer = over_rows ? forest.n_trees() : n;
    const std::size_t n_inner = over_rows ? n : forest.n_trees();
    for (std::size_t outer = 0; outer < n_outer; ++outer) {
        for (std::size_t inner = 0; inner < n_inner; inner += kWalkers) {
            std::int32_t at[kWalkers];
            const T* rows[kWalkers];
            const auto tree_and_row = [&](std::size_t w) {
                const std::size_t i = std::min(inner + w, n_inner - 1);
                return over_rows ? std::pair(outer, i) : std::pair(i, outer);
            };
            for (std::size_t w = 0; w < kWalkers; ++w) {
                const auto [tree, row] = tree_and_row(w);
                at[w] = static_cast<std::int32_t>(forest.tree_start[tree]);
                rows[w] = &values[row * n_slots];
            }
            walked.walk(at, rows);
            for (std::size_t w = 0; w < std::min(kWalkers, n_inner - inner); ++w) {
                const auto [tree, row] = tree_and_row(w);
                block.add(tree, row, static_cast<std::size_t>(at[w]));
            }
        }
    }
    block.end();
}

bool is_narrow(const Columns& columns) {
    return std::none_of(columns.features.begin(), columns.features.end(),
                        [](const ColumnView& c) { return c.type == ValueType::kFloat64; });
}

/// Rows that pass a tree before the next one does: as many as may be, `most`, and as many blocks of
/// them for each thread.
std::size_t rows_together(std::size_t n_rows, std::size_t n_threads, std::size_t most) {
    const std::size_t n_blocks = (n_rows + most * n_threads - 1) / (most * n_threads);
    const std::size_t share = n_rows / std::max<std::size_t>(n_blocks * n_threads, 1) + 1;
    const std::size_t groups = (share + kCrownRows - 1) / kCrownRows;
    static_assert(kCrownRows % kWalkingRows == 0);
    return std::clamp(groups * kCrownRows, kFewKeyedRows, most);
}

}  // namespace

Road Predictor::choose(std::size_t n_rows, Road road) const {
    const bool few = road == Road::kBest && n_rows < kFewRows;
    if (road == Road::kWalked || few) return Road::kWalked;
    const bool by_itself = road == Road::kBest || road == Road::kSliced;
    if (by_itself && SlicedForest::fits(forest_)) return Road::kSliced;
    const bool clumps = road == Road::kClumped || (by_itself && has_clump_vectors());
    if (clumps && fits_clumps_.get(forest_).yes) return Road::kClumped;
    return has_keys(forest_) ? Road::kKeyed : Road::kWalked;
}

template <class Consumer>
void Predictor::pass(const Columns& columns, const Consumer& consumer, int n_threads,
                     Road road) const {
    check_features(forest_, columns);
    const Road chosen = choose(columns.n_rows, road);
    if (chosen == Road::kClumped) {
        if constexpr (std::is_same_v<Consumer, ScoreConsumer>) {
            return pass_by_clumps(columns, consumer, n_threads);
        }
    }
    // Clumps know what leaves add, and not which they are.
    if (chosen == Road::kKeyed || chosen == Road::kClumped) {
        return pass_by_keys(columns, consumer, n_threads);
    }
    const bool slices = chosen == Road::kSliced;
    const bool narrow = is_narrow(columns);
    const auto walk = [&](const auto& walked, std::size_t begin, std::size_t end) {
        pass_walked(walked, forest_, consumer, begin, end - begin,
                    [&](std::size_t row, auto* values) { walked.read(columns, row, values); });
    };
    parallel_blocks(n_threads, columns.n_rows, kBlockRows, [&](std::size_t begin, std::size_t end) {
        if (slices) {
            pass_sliced(sliced_.get(forest_), columns, consumer, begin, end - begin);
        } else if (narrow) {
            walk(narrow_.get(forest_), begin, end);
        } else {
            walk(wide_.get(forest_), begin, end);
        }
    });
}

template <class Consumer>
void Predictor::pass_by_keys(const Columns& columns, const Consumer& consumer,
                             int n_threads) const {
    const std::size_t together =
        rows_together(columns.n_rows, static_cast<std::size_t>(n_threads), kKeyedRows);
    const auto pass_all = [&](const auto& keyed) {
        parallel_blocks(n_threads, columns.n_rows, together,
                        [&](std::size_t begin, std::size_t end) {
                            pass_keyed(keyed, columns, consumer, begin, end - begin);
                        });
    };
    if (!is_narrow(columns)) {
        pass_all(wide_keyed_.get(forest_, n_threads));
    } else if (has_small_trees(forest_)) {
        pass_all(small_keyed_.get(forest_, n_threads));
    } else {
        pass_all(narrow_keyed_.get(forest_, n_threads));
    }
}

/// Trees with thresholds that are no floats take doubles by their own keys.
void Predictor::pass_by_clumps(const Columns& columns, const ScoreConsumer& consumer,
                               int n_threads) const {
    const ClumpedForest& clumped = clumped_.get(forest_, n_threads);
    const bool narrow = is_narrow(columns);
    const auto by_clumps = [&](std::size_t tree) { return narrow || clumped.takes_doubles(tree); };
    const KeyedForest<std::uint64_t, std::uint32_t>* keyed = nullptr;
    for (std::size_t tree = 0; tree < clumped.n_trees() && keyed == nullptr; ++tree) {
        if (!by_clumps(tree)) keyed = &wide_keyed_.get(forest_, n_threads);
    }
    const auto pass_block = [&](std::size_t begin, std::size_t end) {
        // Stays with the thread: pages that the system clears anew took a tenth of the time.
        thread_local ClumpRows rows;
        clumped.read(columns, begin, end - begin, rows);
        KeyedRows<std::uint64_t> wide_rows;
        if (keyed != nullptr) wide_rows = keyed->read(columns, begin, end - begin);
        ScoreConsumer::Block block(consumer, begin, end - begin);
        for (std::size_t tree = 0; tree < clumped.n_trees(); ++tree) {
            if (by_clumps(tree)) {
                clumped.find(tree, rows);
                block.add_clumped(tree, rows.leaves.data(), clumped);
            } else {
                keyed->find(tree, wide_rows);
                block.add_places(tree, wide_rows.places.data(), *keyed);
            }
        }
        block.end();
    };
    const auto most =
        rows_together(columns.n_rows, static_cast<std::size_t>(n_threads), kClumpedRows);
    parallel_blocks(n_threads, columns.n_rows, most, pass_block);
}

void Predictor::predict(const Columns& columns, const Finish& finish, std::span<double> predictions,
                        int n_threads, Road road) const {
    pass(columns, ScoreConsumer{forest_, finish, predictions}, n_threads, road);
}

void Predictor::predict_rows(std::span<const double> rows, const Finish& finish,
                             std::span<double> predictions) const {
    const std::size_t n_rows = rows.size() / forest_.n_features;
    const auto& walked = wide_.get(forest_);
    for (std::size_t first = 0; first < n_rows; first += kBlockRows) {
        pass_walked(walked, forest_, ScoreConsumer{forest_, finish, predictions}, first,
                    std::min(kBlockRows, n_rows - first), [&](std::size_t row, double* values) {
                        walked.read(rows.data() + row * forest_.n_features, values);
                    });
    }
}

void Predictor::leaf_ids(const Columns& columns, std::span<std::int32_t> leaves, int n_threads,
                         Road road) const {
    pass(columns, LeafConsumer{forest_, leaves}, n_threads, road);
}

}  // namespace spinney
