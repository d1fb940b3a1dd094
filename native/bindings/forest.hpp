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
           std::size_t value_width) {
        arrays_.n_features = n_features;
        arrays_.n_outputs = n_outputs;
        arrays_.value_width = value_width;
        take(arrays, "tree_start", arrays_.tree_start);
        take(arrays, "tree_weight", arrays_.tree_weight);
        take(arrays, "tree_output", arrays_.tree_output);
        take(arrays, "feature", arrays_.feature);
        take(arrays, "threshold", arrays_.threshold);
        take(arrays, "right", arrays_.right);
        take(arrays, "missing_left", arrays_.missing_left);
        take(arrays, "category_set", arrays_.category_set);
        take(arrays, "category_sets", arrays_.category_sets);
        take(arrays, "values", arrays_.values);
        take(arrays, "count", arrays_.count);
        take(arrays, "weight", arrays_.weight);
        take(arrays, "gain", arrays_.gain);
        take(arrays, "baseline", arrays_.baseline);
        take(arrays, "categorical", arrays_.categorical);
        take(arrays, "category_start", arrays_.category_start);
        take(arrays, "category_bins", arrays_.category_bins);
        check_forest(arrays_);
        predictor_.emplace(arrays_);
    }

    const ForestArrays& arrays() const { return arrays_; }
    const Predictor& predictor() const { return *predictor_; }

  private:
    template <class T>
    void take(const nb::dict& arrays, const char* name, std::span<const T>& to) {
        const nb::object array = arrays[name];
        to = view(nb::cast<Array<T>>(array, false));
        owners_.push_back(array);
    }

    ForestArrays arrays_;
    std::optional<Predictor> predictor_;  ///< reads arrays_: a Forest is never moved
    std::vector<nb::object> owners_;
};

}  // namespace spinney::bindings
