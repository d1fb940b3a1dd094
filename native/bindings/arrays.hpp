/// NumPy arrays as the bindings take and give them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace spinney::bindings {

namespace nb = nanobind;
using namespace nb::literals;

/// Read-only, C-contiguous, one-dimensional: what nearly every function takes.
template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> view(const Array<T>& array) {
    return {array.data(), array.size()};
}

/// Borrows arrays from a dictionary and keeps them alive.
class Borrowed {
  public:
    template <class T>
    void take(const nb::dict& arrays, const char* name, std::span<const T>& to) {
        const nb::object array = arrays[name];
        to = view(nb::cast<Array<T>>(array, false));
        owners_.push_back(array);
    }

  private:
    std::vector<nb::object> owners_;
};

/// Hands a vector over to NumPy without copying it, as an array of T.
template <class T, class Vector>
nb::ndarray<nb::numpy, T> hand_over(Vector&& numbers, std::vector<std::size_t> shape) {
    auto* owned = new Vector(std::move(numbers));
    const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Vector*>(p); });
    if (shape.empty()) shape.push_back(owned->size());
    return nb::ndarray<nb::numpy, T>(owned->data(), shape.size(), shape.data(), owner);
}

template <class T, class Allocator>
nb::ndarray<nb::numpy, T> give(std::vector<T, Allocator>&& numbers,
                               std::vector<std::size_t> shape = {}) {
    return hand_over<T>(std::move(numbers), std::move(shape));
}

/// The same of numbers that nobody may write: model/tree.py freezes them without a copy.
template <class T, class Allocator>
nb::ndarray<nb::numpy, const T> give_frozen(std::vector<T, Allocator>&& numbers,
                                            std::vector<std::size_t> shape = {}) {
    return hand_over<const T>(std::move(numbers), std::move(shape));
}

void bind_base(nb::module_& module);
void bind_data(nb::module_& module);
void bind_exact_trees(nb::module_& module);
void bind_forest_trees(nb::module_& module);
void bind_explain(nb::module_& module);
void bind_explain_boxes(nb::module_& module);
void bind_io(nb::module_& module);
void bind_leaf_rows(nb::module_& module);
void bind_losses(nb::module_& module);
void bind_model(nb::module_& module);
void bind_ranking(nb::module_& module);
void bind_resampling(nb::module_& module);
void bind_split_planes(nb::module_& module);
void bind_trees(nb::module_& module);

}  // namespace spinney::bindings
