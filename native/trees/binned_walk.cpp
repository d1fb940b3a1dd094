#include "native/trees/binned_walk.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "native/base/parallel.hpp"

namespace spinney {
namespace {

constexpr std::size_t kBlockRows = 2048;

struct WalkNode {
    const std::uint8_t* codes = nullptr;           ///< of the feature's bundle; null: a leaf
    std::int32_t right = -1;                       ///< within the tree; the left child is the next
    double step = 0.0;                             ///< weight * value
    std::array<std::uint8_t, 256> goes_left = {};  ///< per code
};

/// Which bins of a split go left, missing values left aside.
std::array<std::uint8_t, 256> bins_to_the_left(const GrownTrees& trees, std::size_t node,
                                               std::span<const double> cuts) {
    const GrownTree& all = trees.nodes();
    std::array<std::uint8_t, 256> goes_left = {};
    if (all.category_set[node] >= 0) {
        const std::uint8_t* set =
            all.category_sets.data() +
            static_cast<std::size_t>(all.category_set[node]) * kCategorySetBytes;
        for (std::size_t bin = 0; bin < 256; ++bin)
            goes_left[bin] = (set[bin / 8] >> (bin % 8)) & 1;
    } else {  // an infinite threshold is behind the last bin
        const auto cut = std::lower_bound(cuts.begin(), cuts.end(), trees.thresholds()[node]);
        std::fill_n(goes_left.begin(), cut - cuts.begin() + 1, std::uint8_t{1});
    }
    return goes_left;
}

std::vector<WalkNode> nodes_of(const GrownTrees& trees, std::size_t number, double weight,
                               std::size_t component, const TrainingBins& bins,
                               const std::vector<std::vector<double>>& cuts) {
    const GrownTree& all = trees.nodes();
    const auto first = static_cast<std::size_t>(trees.starts()[number]);
    const auto last = static_cast<std::size_t>(trees.starts()[number + 1]);
    std::vector<WalkNode> nodes(last - first);
    for (std::size_t i = first; i < last; ++i) {
        WalkNode& node = nodes[i - first];
        node.step = weight * all.values[i * trees.width() + component];
        if (all.feature[i] < 0) continue;
        const auto feature = static_cast<std::size_t>(all.feature[i]);
        const FeaturePlace& place = bins.place(feature);
        node.codes = bins.codes(place.bundle);
        node.right = all.right[i];
        auto goes_left = bins_to_the_left(trees, i, cuts[feature]);
        goes_left[bins.n_value_bins(feature)] = all.missing_left[i];
        for (std::size_t code = 0; code < 256; ++code) {
            node.goes_left[code] = goes_left[place.bin(static_cast<std::uint8_t>(code))];
        }
    }
    return nodes;
}

/// Rows of a block, by their places in it, on their way down a tree: at every node the ones that go
/// left, then the others, without a branch.
class BlockRows {
  public:
    BlockRows(std::size_t first_row, std::size_t n_rows) : first_row_(first_row), n_rows_(n_rows) {}

    void add(const std::vector<WalkNode>& nodes, double* scores) {
        std::iota(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(n_rows_),
                  std::uint16_t{0});
        stack_.assign(1, {0, 0, n_rows_});
        while (!stack_.empty()) {
            const Visit visit = stack_.back();
            stack_.pop_back();
            const WalkNode& node = nodes[static_cast<std::size_t>(visit.node)];
            if (node.codes == nullptr) {
                for (std::size_t i = visit.first; i < visit.last; ++i) {
                    scores[first_row_ + places_[i]] += node.step;
                }
                continue;
            }
            const std::size_t middle = split(node, visit.first, visit.last);
            if (middle < visit.last) stack_.push_back({node.right, middle, visit.last});
            if (visit.first < middle) stack_.push_back({visit.node + 1, visit.first, middle});
        }
    }

  private:
    struct Visit {
        std::int32_t node;
        std::size_t first, last;
    };

    std::size_t split(const WalkNode& node, std::size_t first, std::size_t last) {
        const std::uint8_t* codes = node.codes + first_row_;
        std::size_t n_left = first;
        std::size_t n_right = 0;
        for (std::size_t i = first; i < last; ++i) {
            const std::uint16_t place = places_[i];
            const std::size_t left = node.goes_left[codes[place]];
            places_[n_left] = place;
            rights_[n_right] = place;
            n_left += left;
            n_right += 1 - left;
        }
        std::copy_n(rights_.begin(), n_right,
                    places_.begin() + static_cast<std::ptrdiff_t>(n_left));
        return n_left;
    }

    std::size_t first_row_, n_rows_;
    std::array<std::uint16_t, kBlockRows> places_{}, rights_{};
    std::vector<Visit> stack_;
};

}  // namespace

void add_tree_values(const GrownTrees& trees, const WeightedTrees& some, const TrainingBins& bins,
                     const std::vector<std::vector<double>>& cuts, std::span<double> scores,
                     int n_threads) {
    std::vector<std::vector<WalkNode>> walks;
    for (std::size_t i = 0; i < some.numbers.size(); ++i) {
        walks.push_back(nodes_of(trees, static_cast<std::size_t>(some.numbers[i]), some.weights[i],
                                 some.component, bins, cuts));
    }
    parallel_blocks(n_threads, scores.size(), kBlockRows, [&](std::size_t begin, std::size_t end) {
        BlockRows rows(begin, end - begin);
        for (const std::vector<WalkNode>& nodes : walks) rows.add(nodes, scores.data());
    });
}

}  // namespace spinney
