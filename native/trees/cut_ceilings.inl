// The loop of cut_ceilings.hpp, included by one file per instruction set with NAME(x) = x_<isa>.
// What it gives decides only which cuts are looked at, and may differ in the last bits.

#include <array>
#include <bit>

namespace spinney {

float NAME(rough_ceiling)(const RoughSum* sums, const std::uint32_t* keys, std::size_t n,
                          const RoughNode& node) {
    constexpr float kRounding = 1.0F + 0x1p-18F;  // of every step below together
    const float all = node.all;
    const float error = node.error;
    const std::size_t last = n - 1;
    std::array<std::int32_t, kRoughPadding> most = {};  // as bits: none is below 0
    for (std::size_t begin = 0; begin < last; begin += kRoughPadding) {
        const RoughSum* own = sums + begin;
        const std::uint32_t* own_keys = keys + begin;
        const auto rest = static_cast<std::int32_t>(last - begin);
        for (std::size_t lane = 0; lane < kRoughPadding; ++lane) {
            const auto number = static_cast<float>(static_cast<std::int32_t>(own[lane] >> 32));
            const auto weight = static_cast<float>(static_cast<std::int32_t>(own[lane]));
            const float apart = (number < 0.0F ? -number : number) + error;
            const auto bits =
                std::bit_cast<std::int32_t>(apart * apart / (weight * (all - weight)));
            const bool is_cut = (own_keys[lane] ^ own_keys[lane + 1]) > 0xFFFFU;
            const bool is_inside = static_cast<std::int32_t>(lane) < rest;
            const std::int32_t counts = is_cut & is_inside ? bits : 0;
            most[lane] = counts > most[lane] ? counts : most[lane];
        }
    }
    std::int32_t largest = 0;
    for (const std::int32_t bits : most) largest = bits > largest ? bits : largest;
    return std::bit_cast<float>(largest) * kRounding;
}

}  // namespace spinney
