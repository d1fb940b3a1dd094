/// Which instruction set the kernels use: chosen at run time, the same results with every one.
#pragma once

#include <string_view>
#include <type_traits>

namespace spinney {

/// In increasing order: a machine that has one has all before it.
enum class Isa {
    kPortable,  ///< whatever the compiler's baseline is
    kAvx2,      ///< and POPCNT
    kAvx512,    ///< F, BW, VL and DQ together
};

/// The best this machine and its operating system support; kPortable if not x86-64.
Isa best_isa();

/// What kernels use now: best_isa(), or what the environment variable SPINNEY_ISA (read once, at
/// the first successful call) or use_isa() forces. Failure(kInvalidParameter) if SPINNEY_ISA names
/// no instruction set, or one this machine lacks.
Isa active_isa();

/// Forces the instruction set of the whole process; for tests and benchmarks. Failure as above.
void use_isa(Isa isa);

/// "portable", "avx2" or "avx512".
const char* isa_name(Isa isa);

/// The inverse of isa_name(); Failure(kInvalidParameter) for any other text.
Isa parse_isa(std::string_view name);

/// The rule behind active_isa(), for a machine whose best is `best`. Null or empty: unset.
Isa choose_isa(const char* requested, Isa best);

/// The kernel for active_isa(). One that is not written is null and gives way to the next lower;
/// the portable one always exists. A relaxed load and two tests: call per loop, not per row.
template <class Function>
Function* pick(Function* portable, std::type_identity_t<Function>* avx2,
               std::type_identity_t<Function>* avx512) {
    const Isa isa = active_isa();
    if (isa >= Isa::kAvx512 && avx512 != nullptr) {
        return avx512;
    }
    if (isa >= Isa::kAvx2 && avx2 != nullptr) {
        return avx2;
    }
    return portable;
}

}  // namespace spinney
