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

/// Soft threshold: towards zero by l1.
[[gnu::always_inline]] inline Lanes shrink(Lanes g, double l1) {
    const Lanes size = (g < 0.0 ? -g : g) - l1;
    const Lanes kept = size > 0.0 ? size : size * 0.0;
    return g < 0.0 ? -kept : kept;
}

/// What is on the left of kLanes neighbouring cuts, group by group.
template <const Packing& kPacking>
class PackedSums {
  public:
    [[gnu::always_inline]] PackedSums(const std::uint64_t* cells, std::uint64_t start)
        : cells_(cells), run_(start) {}

    [[gnu::always_inline]] void next(std::size_t i, std::size_t n) {
        words_ = run_.next(load(cells_ + i, n));
    }
    [[gnu::always_inline]] Lanes gradient() const { return fields().gradient_as_double(words_); }
    [[gnu::always_inline]] Words hessian() const { return hessian_of(words_); }
    [[gnu::always_inline]] Words weight() const { return fields().count(words_); }
    [[gnu::always_inline]] std::int64_t last_hessian() const {
        return static_cast<std::int64_t>(hessian_of(run_.last()));
    }
    [[gnu::always_inline]] std::int64_t last_weight() const {
        return static_cast<std::int64_t>(fields().count(run_.last()));
    }

  private:
    static constexpr Fields fields() { return Fields(kPacking); }
    template <class Word>
    [[gnu::always_inline]] static Word hessian_of(Word word) {  // the count if every one is 1
        return kPacking.hessian_bits == 0 ? fields().count(word) : fields().hessian(word);
    }

    const std::uint64_t* cells_;
    RunningSum run_;
    Words words_;
};

/// Where sums in three fields come from: three arrays, or words that are taken apart.
struct WideSource {
    WideCells cells;

    [[gnu::always_inline]] std::array<Words, 3> next(std::size_t i, std::size_t n) const {
        return {load(cells.gradient + i, n), load(cells.hessian + i, n), load(cells.weight + i, n)};
    }
};
template <const Packing& kPacking>
struct NarrowSource {
    const std::uint64_t* cells;

    [[gnu::always_inline]] std::array<Words, 3> next(std::size_t i, std::size_t n) const {
        constexpr Fields fields(kPacking);
        const Words words = load(cells + i, n);
        const Words gradient = ((words >> fields.gradient_shift) ^ fields.bias) - fields.bias;
        const Words count = fields.count(words);
        return {gradient, kPacking.hessian_bits == 0 ? count : fields.hessian(words), count};
    }
};

template <class Source>
class WideSums {
  public:
    [[gnu::always_inline]] WideSums(const Source& source, const GradientSums& start)
        : source_(source),
          gradient_run_(start.gradient),
          hessian_run_(start.hessian),
          weight_run_(start.weight) {}

    [[gnu::always_inline]] void next(std::size_t i, std::size_t n) {
        const std::array<Words, 3> cells = source_.next(i, n);
        gradient_ = gradient_run_.next(cells[0]);
        hessian_ = hessian_run_.next(cells[1]);
        weight_ = weight_run_.next(cells[2]);
    }
    [[gnu::always_inline]] Lanes gradient() const { return signed_as_double(gradient_); }
    [[gnu::always_inline]] Words hessian() const { return hessian_; }
    [[gnu::always_inline]] Words weight() const { return weight_; }
    [[gnu::always_inline]] std::int64_t last_hessian() const {
        return static_cast<std::int64_t>(hessian_run_.last());
    }
    [[gnu::always_inline]] std::int64_t last_weight() const {
        return static_cast<std::int64_t>(weight_run_.last());
    }

  private:
    Source source_;
    RunningSum gradient_run_;
    RunningSum hessian_run_;
    RunningSum weight_run_;
    Words gradient_;
    Words hessian_;
    Words weight_;
};

/// The lanes whose cut leaves both sides enough.
template <class Sums>
[[gnu::always_inline]] inline Mask allowed(const Sums& sums, const CutTerms& at) {
    const auto beyond = [](Words left, std::int64_t limit) {
        return left - static_cast<std::uint64_t>(limit);
    };
    const Words room =
        beyond(sums.weight(), at.least_weight) | -beyond(sums.weight(), at.most_weight) |
        beyond(sums.hessian(), at.least_hessian) | -beyond(sums.hessian(), at.most_hessian);
    return as_bits<Integers>(room) >= 0;  // one that is negative makes all of them so
}

/// Each lane looks at every kLanes-th cut; the lowest of the best is found at the end.
template <bool kHasL1, class Sums>
[[gnu::always_inline]] inline Cut best_of(std::size_t n, Sums sums, const CutTerms& given) {
    const CutTerms at = given;
    Words index = lane_numbers();
    Lanes best = Lanes{} - 1.0;
    Words best_index = index;
    // Sums of weights and hessians only grow, so the cuts that are allowed are neighbours: only
    // the first and the last group of them have to be looked at lane by lane.
    bool is_enough = false;
    bool is_too_much = false;
    for (std::size_t i = 0; i < n && !is_too_much; i += kLanes, index += kLanes) {
        sums.next(i, n - i);
        const bool was_enough = is_enough;
        is_enough =
            sums.last_weight() >= at.least_weight && sums.last_hessian() >= at.least_hessian;
        if (!is_enough) continue;
        is_too_much = sums.last_weight() > at.most_weight || sums.last_hessian() > at.most_hessian;
        const Lanes c = unsigned_as_double(sums.hessian()) + at.l2;
        const Lanes d = at.span - c;
        const Lanes left = sums.gradient();
        Lanes quality;
        if constexpr (kHasL1) {
            const Lanes a = shrink(left, at.l1);
            const Lanes b = shrink(at.gradient - left, at.l1);
            const Lanes cross = a * d - b * c;
            quality = cross * cross / (c * d) + (a + b) * (a + b);
        } else {
            const Lanes cross = left * at.span - at.gradient * c;
            quality = cross * cross / (c * d);
        }
        if (!was_enough || is_too_much) quality = allowed(sums, at) ? quality : Lanes{} - 1.0;
        const Mask is_better = quality > best;
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
    return packing.hessian_bits == 0 ? best_of(n, PackedSums<kWithoutHessian>(cells, start), terms)
                                     : best_of(n, PackedSums<kWithHessian>(cells, start), terms);
}

Cut NAME(best_cut_narrow)(const std::uint64_t* cells, std::size_t n, const GradientSums& start,
                          const CutTerms& terms, const Packing& packing) {
    if (packing.hessian_bits == 0) {
        return best_of(n, WideSums(NarrowSource<kWithoutHessian>{cells}, start), terms);
    }
    return best_of(n, WideSums(NarrowSource<kWithHessian>{cells}, start), terms);
}

Cut NAME(best_cut_wide)(const WideCells& cells, std::size_t n, const GradientSums& start,
                        const CutTerms& terms) {
    return best_of(n, WideSums(WideSource{cells}, start), terms);
}

}  // namespace spinney
