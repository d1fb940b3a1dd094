#include <array>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "native/base/failure.hpp"
#include "native/base/isa.hpp"
#include "tests/native/check.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <sys/wait.h>
#include <unistd.h>
#endif

using spinney::active_isa;
using spinney::best_isa;
using spinney::choose_isa;
using spinney::Isa;

namespace {

constexpr std::array kAll = {Isa::kPortable, Isa::kAvx2, Isa::kAvx512};

template <class Body>
std::string refusal(Body body) {
    try {
        body();
    } catch (const spinney::Failure& failure) {
        return failure.kind() == spinney::FailureKind::kInvalidParameter ? failure.what()
                                                                         : "another kind";
    }
    return "nothing thrown";
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

int portable_kernel() { return 0; }
int avx2_kernel() { return 2; }
int avx512_kernel() { return 512; }

}  // namespace

#if defined(__unix__) || defined(__APPLE__)
namespace {

/// What active_isa() gives in a fresh process with SPINNEY_ISA=value: an Isa, or -1 for Failure.
/// Forks before any test has called active_isa(), and has no threads at that time.
int first_use_with(const char* value) {
    const pid_t child = fork();
    if (child == 0) {
        setenv("SPINNEY_ISA", value, 1);
        int result = 100;
        try {
            result = static_cast<int>(active_isa());
            setenv("SPINNEY_ISA", "nonsense", 1);  // read once: too late to matter
            result = static_cast<int>(active_isa()) == result ? result : 101;
        } catch (const spinney::Failure&) {
            result = 99;
        }
        _exit(result);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const int result = WIFEXITED(status) ? WEXITSTATUS(status) : 102;
    return result == 99 ? -1 : result;
}

}  // namespace

TEST(the_environment_variable_decides_at_first_use_and_only_then) {
    for (const Isa isa : kAll) {
        const int expected = isa <= best_isa() ? static_cast<int>(isa) : -1;
        CHECK(first_use_with(spinney::isa_name(isa)) == expected);
    }
    CHECK(first_use_with("") == static_cast<int>(best_isa()));
    CHECK(first_use_with("sse9") == -1);
}
#endif

TEST(names_and_instruction_sets_are_inverse) {
    for (const Isa isa : kAll) {
        CHECK(spinney::parse_isa(spinney::isa_name(isa)) == isa);
    }
    CHECK(std::string(spinney::isa_name(Isa::kPortable)) == "portable");
    CHECK(std::string(spinney::isa_name(Isa::kAvx2)) == "avx2");
    CHECK(std::string(spinney::isa_name(Isa::kAvx512)) == "avx512");
}

TEST(unknown_names_are_refused_with_the_value_and_the_choices) {
    for (const char* name : {"", "AVX2", "avx", "avx2 ", "avx5120"}) {
        const std::string message = refusal([name] { spinney::parse_isa(name); });
        CHECK(has(message, "isa='" + std::string(name) + "'"));
        CHECK(has(message, "portable, avx2, avx512"));
    }
}

TEST(without_a_wish_the_best_is_chosen) {
    for (const Isa best : kAll) {
        CHECK(choose_isa(nullptr, best) == best);
        CHECK(choose_isa("", best) == best);
    }
}

TEST(a_wish_is_granted_if_the_machine_has_it) {
    for (const Isa best : kAll) {
        for (const Isa wish : kAll) {
            if (wish <= best) {
                CHECK(choose_isa(spinney::isa_name(wish), best) == wish);
            } else {
                CHECK_THROWS(spinney::Failure, choose_isa(spinney::isa_name(wish), best));
            }
        }
    }
}

TEST(a_refused_wish_says_value_choices_and_what_the_machine_has) {
    const std::string lacking = refusal([] { choose_isa("avx512", Isa::kAvx2); });
    CHECK(has(lacking, "SPINNEY_ISA='avx512'"));
    CHECK(has(lacking, "Use one of portable, avx2, avx512;"));
    CHECK(has(lacking, "this machine has portable, avx2."));
    const std::string unknown = refusal([] { choose_isa("sse9", Isa::kPortable); });
    CHECK(has(unknown, "SPINNEY_ISA='sse9'"));
    CHECK(has(unknown, "this machine has portable."));
}

TEST(use_isa_switches_and_refuses_what_the_machine_lacks) {
    for (const Isa isa : kAll) {
        if (isa <= best_isa()) {
            spinney::use_isa(isa);
            CHECK(active_isa() == isa);
        } else {
            CHECK_THROWS(spinney::Failure, spinney::use_isa(isa));
        }
    }
    spinney::use_isa(best_isa());
}

TEST(pick_gives_the_active_kernel_or_the_next_lower_that_exists) {
    using spinney::pick;
    for (const Isa isa : kAll) {
        if (isa > best_isa()) {
            continue;
        }
        spinney::use_isa(isa);
        const int level = static_cast<int>(isa);
        CHECK(pick(portable_kernel, avx2_kernel, avx512_kernel)() ==
              std::array{0, 2, 512}[static_cast<std::size_t>(level)]);
        CHECK(pick(portable_kernel, avx2_kernel, nullptr)() == (level >= 1 ? 2 : 0));
        CHECK(pick(portable_kernel, nullptr, avx512_kernel)() == (level >= 2 ? 512 : 0));
        CHECK(pick(portable_kernel, nullptr, nullptr)() == 0);
    }
    spinney::use_isa(best_isa());
}

TEST(many_threads_may_ask_at_once) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([] {
            for (int round = 0; round < 1000; ++round) {
                if (round % 100 == 0) {
                    spinney::use_isa(Isa::kPortable);
                }
                active_isa();
            }
        });
    }
    threads.clear();
    CHECK(active_isa() == Isa::kPortable);
    spinney::use_isa(best_isa());
}

CHECK_MAIN
