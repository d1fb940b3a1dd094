/// A forest as Python holds it.
#pragma once

#include <optional>
#include <vector>

#include "native/bindings/arrays.hpp"
#include "native/model/forest.hpp"
#include "native/model/predictor.hpp"

namespace spinney::bindings {

/// A checked forest over NumPy arrays it keeps alive.
class Forest {
  public:
    Forest(const nb::dict& arrays, std::size_t n_features, std::size_t n_outputs,
           std::size_t value_width, int n_threads) {
        arrays_.n_features = n_features;
        arrays_.n_outputs = n_outputs;
        arrays_.value_width = value_width;
        borrowed_.take(arrays, "tree_start", arrays_.tree_start);
        borrowed_.take(arrays, "tree_weight", arrays_.tree_weight);
        borrowed_.take(arrays, "tree_output", arrays_.tree_output);
        borrowed_.take(arrays, "feature", arrays_.feature);
        borrowed_.take(arrays, "threshold", arrays_.threshold);
        borrowed_.take(arrays, "right", arrays_.right);
        borrowed_.take(arrays, "missing_left", arrays_.missing_left);
        borrowed_.take(arrays, "category_set", arrays_.category_set);
        borrowed_.take(arrays, "category_sets", arrays_.category_sets);
        borrowed_.take(arrays, "values", arrays_.values);
        borrowed_.take(arrays, "count", arrays_.count);
        borrowed_.take(arrays, "weight", arrays_.weight);
        borrowed_.take(arrays, "gain", arrays_.gain);
        borrowed_.take(arrays, "baseline", arrays_.baseline);
        borrowed_.take(arrays, "categorical", arrays_.categorical);
        borrowed_.take(arrays, "category_start", arrays_.category_start);
        borrowed_.take(arrays, "category_bins", arrays_.category_bins);
        check_forest(arrays_, n_threads);
        predictor_.emplace(arrays_);
    }

    const ForestArrays& arrays() const { return arrays_; }
    const Predictor& predictor() const { return *predictor_; }

  private:
    ForestArrays arrays_;
    std::optional<Predictor> predictor_;  ///< reads arrays_: a Forest is never moved
    Borrowed borrowed_;
};

}  // namespace spinney::bindings
