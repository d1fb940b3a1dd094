#include "native/base/cpu_limit.hpp"
#include "native/base/isa.hpp"
#include "native/bindings/arrays.hpp"

namespace spinney::bindings {

void bind_base(nb::module_& module) {
    module.def("available_threads", &available_threads,
               "CPUs this process may use: affinity and cgroup quota, at least 1.");
    module.def(
        "active_isa", [] { return std::string(isa_name(active_isa())); },
        "Instruction set of the kernels in use: portable, avx2 or avx512.");
    module.def(
        "best_isa", [] { return std::string(isa_name(best_isa())); },
        "The widest instruction set this machine has.");
    module.def(
        "use_isa", [](const std::string& name) { use_isa(parse_isa(name)); }, "name"_a,
        "Switch the kernels, for tests; SPINNEY_ISA does it from outside.");
}

}  // namespace spinney::bindings
