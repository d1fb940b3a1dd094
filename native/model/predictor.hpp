/// Rows down the trees of a frozen forest, by the road that suits the forest and the rows. Every
/// road, instruction set and number of threads gives the same bits: a row's score is the baseline
/// and then tree after tree, weight * value, in their order.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "native/data/columns.hpp"
#include "native/model/clumped_forest.hpp"
#include "native/model/forest.hpp"
#include "native/model/keyed_forest.hpp"
#include "native/model/links.hpp"
#include "native/model/sliced_forest.hpp"
#include "native/model/walked_forest.hpp"

namespace spinney {

/// The same answers from each of them; kBest is what predictions take, the others are for tests.
enum class Road { kBest, kSliced, kClumped, kKeyed, kWalked };

struct ScoreConsumer;

/// What becomes of the sum of the trees.
struct Finish {
    double divisor = 1.0;  ///< of means
    Link link = Link::kIdentity;
};

/// Makes what a road needs when it is first taken; afterwards nothing changes, so that any number
/// of threads may predict at once.
class Predictor {
  public:
    /// Borrows the arrays, which must have been checked.
    explicit Predictor(const ForestArrays& forest) : forest_(forest) {}

    /// predictions: n_predicted(link, n_outputs) numbers per row, row by row.
    void predict(const Columns& columns, const Finish& finish, std::span<double> predictions,
                 int n_threads, Road road = Road::kBest) const;

    /// The same of rows that are numbers already, row by row: of categories their codes, NaN for
    /// missing. For a few rows, on this thread: nothing but the walk and the link.
    void predict_rows(std::span<const double> rows, const Finish& finish,
                      std::span<double> predictions) const;

    /// leaves[row * n_trees + tree]: number of the leaf within its tree.
    void leaf_ids(const Columns& columns, std::span<std::int32_t> leaves, int n_threads,
                  Road road = Road::kBest) const;

  private:
    /// A forest in the form of a road, made once. A fork() while another thread makes it leaves the
    /// child to make it again: so the GNU C library promises.
    template <class Form>
    class Made {
      public:
        template <class... Arguments>
        const Form& get(const Arguments&... arguments) const {
            std::call_once(once_, [&] { form_ = std::make_unique<Form>(arguments...); });
            return *form_;
        }

      private:
        mutable std::once_flag once_;
        mutable std::unique_ptr<const Form> form_;
    };

    template <class Consumer>
    void pass(const Columns& columns, const Consumer& consumer, int n_threads, Road road) const;
    template <class Consumer>
    void pass_by_keys(const Columns& columns, const Consumer& consumer, int n_threads) const;
    void pass_by_clumps(const Columns& columns, const ScoreConsumer& consumer, int n_threads) const;
    Road choose(std::size_t n_rows, Road road) const;

    /// Looked at once, for it looks at every node.
    struct FitsClumps {
        explicit FitsClumps(const ForestArrays& forest) : yes(ClumpedForest::fits(forest)) {}
        bool yes;
    };

    const ForestArrays& forest_;
    Made<SlicedForest> sliced_;
    Made<FitsClumps> fits_clumps_;
    Made<ClumpedForest> clumped_;
    Made<KeyedForest<std::uint32_t, std::uint16_t>> small_keyed_;
    Made<KeyedForest<std::uint32_t, std::uint32_t>> narrow_keyed_;
    Made<KeyedForest<std::uint64_t, std::uint32_t>> wide_keyed_;
    Made<WalkedForest<float>> narrow_;
    Made<WalkedForest<double>> wide_;
};

}  // namespace spinney
