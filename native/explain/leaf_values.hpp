/// What a leaf adds to the raw scores: its values times the weight of its tree.
#pragma once

#include <cstddef>
#include <span>

#include "native/model/forest.hpp"

namespace spinney {

class LeafValues {
  public:
    LeafValues(const ForestArrays& forest, std::size_t tree, std::size_t leaf)
        : weight_(forest.tree_weight[tree]),
          values_(forest.values.subspan(leaf * forest.value_width, forest.value_width)),
          first_output_(forest.tree_output[tree] < 0
                            ? 0
                            : static_cast<std::size_t>(forest.tree_output[tree])) {}

    std::size_t first_output() const { return first_output_; }
    std::size_t size() const { return values_.size(); }
    double operator[](std::size_t k) const { return weight_ * values_[k]; }

  private:
    double weight_;
    std::span<const double> values_;
    std::size_t first_output_;
};

}  // namespace spinney
