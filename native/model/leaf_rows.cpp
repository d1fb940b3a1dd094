#include "native/model/leaf_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "native/base/failure.hpp"
#include "native/base/parallel.hpp"

namespace spinney {
namespace {

constexpr std::size_t kRowsPerBlock = 512;
/// Shares are sums of rounded numbers: one that falls short by this much is reached.
constexpr double kRounding = 0x1p-40;

void require(bool holds, const char* what) {
    if (!holds) throw Failure(FailureKind::kInvalidModel, what);
}

bool covers(std::span<const std::int64_t> starts, std::size_t n_items) {
    return !starts.empty() && starts.front() == 0 && std::is_sorted(starts.begin(), starts.end()) &&
           starts.back() == static_cast<std::int64_t>(n_items);
}

void check(const LeafRowArrays& arrays) {
    require(!arrays.entry_start.empty() && covers(arrays.tree_start, arrays.entry_start.size() - 1),
            "trees do not cover the nodes");
    require(
        covers(arrays.entry_start, arrays.row.size()) && arrays.times.size() == arrays.row.size(),
        "rows of leaves do not fit the nodes");
    require(arrays.weight.size() == arrays.target.size() && !arrays.target.empty() &&
                arrays.target.size() <= std::numeric_limits<std::int32_t>::max(),
            "rows, weights and targets differ in length");
    require(std::all_of(arrays.row.begin(), arrays.row.end(),
                        [&](std::uint32_t row) { return row < arrays.target.size(); }),
            "a leaf names a row that does not exist");
    require(std::none_of(arrays.times.begin(), arrays.times.end(),
                         [](std::uint32_t times) { return times == 0; }),
            "a leaf holds a row that was never drawn");
    require(std::all_of(arrays.weight.begin(), arrays.weight.end(),
                        [](double weight) { return std::isfinite(weight) && weight > 0.0; }),
            "a weight is not a positive number");
    require(std::all_of(arrays.target.begin(), arrays.target.end(),
                        [](double target) { return std::isfinite(target); }) &&
                std::is_sorted(arrays.target.begin(), arrays.target.end()),
            "targets are not numbers in increasing order");
}

}  // namespace

/// Room for the weights of one row of a table: added where they belong, and where there are any
/// marked by a bit, so that they are read in the order of rows without sorting.
class LeafRows::Sums {
  public:
    explicit Sums(const LeafRows& from)
        : from_(from),
          sum_(from.arrays_.target.size(), 0.0),
          marks_((from.arrays_.target.size() + 63) / 64, 0) {}

    /// Adds the leaves of a row; returns how many trees count.
    std::size_t add(std::span<const std::int32_t> leaves) {
        const LeafRowArrays& arrays = from_.arrays_;
        std::size_t n_counted = 0;
        for (std::size_t t = 0; t < leaves.size(); ++t) {
            if (leaves[t] < 0) continue;
            const std::int64_t at = arrays.tree_start[t] + leaves[t];
            if (at >= arrays.tree_start[t + 1]) {
                throw Failure(FailureKind::kInvalidInput, "a leaf that the tree does not have");
            }
            const auto node = static_cast<std::size_t>(at);
            const double unit = 1.0 / from_.leaf_weight_[node];
            const auto last = static_cast<std::size_t>(arrays.entry_start[node + 1]);
            for (auto i = static_cast<std::size_t>(arrays.entry_start[node]); i < last; ++i) {
                const std::uint32_t row = arrays.row[i];
                sum_[row] += static_cast<double>(arrays.times[i]) * arrays.weight[row] * unit;
                marks_[row / 64] |= std::uint64_t{1} << (row % 64);
            }
            ++n_counted;
        }
        return n_counted;
    }

    /// Calls with (row, sum) for every row with a sum, in order, and forgets them.
    template <class Callable>
    void drain(Callable&& callable) {
        for (std::size_t word = 0; word < marks_.size(); ++word) {
            for (std::uint64_t bits = marks_[word]; bits != 0; bits &= bits - 1) {
                const std::size_t row =
                    word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
                callable(static_cast<std::uint32_t>(row), sum_[row]);
                sum_[row] = 0.0;
            }
            marks_[word] = 0;
        }
    }

  private:
    const LeafRows& from_;
    std::vector<double> sum_;
    std::vector<std::uint64_t> marks_;
};

LeafRows::LeafRows(const LeafRowArrays& arrays) : arrays_(arrays) {
    check(arrays);
    leaf_weight_.resize(arrays.entry_start.size() - 1);
    for (std::size_t node = 0; node < leaf_weight_.size(); ++node) {
        double sum = 0.0;
        const auto last = static_cast<std::size_t>(arrays.entry_start[node + 1]);
        for (auto i = static_cast<std::size_t>(arrays.entry_start[node]); i < last; ++i) {
            sum += static_cast<double>(arrays.times[i]) * arrays.weight[arrays.row[i]];
        }
        require(std::isfinite(sum), "the weights of a leaf are too large");
        leaf_weight_[node] = sum;
    }
}

void LeafRows::quantiles(std::span<const std::int32_t> leaves, std::span<const double> levels,
                         std::span<double> quantiles, int n_threads) const {
    const std::size_t n_rows = n_trees() == 0 ? 0 : leaves.size() / n_trees();
    if (leaves.size() != n_rows * n_trees() || quantiles.size() != n_rows * levels.size()) {
        throw Failure(FailureKind::kInvalidInput, "leaves and quantiles do not fit");
    }
    parallel_blocks(n_threads, n_rows, kRowsPerBlock, [&](std::size_t first, std::size_t last) {
        Sums sums(*this);
        std::vector<std::uint32_t> rows;
        std::vector<double> cumulative;
        for (std::size_t r = first; r < last; ++r) {
            rows.clear();
            cumulative.clear();
            double total = 0.0;
            sums.add(leaves.subspan(r * n_trees(), n_trees()));
            sums.drain([&](std::uint32_t row, double sum) {
                rows.push_back(row);
                cumulative.push_back(total += sum);
            });
            for (std::size_t k = 0; k < levels.size(); ++k) {
                const double wanted = levels[k] * total * (1.0 - kRounding);
                const auto reached = std::lower_bound(cumulative.begin(), cumulative.end(), wanted);
                const auto place = static_cast<std::size_t>(reached - cumulative.begin());
                quantiles[r * levels.size() + k] =
                    rows.empty() ? std::numeric_limits<double>::quiet_NaN()
                                 : arrays_.target[rows[std::min(place, rows.size() - 1)]];
            }
        }
    });
}

RowWeights LeafRows::weights(std::span<const std::int32_t> leaves) const {
    if (leaves.size() != n_trees()) {
        throw Failure(FailureKind::kInvalidInput, "leaves do not fit the trees");
    }
    Sums sums(*this);
    const auto n_counted = static_cast<double>(sums.add(leaves));
    RowWeights weights;
    sums.drain([&](std::uint32_t row, double sum) {
        weights.row.push_back(row);
        weights.weight.push_back(sum / n_counted);
    });
    return weights;
}

}  // namespace spinney
