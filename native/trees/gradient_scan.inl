// The loops of gradient_scan.hpp, included by one file per instruction set with NAME(x) = x_<isa>
// and LANES doubles per vector. Every lane does the same operations in the same order, so every
// instruction set gives the same bits.

#include "native/trees/scan_lanes.inl"

namespace spinney {
namespace {

/// Soft threshold: towards zero by l1.
[[gnu::always_inline]] inline Lanes shrink(Lanes g, double l1) {
    const Lanes size = (g < 0.0 ? -g : g) - l1;
    const Lanes kept = size > 0.0 ? size : size * 0.0;
    return g < 0.0 ? -kept : kept;
}

/// Groups of cells that are passed over at once, where the left side has too little still.
constexpr std::size_t kSkipped = 4;

/// What is on the left of kLanes neighbouring cuts, group by group.
template <const Packing& kPacking>
class PackedSums {
  public:
    [[gnu::always_inline]] PackedSums(const std::uint64_t* cells, std::uint64_t start)
        : cells_(cells), run_(start) {}

    [[gnu::always_inline]] void next(std::size_t i, std::size_t n) {
        words_ = run_.next(load(cells_ + i, n));
    }
    /// Goes on behind kSkipped whole groups.
    [[gnu::always_inline]] void skip(std::size_t i) {
        Words sums = {};
        for (std::size_t k = 0; k < kSkipped; ++k) sums += load(cells_ + i + k * kLanes, kLanes);
        run_.skip(sums);
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
    [[gnu::always_inline]] void skip(std::size_t i) {
        std::array<Words, 3> sums = {};
        for (std::size_t k = 0; k < kSkipped; ++k) {
            const std::array<Words, 3> cells = source_.next(i + k * kLanes, kLanes);
            for (std::size_t field = 0; field < 3; ++field) sums[field] += cells[field];
        }
        gradient_run_.skip(sums[0]);
        hessian_run_.skip(sums[1]);
        weight_run_.skip(sums[2]);
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

/// Cross products and the like of kLanes neighbouring cuts: quality = over / under + rest.
struct Fractions {
    Lanes over;
    Lanes under;
    Lanes rest;  ///< 0 without l1
};
template <bool kHasL1, class Sums>
[[gnu::always_inline]] inline Fractions fractions_of(const Sums& sums, const CutTerms& at) {
    const Lanes c = unsigned_as_double(sums.hessian()) + at.l2;
    const Lanes d = at.span - c;
    const Lanes left = sums.gradient();
    if constexpr (kHasL1) {
        const Lanes a = shrink(left, at.l1);
        const Lanes b = shrink(at.gradient - left, at.l1);
        const Lanes cross = a * d - b * c;
        return {cross * cross, c * d, (a + b) * (a + b)};
    } else {
        const Lanes cross = left * at.span - at.gradient * c;
        return {cross * cross, c * d, Lanes{}};
    }
}

[[gnu::always_inline]] inline bool any_exceeds(Lanes values, Lanes limits) {
#if defined(__AVX512F__) && LANES == 8
    return _mm512_cmp_pd_mask(values, limits, _CMP_GT_OQ) != 0;
#elif defined(__AVX2__) && LANES == 4
    return _mm256_movemask_pd(_mm256_cmp_pd(values, limits, _CMP_GT_OQ)) != 0;
#else
    bool any = false;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        any |= lane_of<double>(values, lane) > lane_of<double>(limits, lane);
    }
    return any;
#endif
}

/// The best cuts so far. Each lane looks at every kLanes-th cut; the lowest of the best is found at
/// the end.
class BestCuts {
  public:
    [[gnu::always_inline]] explicit BestCuts(double to_beat) : bar_(to_beat * kLower) {}

    /// False: none of these can be the best. Divisions take longer than all the rest of the scan,
    /// and most cuts are no match for the best of the features before. The bar is a little lower
    /// than what is to beat, by more than the roundings of products and quotients change it; a cut
    /// that has to exceed it gains something, so empty cells on the left are none.
    template <bool kHasL1>
    [[gnu::always_inline]] bool may_take(const Fractions& cuts) const {
        if constexpr (kHasL1) return any_exceeds(cuts.over, (bar_ - cuts.rest) * cuts.under);
        return any_exceeds(cuts.over, bar_ * cuts.under);
    }
    [[gnu::always_inline]] void take(Lanes quality, Words index) {
        const Mask is_better = quality > best_;
        best_ = is_better ? quality : best_;
        best_index_ = is_better ? index : best_index_;
        const double bar = highest() * kLower;
        bar_ = bar > bar_ ? bar : bar_;
    }
    /// The lowest of those with the highest quality; a negative quality: there is none.
    [[gnu::always_inline]] Cut best() const {
        const double quality = highest();
        const Words others = in_all_lanes(~std::uint64_t{0});
        const Words candidates = best_ == quality ? best_index_ : others;
        const auto lower = [](Words a, Words b) { return a < b ? a : b; };
        return {quality, lane_of<std::uint64_t>(fold_lanes(candidates, lower), 0)};
    }

  private:
    [[gnu::always_inline]] double highest() const {
        const auto higher = [](Lanes a, Lanes b) { return a > b ? a : b; };
        return lane_of<double>(fold_lanes(best_, higher), 0);
    }

    static constexpr double kLower = 1.0 - 0x1p-49;

    double bar_;
    Lanes best_ = Lanes{} - 1.0;
    Words best_index_ = lane_numbers();
};

template <bool kHasL1, class Sums>
[[gnu::always_inline]] inline Cut best_of(std::size_t n, Sums sums, const CutTerms& given) {
    const CutTerms at = given;
    BestCuts best(at.to_beat);
    // Sums of weights and hessians only grow, so the cuts that are allowed are neighbours. A group
    // that has others too is looked at like the rest: those are left out where one may be taken.
    const auto is_enough = [&at](const Sums& behind) {
        return behind.last_weight() >= at.least_weight && behind.last_hessian() >= at.least_hessian;
    };
    std::size_t i = 0;
    for (; i + kSkipped * kLanes <= n; i += kSkipped * kLanes) {
        Sums behind = sums;
        behind.skip(i);
        if (is_enough(behind)) break;
        sums = behind;
    }
    const auto take = [&](const Sums& of_group, const Fractions& cuts, std::size_t first) {
        Lanes quality = cuts.over / cuts.under;
        if constexpr (kHasL1) quality += cuts.rest;
        best.take(allowed(of_group, at) ? quality : Lanes{} - 1.0, lane_numbers() + first);
    };
    bool is_too_much = false;
    for (; i < n && !is_too_much; i += 2 * kLanes) {  // two groups share what branches cost
        sums.next(i, n - i);
        const Sums before = sums;
        sums.next(i + kLanes, n - std::min(n, i + kLanes));
        is_too_much = sums.last_weight() > at.most_weight || sums.last_hessian() > at.most_hessian;
        const Fractions first = fractions_of<kHasL1>(before, at);
        const Fractions second = fractions_of<kHasL1>(sums, at);
        const bool takes_first = best.template may_take<kHasL1>(first);
        const bool takes_second = best.template may_take<kHasL1>(second);
        if (!(takes_first | takes_second)) [[likely]]
            continue;
        take(before, first, i);
        take(sums, second, i + kLanes);
    }
    return best.best();
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
    Cut cut = packing.hessian_bits == 0
                  ? best_of(n, PackedSums<kWithoutHessian>(cells, start), terms)
                  : best_of(n, PackedSums<kWithHessian>(cells, start), terms);
    if (cut.quality < 0.0) return cut;
    cut.left = start;
    for (std::size_t i = 0; i <= cut.bin; ++i) cut.left += cells[i];
    return cut;
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
