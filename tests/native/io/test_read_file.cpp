#include <cstdio>
#include <system_error>
#include <vector>

#include "native/io/read_file.hpp"
#include "tests/native/check.hpp"

#if !defined(_WIN32)
#include <unistd.h>

namespace {

/// A file without a name.
struct File {
    std::FILE* file = std::tmpfile();

    explicit File(const std::vector<std::uint8_t>& content) {
        std::fwrite(content.data(), 1, content.size(), file);
        std::fflush(file);
    }
    ~File() { std::fclose(file); }
    int descriptor() const { return fileno(file); }
};

std::vector<std::uint8_t> some_bytes(std::size_t n) {
    std::vector<std::uint8_t> bytes(n);
    for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::uint8_t>(i * i + i / 251);
    return bytes;
}

}  // namespace

TEST(what_is_read_is_what_was_written) {
    for (const std::size_t n : {0U, 1U, 1U << 20, (1U << 20) + 1, 5'000'001U}) {
        const std::vector<std::uint8_t> content = some_bytes(n);
        const File file(content);
        std::vector<std::uint8_t> found(n);
        CHECK(spinney::read_file(file.descriptor(), found));
        CHECK(found == content);
    }
}

TEST(a_file_that_ends_too_early_is_noticed) {
    const File file(some_bytes(3'000'000));
    std::vector<std::uint8_t> found(3'000'001);
    CHECK(!spinney::read_file(file.descriptor(), found));
}

TEST(what_cannot_be_read_is_an_error_of_the_system) {
    std::vector<std::uint8_t> found(10);
    bool is_told = false;
    try {
        spinney::read_file(-1, found);
    } catch (const std::system_error& error) {
        is_told = error.code() == std::errc::bad_file_descriptor;
    }
    CHECK(is_told);
}
#endif

CHECK_MAIN
