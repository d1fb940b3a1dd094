// The loops of gradient_scan.hpp, included by one file per instruction set with NAME(x) = x_<isa>
// and LANES doubles per vector. Every lane does the same operations in the same order, so every
// instruction set gives the same bits.

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
/// n < kLanes: the lanes from n on are 0.
template <class Number>
[[gnu::always_inline]] inline Words load(const Number* from, std::size_t n) {
    Words lanes = {};
    if (n >= kLanes) {
        __builtin_memcpy(&lanes, from, sizeof lanes);
    } else {
        __builtin_memcpy(&lanes, from, n * sizeof(Number));
    }
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

/// lane i = lanes 0 + ... + i.
[[gnu::always_inline]] inline Words run_within(Words words) {
#if defined(__GNUC__)
    const Words zero = {};
#if LANES == 2
    words += __builtin_shuffle(words, zero, Words{2, 0});
#elif LANES == 4
    words += __builtin_shuffle(words, zero, Words{4, 0, 1, 2});
    words += __builtin_shuffle(words, zero, Words{4, 4, 0, 1});
#else
    words += __builtin_shuffle(words, zero, Words{8, 0, 1, 2, 3, 4, 5, 6});
    words += __builtin_shuffle(words, zero, Words{8, 8, 0, 1, 2, 3, 4, 5});
    words += __builtin_shuffle(words, zero, Words{8, 8, 8, 8, 0, 1, 2, 3});
#endif
#endif
    return words;
}
/// The last lane in all lanes.
[[gnu::always_inline]] inline Words spread_last(Words words) {
#if defined(__GNUC__)
    constexpr std::uint64_t kLast = LANES - 1;
    return __builtin_shuffle(words, Words{} + kLast);
#else
    return words;
#endif
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

    explicit Fields(const Packing& packing)
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

/// Soft threshold: towards zero by l1.
[[gnu::always_inline]] inline Lanes shrink(Lanes g, double l1) {
    const Lanes size = (g < 0.0 ? -g : g) - l1;
    const Lanes kept = size > 0.0 ? size : size * 0.0;
    return g < 0.0 ? -kept : kept;
}

/// What is on the left of kLanes neighbouring cuts.
struct LeftSums {
    Lanes gradient;
    Words hessian;
    Words weight;
};

class PackedSums {
  public:
    [[gnu::always_inline]] PackedSums(const std::uint64_t* cells, std::uint64_t start,
                                      const Packing& packing)
        : cells_(cells),
          run_(start),
          fields_(packing),
          hessian_shift_(packing.hessian_bits == 0 ? 0 : fields_.hessian_shift),
          hessian_mask_(packing.hessian_bits == 0 ? fields_.count_mask : fields_.hessian_mask) {}

    [[gnu::always_inline]] LeftSums next(std::size_t i, std::size_t n) {
        const Words words = run_.next(load(cells_ + i, n));
        return {fields_.gradient_as_double(words), (words >> hessian_shift_) & hessian_mask_,
                fields_.count(words)};
    }

  private:
    const std::uint64_t* cells_;
    RunningSum run_;
    Fields fields_;
    int hessian_shift_;  ///< where every hessian is 1, the count stands for it
    std::uint64_t hessian_mask_;
};

class WideSums {
  public:
    [[gnu::always_inline]] WideSums(const WideCells& cells, const GradientSums& start)
        : cells_(cells),
          gradient_(start.gradient),
          hessian_(start.hessian),
          weight_(start.weight) {}

    [[gnu::always_inline]] LeftSums next(std::size_t i, std::size_t n) {
        return {signed_as_double(gradient_.next(load(cells_.gradient + i, n))),
                hessian_.next(load(cells_.hessian + i, n)),
                weight_.next(load(cells_.weight + i, n))};
    }

  private:
    WideCells cells_;
    RunningSum gradient_;
    RunningSum hessian_;
    RunningSum weight_;
};

/// Negative in the lanes whose cut leaves one side too little.
[[gnu::always_inline]] inline Integers room(const LeftSums& left, const CutTerms& at) {
    const auto below = [](Words sums, std::int64_t limit) {
        return sums - static_cast<std::uint64_t>(limit);
    };
    return as_bits<Integers>(
        below(left.weight, at.least_weight) | -below(left.weight, at.most_weight) |
        below(left.hessian, at.least_hessian) | -below(left.hessian, at.most_hessian));
}
using Mask = decltype(Lanes{} >= 0.0);
[[gnu::always_inline]] inline bool any(const Mask& is_true) {
#if defined(__AVX2__) && LANES == 4
    return __builtin_ia32_movmskpd256(as_bits<Lanes>(is_true)) != 0;
#elif defined(__GNUC__)
    std::int64_t all = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) all |= is_true[lane];
    return all != 0;
#else
    return is_true;
#endif
}
template <class Number, class Vector>
[[gnu::always_inline]] inline Number lane_of(const Vector& vector, std::size_t lane) {
    return reinterpret_cast<const Number*>(&vector)[lane];
}

/// Each lane looks at every kLanes-th cut; the lowest of the best is found at the end.
template <bool kHasL1, class Sums>
[[gnu::always_inline]] inline Cut best_of(std::size_t n, Sums sums, const CutTerms& given) {
    const CutTerms at = given;
    Words index = {};
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        reinterpret_cast<std::uint64_t*>(&index)[lane] = lane;
    }
    Lanes best = Lanes{} - 1.0;
    Words best_index = index;
    for (std::size_t i = 0; i < n; i += kLanes, index += kLanes) {
        const LeftSums left = sums.next(i, n - i);
        const Mask fits = room(left, at) >= 0;
        if (!any(fits)) {
            // Sums of weights only grow.
            if (lane_of<std::int64_t>(left.weight, 0) > at.most_weight) break;
            continue;
        }
        const Lanes c = unsigned_as_double(left.hessian) + at.l2;
        const Lanes d = at.span - c;
        Lanes quality;
        if constexpr (kHasL1) {
            const Lanes a = shrink(left.gradient, at.l1);
            const Lanes b = shrink(at.gradient - left.gradient, at.l1);
            const Lanes cross = a * d - b * c;
            quality = cross * cross / (c * d) + (a + b) * (a + b);
        } else {
            const Lanes cross = left.gradient * at.span - at.gradient * c;
            quality = cross * cross / (c * d);
        }
        const Mask is_better = fits & (quality > best);
        best = is_better ? quality : best;
        best_index = is_better ? index : best_index;
    }
    Cut cut;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const auto quality = lane_of<double>(best, lane);
        const auto bin = lane_of<std::uint64_t>(best_index, lane);
        if (quality > cut.quality || (quality == cut.quality && bin < cut.bin)) {
            cut = {quality, bin};
        }
    }
    return cut;
}

