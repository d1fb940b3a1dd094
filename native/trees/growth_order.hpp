/// Which open node is split next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace spinney {

/// A node waiting to be split.
struct OpenNode {
    std::int32_t node = 0;  ///< number in order of creation
    double gain = 0.0;
};

/// Best first (largest gain, ties to the older node) when the number of leaves is limited: the
/// order then decides which tree results. Depth first otherwise: this keeps the fewest
/// histograms alive, and unless features are drawn per node every order gives the same tree.
class GrowthOrder {
  public:
    explicit GrowthOrder(bool best_first) : best_first_(best_first) {}

    bool empty() const { return open_.empty(); }

    void push(OpenNode node) {
        open_.push_back(node);
        if (best_first_) std::push_heap(open_.begin(), open_.end(), comes_later);
    }

    OpenNode pop() {
        if (best_first_) std::pop_heap(open_.begin(), open_.end(), comes_later);
        const OpenNode next = open_.back();
        open_.pop_back();
        return next;
    }

  private:
    static bool comes_later(const OpenNode& a, const OpenNode& b) {
        return a.gain != b.gain ? a.gain < b.gain : a.node > b.node;
    }

    bool best_first_;
    std::vector<OpenNode> open_;
};

}  // namespace spinney
