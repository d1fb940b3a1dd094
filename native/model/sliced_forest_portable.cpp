#include "native/model/sliced_forest.hpp"

namespace spinney {
namespace {

constexpr std::size_t kWidth = 16;

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
