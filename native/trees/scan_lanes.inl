// Vectors of LANES doubles or 64-bit words, and running sums of histogram cells in them: included
// by gradient_scan.inl, once per instruction set. Every lane does the same operations in the same
// order, so every instruction set gives the same bits.

namespace spinney {
namespace {

#if defined(__GNUC__)
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef std::uint64_t Words __attribute__((vector_size(LANES * sizeof(double))));
typedef std::int64_t Integers __attribute__((vector_size(LANES * sizeof(double))));
constexpr std::size_t kLanes = LANES;
#else
using Lanes = double;
using Words = std::uint64_t;
using Integers = std::int64_t;
constexpr std::size_t kLanes = 1;
#endif

constexpr std::uint64_t kTwoTo52Bits = 0x4330000000000000U;  // the bits of 2^52
constexpr double kTwoTo52 = 0x1p52;
constexpr std::uint64_t kBalancedBits = 0x4338000000000000U;  // the bits of 1.5 * 2^52
constexpr double kBalanced = 0x1.8p52;

template <class To, class From>
[[gnu::always_inline]] inline To as_bits(const From& from) {
    To to;
    static_assert(sizeof to == sizeof from);
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
/// Fewer than kLanes numbers; the other lanes are 0. No memory behind the last one is read.
#if defined(__AVX512F__) && LANES == 8
template <class Number>
[[gnu::always_inline]] inline Words load_few(const Number* from, std::size_t n) {
    return as_bits<Words>(_mm512_maskz_loadu_epi64(static_cast<__mmask8>((1U << n) - 1U), from));
}
#else
// Not inlined: in one function with whole vectors it would send those through memory, too.
template <class Number>
[[gnu::noinline]] Words load_few(const Number* from, std::size_t n) {
    Words lanes = {};
    __builtin_memcpy(&lanes, from, n * sizeof(Number));
    return lanes;
}
#endif
/// n < kLanes: the lanes from n on are 0.
template <class Number>
[[gnu::always_inline]] inline Words load(const Number* from, std::size_t n) {
    if (n < kLanes) return load_few(from, n);
    Words lanes;
    __builtin_memcpy(&lanes, from, sizeof lanes);
    return lanes;
}
template <class Number>
[[gnu::always_inline]] inline Words in_all_lanes(Number number) {
    return Words{} + static_cast<std::uint64_t>(number);
}
/// Integers below 2^52 as doubles, by putting them into the low bits of 2^52.
[[gnu::always_inline]] inline Lanes unsigned_as_double(Words integers) {
    return as_bits<Lanes>(integers | kTwoTo52Bits) - kTwoTo52;
}
/// The same for integers of either sign, below 2^51 in absolute value.
[[gnu::always_inline]] inline Lanes signed_as_double(Words integers) {
    return as_bits<Lanes>(integers + kBalancedBits) - kBalanced;
}

template <class Number, class Vector>
[[gnu::always_inline]] inline Number lane_of(const Vector& vector, std::size_t lane) {
    return reinterpret_cast<const Number*>(&vector)[lane];
}

using Mask = decltype(Lanes{} >= 0.0);
/// lane i = lanes 0 + ... + i.
[[gnu::always_inline]] inline Words run_within(Words words) {
#if defined(__GNUC__)
    const Words zero = {};
#if LANES == 2
    words += __builtin_shufflevector(words, zero, 2, 0);
#elif LANES == 4
    words += __builtin_shufflevector(words, zero, 4, 0, 1, 2);
    words += __builtin_shufflevector(words, zero, 4, 4, 0, 1);
#else
    words += __builtin_shufflevector(words, zero, 8, 0, 1, 2, 3, 4, 5, 6);
    words += __builtin_shufflevector(words, zero, 8, 8, 0, 1, 2, 3, 4, 5);
    words += __builtin_shufflevector(words, zero, 8, 8, 8, 8, 0, 1, 2, 3);
#endif
#endif
    return words;
}
/// The last lane in all lanes.
[[gnu::always_inline]] inline Words spread_last(Words words) {
#if !defined(__GNUC__)
    return words;
#elif LANES == 2
    return __builtin_shufflevector(words, words, 1, 1);
#elif LANES == 4
    return __builtin_shufflevector(words, words, 3, 3, 3, 3);
#else
    return __builtin_shufflevector(words, words, 7, 7, 7, 7, 7, 7, 7, 7);
#endif
}

/// All lanes folded into one, in all lanes, by an op that takes no notice of order.
template <class Vector, class Op>
[[gnu::always_inline]] inline Vector fold_lanes(Vector lanes, const Op& op) {
#if defined(__GNUC__)
#if LANES == 8
    lanes = op(lanes, __builtin_shufflevector(lanes, lanes, 4, 5, 6, 7, 0, 1, 2, 3));
    lanes = op(lanes, __builtin_shufflevector(lanes, lanes, 2, 3, 0, 1, 6, 7, 4, 5));
    lanes = op(lanes, __builtin_shufflevector(lanes, lanes, 1, 0, 3, 2, 5, 4, 7, 6));
#elif LANES == 4
    lanes = op(lanes, __builtin_shufflevector(lanes, lanes, 2, 3, 0, 1));
    lanes = op(lanes, __builtin_shufflevector(lanes, lanes, 1, 0, 3, 2));
#else
    lanes = op(lanes, __builtin_shufflevector(lanes, lanes, 1, 0));
#endif
#endif
    return lanes;
}

[[gnu::always_inline]] inline Words lane_numbers() {
    Words numbers = {};
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        reinterpret_cast<std::uint64_t*>(&numbers)[lane] = lane;
    }
    return numbers;
}
/// Sums of the cells up to and including each, kLanes at a time. The sums within a vector do not
/// wait for those before it.
class RunningSum {
  public:
    template <class Number>
    [[gnu::always_inline]] explicit RunningSum(Number start) : before_(in_all_lanes(start)) {}