template <class Sums>
[[gnu::always_inline]] inline Cut best_of(std::size_t n, const Sums& sums, const CutTerms& terms) {
    return terms.l1 > 0.0 ? best_of<true>(n, sums, terms) : best_of<false>(n, sums, terms);
}

/// One array of a subtraction: to may be parent.
inline void subtract(std::int64_t* to, const std::int64_t* parent, const std::int64_t* child,
                     std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) to[i] = parent[i] - child[i];
}

}  // namespace

void NAME(flush_cells)(std::uint64_t* cells, std::size_t n, const Packing& packing,
                       const WideCells& to) {
    const Fields fields(packing);
    std::int64_t* __restrict gradient = to.gradient;
    std::int64_t* __restrict weight = to.weight;
    std::uint64_t* __restrict from = cells;
    if (packing.hessian_bits == 0) {
        for (std::size_t i = 0; i < n; ++i) {
            gradient[i] += fields.gradient(from[i]);
            weight[i] += static_cast<std::int64_t>(fields.count(from[i]));
            from[i] = 0;
        }
        return;
    }
    std::int64_t* __restrict hessian = to.hessian;
    for (std::size_t i = 0; i < n; ++i) {
        gradient[i] += fields.gradient(from[i]);
        hessian[i] += static_cast<std::int64_t>(fields.hessian(from[i]));
        weight[i] += static_cast<std::int64_t>(fields.count(from[i]));
        from[i] = 0;
    }
}

void NAME(subtract_words)(std::uint64_t* to, const std::uint64_t* parent,
                          const std::uint64_t* child, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) to[i] = parent[i] - child[i];
}

void NAME(subtract_cells)(const Subtraction& task, std::size_t n, const Packing& packing) {
    const bool has_hessians = task.parent.hessian != task.parent.weight;
    WideCells child = task.wide_child;
    std::int64_t unpacked[3][kMostCells];
    if (task.packed_child != nullptr) {
        const Fields fields(packing);
        child = {unpacked[0], unpacked[1], unpacked[2]};
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t word = task.packed_child[i];
            unpacked[0][i] = fields.gradient(word);
            unpacked[1][i] = static_cast<std::int64_t>(fields.hessian(word));
            unpacked[2][i] = static_cast<std::int64_t>(fields.count(word));
        }
    }
    std::int64_t difference[3][kMostCells];
    const bool packs = task.packed_to != nullptr;
    const WideCells to =
        packs ? WideCells{difference[0], difference[1], difference[2]} : task.wide_to;
    subtract(to.gradient, task.parent.gradient, child.gradient, n);
    subtract(to.weight, task.parent.weight, child.weight, n);
    if (has_hessians) subtract(to.hessian, task.parent.hessian, child.hessian, n);
    if (!packs) return;
    const int gradient_shift = packing.gradient_shift;
    const int hessian_shift = packing.hessian_shift;
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t hessian = has_hessians ? to.hessian[i] : 0;
        task.packed_to[i] = (static_cast<std::uint64_t>(to.gradient[i]) << gradient_shift) +
                            (static_cast<std::uint64_t>(hessian) << hessian_shift) +
                            static_cast<std::uint64_t>(to.weight[i]);
    }
}

Cut NAME(best_cut_packed)(const std::uint64_t* cells, std::size_t n, std::uint64_t start,
                          const CutTerms& terms, const Packing& packing) {
    return best_of(n, PackedSums(cells, start, packing), terms);
}

Cut NAME(best_cut_wide)(const WideCells& cells, std::size_t n, const GradientSums& start,
                        const CutTerms& terms) {
    return best_of(n, WideSums(cells, start), terms);
}

}  // namespace spinney
