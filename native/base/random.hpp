/// Randomness as a function: a draw is addressed by (seed, stream, index), never by what was drawn
/// before, so neither threads nor the order of work can change it.
///
/// A draw with one more coordinate takes its seed from another draw:
/// random_unit(random_bits(seed, Stream::kRows, round), Stream::kRows, row).
#pragma once

#include <cstdint>

namespace spinney {

/// What the draws are for, so that two purposes do not share draws. The numbers are part of every
/// saved result: add, never change.
enum class Stream : std::uint64_t {
    kBinningSample = 1,
    kRows = 2,
    kFeatures = 3,
    kNodes = 4,
    kThresholds = 5,
    kCategories = 6,
    kRowFactors = 8,
    kDroppedRounds = 9,
};

namespace random_detail {

/// 2^64 / golden ratio, odd: the step of splitmix64 (Vigna 2015, public domain).
inline constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;
/// An odd number unrelated to kGolden: spreads stream numbers (multiplier of Steele and Vigna
/// 2021).
inline constexpr std::uint64_t kStreamStep = 0xD1342543DE82EF95U;

/// The finaliser of splitmix64: Stafford's "variant 13" constants (public domain). A bijection.
constexpr std::uint64_t splitmix_mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

/// The finaliser of MurmurHash3 (Appleby, public domain). A bijection with other constants, so that
/// keys are hashed by another function than draws.
constexpr std::uint64_t murmur_mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 33)) * 0xFF51AFD7ED558CCDU;
    z = (z ^ (z >> 33)) * 0xC4CEB9FE1A85EC53U;
    return z ^ (z >> 33);
}

/// The upper 64 bits of a * b.
constexpr std::uint64_t high_product(std::uint64_t a, std::uint64_t b) noexcept {
#if defined(__SIZEOF_INT128__)
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
#else
    constexpr std::uint64_t kLow = 0xFFFFFFFFU;
    const std::uint64_t low = (a & kLow) * (b & kLow);
    const std::uint64_t middle = (a >> 32) * (b & kLow) + (low >> 32);
    const std::uint64_t other = (a & kLow) * (b >> 32) + (middle & kLow);
    return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
#endif
}

}  // namespace random_detail

/// 64 random bits.
///
/// For one (seed, stream) and index 0, 1, 2, ... these are the outputs of splitmix64 (which passes
/// BigCrush) started at a hash of (seed, stream). All its sequences are windows of one cycle of
/// length 2^64: two windows of n draws overlap with probability 2n / 2^64. Not for cryptography.
/// The hash of (seed, stream) leaves the loop over indices; a draw is then three multiplications.
constexpr std::uint64_t random_bits(std::uint64_t seed, Stream stream,
                                    std::uint64_t index) noexcept {
    using namespace random_detail;
    const std::uint64_t seed_hash = murmur_mix(seed + kGolden);
    const std::uint64_t key =
        splitmix_mix(seed_hash + static_cast<std::uint64_t>(stream) * kStreamStep);
    return splitmix_mix(key + (index + 1) * kGolden);
}

/// Uniform on the multiples of 2^-53 in [0, 1): 53 bits, exact in double.
constexpr double random_unit(std::uint64_t seed, Stream stream, std::uint64_t index) noexcept {
    return static_cast<double>(random_bits(seed, stream, index) >> 11) * 0x1p-53;
}

/// An integer in [0, n), n >= 1 (0 for n = 0), by multiply and shift, without rejection: each
/// value's probability is within 2^-64 of 1/n, a relative bias below n / 2^64.
constexpr std::uint64_t random_below(std::uint64_t seed, Stream stream, std::uint64_t index,
                                     std::uint64_t n) noexcept {
    return random_detail::high_product(random_bits(seed, stream, index), n);
}

}  // namespace spinney
