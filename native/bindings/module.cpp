/// The extension module: names its parts, and turns native failures into spinney.errors.
#include <exception>

#include "native/base/failure.hpp"
#include "native/bindings/arrays.hpp"

namespace {

const char* error_class(spinney::FailureKind kind) {
    switch (kind) {
        case spinney::FailureKind::kInvalidInput:
            return "InvalidInput";
        case spinney::FailureKind::kInvalidModel:
            return "InvalidModel";
        case spinney::FailureKind::kInvalidParameter:
            return "InvalidParameter";
    }
    return "SpinneyError";
}

void translate(const std::exception_ptr& pointer, void*) {
    try {
        std::rethrow_exception(pointer);
    } catch (const spinney::Failure& failure) {
        const auto errors = nanobind::module_::import_("spinney.errors");
        PyErr_SetString(errors.attr(error_class(failure.kind())).ptr(), failure.what());
    }
}

}  // namespace

NB_MODULE(_ext, module) {
    // A model that is still alive when the interpreter ends is no leak worth a page on stderr.
    nanobind::set_leak_warnings(false);
    module.doc() = "The native kernels of Spinney; see native/ for what they promise.";
    nanobind::register_exception_translator(translate);
    spinney::bindings::bind_base(module);
    spinney::bindings::bind_data(module);
    spinney::bindings::bind_explain_boxes(module);
    spinney::bindings::bind_io(module);
    spinney::bindings::bind_losses(module);
    spinney::bindings::bind_ranking(module);
    spinney::bindings::bind_model(module);
    spinney::bindings::bind_explain(module);
    spinney::bindings::bind_trees(module);
    spinney::bindings::bind_exact_trees(module);
    spinney::bindings::bind_forest_trees(module);
    spinney::bindings::bind_leaf_rows(module);
    spinney::bindings::bind_split_planes(module);
    spinney::bindings::bind_resampling(module);
}
