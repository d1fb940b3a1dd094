// The loops of gradient_scan.hpp, included by one file per instruction set with NAME(x) = x_<isa>
// and LANES doubles per vector. Every lane does the same operations in the same order, so every
// instruction set gives the same bits.

namespace spinney {
namespace {

#if defined(__GNUC__)
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef std::uint64_t Words __attribute__((vector_size(LANES * sizeof(double))));
constexpr std::size_t kLanes = LANES;
#else
using Lanes = double;
using Words = std::uint64_t;
constexpr std::size_t kLanes = 1;
#endif

constexpr std::uint64_t kTwoTo52Bits = 0x4330000000000000U;  // the bits of 2^52
constexpr double kTwoTo52 = 0x1p52;
constexpr std::uint64_t kBalancedBits = 0x4338000000000000U;  // the bits of 1.5 * 2^52
constexpr double kBalanced = 0x1.8p52;

[[gnu::always_inline]] inline Words load(const void* from) {
    Words lanes;
    __builtin_memcpy(&lanes, from, sizeof lanes);
    return lanes;
}
[[gnu::always_inline]] inline Lanes as_bits(Words words) {
    Lanes lanes;
    __builtin_memcpy(&lanes, &words, sizeof lanes);
    return lanes;
}
/// Integers below 2^52 as doubles, by putting them into the low bits of 2^52.
[[gnu::always_inline]] inline Lanes unsigned_as_double(Words integers) {
    return as_bits(integers | kTwoTo52Bits) - kTwoTo52;
}
/// The same for integers of either sign, below 2^51 in absolute value.
[[gnu::always_inline]] inline Lanes signed_as_double(Words integers) {
    return as_bits(integers + kBalancedBits) - kBalanced;
}

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
    template <class Word>
    [[gnu::always_inline]] Word biased_gradient(Word word) const {
        return (word >> gradient_shift) ^ bias;
    }
    [[gnu::always_inline]] std::int64_t gradient(std::uint64_t word) const {
        return static_cast<std::int64_t>(biased_gradient(word) - bias);
    }
};

/// Soft threshold: towards zero by l1.
[[gnu::always_inline]] inline Lanes shrink(Lanes g, double l1) {
    const Lanes size = (g < 0.0 ? -g : g) - l1;
    const Lanes kept = size > 0.0 ? size : size * 0.0;
    return g < 0.0 ? -kept : kept;
}

/// Each lane looks at every kLanes-th cut; the lowest of the best is found at the end.
/// sums_at(i) gives gradients and hessians behind bins i, i + 1, ...
template <bool kHasL1, class SumsAt>
[[gnu::always_inline]] inline Cut best_of(std::size_t first, std::size_t last,
                                          const CutTerms& given, const SumsAt& sums_at) {
    const CutTerms at = given;
    Lanes index = {};
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        reinterpret_cast<double*>(&index)[lane] = static_cast<double>(first + lane);
    }
    const auto end = static_cast<double>(last);
    Lanes best = index * 0.0 - 1.0;
    Lanes best_index = index;
    for (std::size_t i = first; i < last; i += kLanes) {
        Lanes left_g;
        Lanes left_h;
        sums_at(i, left_g, left_h);
        left_g += at.extra_gradient;
        left_h += at.extra_hessian;
        const Lanes right_g = at.gradient - left_g;
        const Lanes a = kHasL1 ? shrink(left_g, at.l1) : left_g;
        const Lanes b = kHasL1 ? shrink(right_g, at.l1) : right_g;
        const Lanes c = left_h + at.l2;
        const Lanes d = (at.hessian - left_h) + at.l2;
        const Lanes cross = a * d - b * c;
        const Lanes curvature = c * d;
        Lanes quality = cross * cross / curvature;
        if constexpr (kHasL1) quality += (a + b) * (a + b);
        const auto is_better = (curvature > 0.0) & (index < end) & (quality > best);
        best = is_better ? quality : best;
        best_index = is_better ? index : best_index;
        index += static_cast<double>(kLanes);
    }
    Cut cut;
    double bin = 0.0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const double quality = reinterpret_cast<const double*>(&best)[lane];
        const double of_lane = reinterpret_cast<const double*>(&best_index)[lane];
        if (quality > cut.quality || (quality == cut.quality && of_lane < bin)) {
            cut.quality = quality;
            bin = of_lane;
        }
    }
    cut.bin = static_cast<std::size_t>(bin);
    return cut;
}

template <class SumsAt>
[[gnu::always_inline]] inline Cut best_of(std::size_t first, std::size_t last,
                                          const CutTerms& terms, const SumsAt& sums_at) {
    return terms.l1 > 0.0 ? best_of<true>(first, last, terms, sums_at)
                          : best_of<false>(first, last, terms, sums_at);
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

void NAME(run_packed)(const std::uint64_t* cells, std::size_t n, std::uint64_t* sums) {
    std::size_t i = 0;
    std::uint64_t sum = 0;
#if LANES == 4 && defined(__GNUC__)
    // Running sums within four cells, then the sum of all cells before is added: the additions
    // that wait for each other are one per four cells.
    const Words zero = {};
    Words before = {};
    for (; i + 4 <= n; i += 4) {
        Words run = load(cells + i);
        run += __builtin_shuffle(run, zero, Words{4, 0, 1, 2});
        run += __builtin_shuffle(run, zero, Words{4, 4, 0, 1});
        const Words with_before = run + before;
        __builtin_memcpy(sums + i, &with_before, sizeof run);
        before += __builtin_shuffle(run, Words{3, 3, 3, 3});
    }
    sum = before[0];
#endif
    for (; i < n; ++i) sums[i] = sum += cells[i];
}

Cut NAME(best_cut_packed)(const RunningSums& sums, std::size_t first, std::size_t last,
                          const CutTerms& terms, const Packing& packing) {
    const Fields fields(packing);
    const auto half = static_cast<double>(fields.bias);
    const bool counts = packing.hessian_bits == 0;
    const int hessian_shift = counts ? 0 : fields.hessian_shift;
    const std::uint64_t hessian_mask = counts ? fields.count_mask : fields.hessian_mask;
    return best_of(first, last, terms, [&](std::size_t i, Lanes& gradient, Lanes& hessian) {
        const Words words = load(sums.packed + i);
        gradient = unsigned_as_double(fields.biased_gradient(words)) - half;
        hessian = unsigned_as_double((words >> hessian_shift) & hessian_mask);
    });
}

Cut NAME(best_cut_wide)(const RunningSums& sums, std::size_t first, std::size_t last,
                        const CutTerms& terms) {
    return best_of(first, last, terms, [&](std::size_t i, Lanes& gradient, Lanes& hessian) {
        gradient = signed_as_double(load(sums.gradient + i));
        hessian = signed_as_double(load(sums.hessian + i));
    });
}

}  // namespace spinney
