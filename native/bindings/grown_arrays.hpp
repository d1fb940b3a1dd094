/// Grown trees as Python gets them.
#pragma once

#include "native/bindings/arrays.hpp"
#include "native/trees/grown_tree.hpp"

namespace spinney::bindings {

/// The arrays of one tree, or of several behind each other, handed over; frozen: for reading only.
template <bool kFrozen = false, template <class> class Vector>
nb::dict as_dict(GrownNodes<Vector>&& tree, std::size_t n_outputs) {
    const std::size_t n_nodes = tree.feature.size();
    nb::dict arrays;
    const auto give = []<class Numbers>(Numbers&& numbers, std::vector<std::size_t> shape = {}) {
        if constexpr (kFrozen) {
            return bindings::give_frozen(std::forward<Numbers>(numbers), std::move(shape));
        } else {
            return bindings::give(std::forward<Numbers>(numbers), std::move(shape));
        }
    };
    arrays["feature"] = give(std::move(tree.feature));
    arrays["bin"] = give(std::move(tree.bin));
    arrays["right"] = give(std::move(tree.right));
    arrays["missing_left"] = give(std::move(tree.missing_left));
    arrays["category_set"] = give(std::move(tree.category_set));
    arrays["category_sets"] = give(std::move(tree.category_sets));
    arrays["values"] = give(std::move(tree.values), {n_nodes, n_outputs});
    arrays["count"] = give(std::move(tree.count));
    arrays["weight"] = give(std::move(tree.weight));
    arrays["gain"] = give(std::move(tree.gain));
    return arrays;
}

}  // namespace spinney::bindings