    [[gnu::always_inline]] Words next(Words cells) {
        const Words within = run_within(cells);
        const Words sums = within + before_;
        before_ += spread_last(within);
        return sums;
    }
    /// Goes on behind cells that were added up lane by lane.
    [[gnu::always_inline]] void skip(Words sums) {
        before_ += fold_lanes(sums, [](Words a, Words b) { return a + b; });
    }
    /// The last sum given.
    [[gnu::always_inline]] std::uint64_t last() const { return lane_of<std::uint64_t>(before_, 0); }

  private:
    Words before_;  ///< sum of all cells before, in all lanes
};

/// The fields of a packed word.
struct Fields {
    int gradient_shift;
    int hessian_shift;
    std::uint64_t count_mask;
    std::uint64_t hessian_mask;
    std::uint64_t bias;  ///< the signed field, moved by half its range, is an unsigned one

    constexpr explicit Fields(const Packing& packing)
        : gradient_shift(packing.gradient_shift),
          hessian_shift(packing.hessian_shift),
          count_mask((std::uint64_t{1} << hessian_shift) - 1),
          hessian_mask((std::uint64_t{1} << (gradient_shift - hessian_shift)) - 1),
          bias(std::uint64_t{1} << (63 - gradient_shift)) {}

    template <class Word>
    [[gnu::always_inline]] Word count(Word word) const {
        return word & count_mask;
    }
    template <class Word>
    [[gnu::always_inline]] Word hessian(Word word) const {
        return (word >> hessian_shift) & hessian_mask;
    }
    [[gnu::always_inline]] std::int64_t gradient(std::uint64_t word) const {
        return static_cast<std::int64_t>(((word >> gradient_shift) ^ bias) - bias);
    }
    [[gnu::always_inline]] Lanes gradient_as_double(Words words) const {
        const double zero = kTwoTo52 + static_cast<double>(bias);
        return as_bits<Lanes>((words >> gradient_shift) ^ (bias | kTwoTo52Bits)) - zero;
    }
};

}  // namespace
}  // namespace spinney
