/// A test framework of one screen: TEST(name) { CHECK(...); } and a main() that runs them all.
#pragma once

#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace check {

struct Case {
    std::string name;
    std::function<void()> body;
};

inline std::vector<Case>& cases() {
    static std::vector<Case> all;
    return all;
}

inline int& failures() {
    static int count = 0;
    return count;
}

struct Register {
    Register(const char* name, std::function<void()> body) {
        cases().push_back({name, std::move(body)});
    }
};

inline void expect(bool holds, const char* text, const char* file, int line) {
    if (!holds) {
        ++failures();
        std::fprintf(stderr, "%s:%d: not true: %s\n", file, line, text);
    }
}

inline int run_all() {
    for (const Case& test : cases()) {
        const int before = failures();
        try {
            test.body();
        } catch (const std::exception& error) {
            ++failures();
            std::fprintf(stderr, "%s threw: %s\n", test.name.c_str(), error.what());
        }
        std::printf("%s %s\n", failures() == before ? "ok  " : "FAIL", test.name.c_str());
    }
    const int failed = failures();
    std::printf("%zu passed, %d failed\n", cases().size(), failed);
    return failed == 0 ? 0 : 1;
}

}  // namespace check

#define TEST(name)                                             \
    static void name();                                        \
    static const check::Register register_##name(#name, name); \
    static void name()
#define CHECK(...) check::expect(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_THROWS(Type, ...)                                                   \
    do {                                                                          \
        bool caught = false;                                                      \
        try {                                                                     \
            __VA_ARGS__;                                                          \
        } catch (const Type&) {                                                   \
            caught = true;                                                        \
        }                                                                         \
        check::expect(caught, #__VA_ARGS__ " throws " #Type, __FILE__, __LINE__); \
    } while (false)
#define CHECK_MAIN \
    int main() { return check::run_all(); }
