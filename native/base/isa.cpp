#include "native/base/isa.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>

#include "native/base/failure.hpp"

namespace spinney {
namespace {

constexpr std::array kAll = {Isa::kPortable, Isa::kAvx2, Isa::kAvx512};
constexpr int kUndecided = -1;

std::atomic<int> active{kUndecided};

std::string names_up_to(Isa best) {
    std::string names;
    for (const Isa isa : kAll) {
        if (isa <= best) {
            names += names.empty() ? "" : ", ";
            names += isa_name(isa);
        }
    }
    return names;
}

[[noreturn]] void refuse(const std::string& what, Isa best) {
    throw Failure(FailureKind::kInvalidParameter,
                  what + ". Use one of " + names_up_to(kAll.back()) + "; this machine has " +
                      names_up_to(best) + ".");
}

Isa parse(std::string_view name, const std::string& source, Isa best) {
    for (const Isa isa : kAll) {
        if (name == isa_name(isa)) {
            return isa;
        }
    }
    refuse(source + "='" + std::string(name) + "' names no instruction set", best);
}

void refuse_if_lacking(Isa isa, const std::string& source, Isa best) {
    if (isa > best) {
        refuse(source + "='" + isa_name(isa) + "' needs instructions this machine lacks", best);
    }
}

}  // namespace

Isa best_isa() {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    // These also ask whether the operating system saves the wide registers (XGETBV).
    __builtin_cpu_init();
    // POPCNT came before AVX2 in every processor, but a hypervisor may hide it, and kernels use it.
    if (__builtin_cpu_supports("avx2") == 0 || __builtin_cpu_supports("popcnt") == 0) {
        return Isa::kPortable;
    }
    const bool has_avx512 =
        __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
        __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0;
    return has_avx512 ? Isa::kAvx512 : Isa::kAvx2;
#else
    return Isa::kPortable;
#endif
}

Isa choose_isa(const char* requested, Isa best) {
    if (requested == nullptr || *requested == '\0') {
        return best;
    }
    const Isa isa = parse(requested, "SPINNEY_ISA", best);
    refuse_if_lacking(isa, "SPINNEY_ISA", best);
    return isa;
}

Isa active_isa() {
    int known = active.load(std::memory_order_relaxed);
    if (known == kUndecided) {
        const int chosen = static_cast<int>(choose_isa(std::getenv("SPINNEY_ISA"), best_isa()));
        // If another thread decided meanwhile, its choice stands: it may be use_isa()'s.
        if (active.compare_exchange_strong(known, chosen, std::memory_order_relaxed)) {
            known = chosen;
        }
    }
    return static_cast<Isa>(known);
}

void use_isa(Isa isa) {
    refuse_if_lacking(isa, "isa", best_isa());
    active.store(static_cast<int>(isa), std::memory_order_relaxed);
}

const char* isa_name(Isa isa) {
    switch (isa) {
        case Isa::kAvx512:
            return "avx512";
        case Isa::kAvx2:
            return "avx2";
        case Isa::kPortable:
            break;
    }
    return "portable";
}

Isa parse_isa(std::string_view name) { return parse(name, "isa", best_isa()); }

}  // namespace spinney
