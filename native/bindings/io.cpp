#include <cerrno>
#include <system_error>

#include "native/base/large_pages.hpp"
#include "native/bindings/arrays.hpp"
#include "native/io/read_file.hpp"

namespace spinney::bindings {
namespace {

/// What nobody can write to: model/tree.py takes arrays over it as they are.
nb::object read_whole(int descriptor, std::size_t size) {
    UnsetVector<std::uint8_t> bytes(size);
    bool is_whole = false;
    try {
        nb::gil_scoped_release unlocked;
        is_whole = read_file(descriptor, bytes);
    } catch (const std::system_error& error) {
        errno = error.code().value();
        PyErr_SetFromErrno(PyExc_OSError);
        throw nb::python_error();
    }
    if (!is_whole) return nb::none();
    auto* owned = new UnsetVector<std::uint8_t>(std::move(bytes));
    const nb::capsule owner(
        owned, [](void* p) noexcept { delete static_cast<UnsetVector<std::uint8_t>*>(p); });
    return nb::cast(nb::ndarray<nb::memview, const std::uint8_t>(owned->data(), {size}, owner));
}

}  // namespace

void bind_io(nb::module_& module) {
    module.def("read_file", &read_whole, "descriptor"_a, "size"_a,
               nb::sig("def read_file(descriptor: int, size: int) -> memoryview | None"),
               "The first bytes of an open file, for reading only; None if it has fewer.");
}

}  // namespace spinney::bindings
