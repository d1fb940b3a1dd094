#include "native/model/sliced_forest.hpp"

namespace spinney {
namespace {

typedef std::int8_t Bytes __attribute__((vector_size(16), may_alias));

Bytes all_equal(std::int8_t byte) { return Bytes{} + byte; }
void store(Bytes bytes, std::uint8_t* to) { *reinterpret_cast<Bytes*>(to) = bytes; }

Bytes advance(Bytes leaves, const std::int8_t* bytes, Bytes limit, Bytes from, Bytes to) {
    const Bytes goes_right = (*reinterpret_cast<const Bytes*>(bytes) >= limit) & (leaves == from);
    return leaves ^ (goes_right & (from ^ to));
}

void answer(const std::uint8_t* goes_right, const std::int8_t* bins, std::int8_t* answers) {
    for (std::size_t i = 0; i < kByteRows; ++i) {
        const auto bin = static_cast<std::uint8_t>(bins[i]);
        answers[i] = static_cast<std::int8_t>((goes_right[bin / 8] >> (bin % 8)) & 1);
    }
}

}  // namespace
}  // namespace spinney

#define NAME(x) x##_portable
#include "native/model/sliced_forest.inl"
