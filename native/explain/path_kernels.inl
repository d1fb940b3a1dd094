// The loops of path_kernels.hpp, included by one file per instruction set with NAME(x) = x_<isa>
// and LANES doubles per vector. A row is a lane: every lane does the same operations in the same
// order, so every instruction set and every place in a block gives the same bits.

namespace spinney {
namespace {

#if defined(__GNUC__)
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef std::int64_t Words __attribute__((vector_size(LANES * sizeof(double))));
constexpr std::size_t kLanes = LANES;
#define SPINNEY_UNROLL _Pragma("GCC unroll 8")
#else
using Lanes = double;
using Words = std::int64_t;
constexpr std::size_t kLanes = 1;
#define SPINNEY_UNROLL
#endif

template <class To, class From>
[[gnu::always_inline]] inline To as_bits(const From& from) {
    To to;
    static_assert(sizeof to == sizeof from);
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

template <class Vector, class Number>
[[gnu::always_inline]] inline Vector load(const Number* from) {
    Vector lanes;
    __builtin_memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

template <class Vector, class Number>
[[gnu::always_inline]] inline void store(Number* to, const Vector& lanes) {
    __builtin_memcpy(to, &lanes, sizeof lanes);
}

/// A number in all lanes. Subtracting 0 changes no number, so the compiler leaves it out.
[[gnu::always_inline]] inline Lanes in_all_lanes(double number) { return number - Lanes{}; }

/// `number` where meets is set, 0 elsewhere.
[[gnu::always_inline]] inline Lanes where(Words meets, Lanes number) {
    return as_bits<Lanes>(meets & as_bits<Words>(number));
}

/// Words of a comparison: ones where it holds. Without vectors a comparison is a bool.
#if defined(__GNUC__)
#define WORDS(comparison) as_bits<Words>(comparison)
#else
#define WORDS(comparison) (-static_cast<Words>(comparison))
#endif

/// share_k (1 - t) for every feature and point: what a factor is where the row fails.
void fill_failing(const LeafTask& task, double* failing) {
    for (std::size_t k = 0; k < task.d; ++k) {
        for (std::size_t q = 0; q < task.points.n; ++q) {
            failing[k * task.points.n + q] = task.share[k] * (1.0 - task.points.at[q]);
        }
    }
}

/// Adds the points [first, first + M) of the integrals of one group of rows. Products of all
/// features before k meet those of all behind it: no division, so no factor may hurt by being 0.
/// Unrolled, the M chains of products stay in registers and hide each other's latency.
template <std::size_t M>
[[gnu::always_inline]] inline void add_points(const LeafTask& task, std::size_t row,
                                              std::size_t first, double* __restrict integrals) {
    const std::size_t d = task.d;
    const std::size_t n_points = task.points.n;
    const double* failing = task.scratch + first;
    double* __restrict products = integrals + d * kLanes;
    Lanes t[M];
    Lanes running[M];
    SPINNEY_UNROLL for (std::size_t q = 0; q < M; ++q) {
        t[q] = in_all_lanes(task.points.at[first + q]);
        running[q] = in_all_lanes(1.0);
    }
    for (std::size_t k = 0; k < d; ++k) {
        const Words meets = load<Words>(task.meets[k] + row);
        SPINNEY_UNROLL for (std::size_t q = 0; q < M; ++q) {
            const Lanes factor = where(meets, t[q]) + failing[k * n_points + q];
            store(products + (k * M + q) * kLanes, running[q]);
            running[q] *= factor;
        }
    }
    SPINNEY_UNROLL for (std::size_t q = 0; q < M; ++q) {
        running[q] = in_all_lanes(task.points.weight[first + q]);
    }
    for (std::size_t k = d; k-- > 0;) {
        Lanes sum = load<Lanes>(integrals + k * kLanes);
        const Words meets = load<Words>(task.meets[k] + row);
        SPINNEY_UNROLL for (std::size_t q = 0; q < M; ++q) {
            sum += load<Lanes>(products + (k * M + q) * kLanes) * running[q];
            running[q] *= where(meets, t[q]) + failing[k * n_points + q];
        }
        store(integrals + k * kLanes, sum);
    }
}

void integrate(const LeafTask& task, std::size_t row, double* integrals) {
    static_assert(kPointsAtOnce == 4);
    for (std::size_t i = 0; i < task.d * kLanes; ++i) integrals[i] = 0.0;
    std::size_t q = 0;
    for (; q + 4 <= task.points.n; q += 4) add_points<4>(task, row, q, integrals);
    switch (task.points.n - q) {
        case 3:
            return add_points<3>(task, row, q, integrals);
        case 2:
            return add_points<2>(task, row, q, integrals);
        case 1:
            return add_points<1>(task, row, q, integrals);
        default:
            return;
    }
}

[[gnu::always_inline]] inline Lanes excess(const LeafTask& task, std::size_t k, std::size_t row) {
    return where(load<Words>(task.meets[k] + row), in_all_lanes(1.0)) - task.share[k];
}

/// Adds point q of the integrals of all pairs of one group of rows.
void add_pairs(const LeafTask& task, std::size_t row, std::size_t q, double* __restrict pairs) {
    const std::size_t d = task.d;
    const std::size_t n_rows = task.n_rows;
    double* __restrict factors = task.scratch + d * task.points.n;
    double* __restrict behind = factors + d * kLanes;  // of k: the product of the factors behind k
    const Lanes t = in_all_lanes(task.points.at[q]);
    Lanes running = in_all_lanes(1.0);
    for (std::size_t k = d; k-- > 0;) {
        const Lanes factor =
            where(load<Words>(task.meets[k] + row), t) + task.scratch[k * task.points.n + q];
        store(behind + k * kLanes, running);
        store(factors + k * kLanes, factor);
        running *= factor;
    }
    Lanes before = in_all_lanes(task.points.weight[q]);
    for (std::size_t j = 0; j < d; ++j) {
        running = before;
        for (std::size_t k = j + 1; k < d; ++k, pairs += n_rows) {
            store(pairs, load<Lanes>(pairs) + running * load<Lanes>(behind + k * kLanes));
            running *= load<Lanes>(factors + k * kLanes);
        }
        before *= load<Lanes>(factors + j * kLanes);
    }
}

}  // namespace

void NAME(path_split)(const SplitTask& task) {
    const Words missing_side = Words{} - (task.missing_left ? 1 : 0);
    const Words flip = Words{} - (task.is_left ? 0 : 1);
    for (std::size_t i = 0; i < task.n_rows; i += kLanes) {
        const Lanes x = load<Lanes>(task.x + i);
        const Words left = WORDS(x <= task.threshold) | (WORDS(x != x) & missing_side);
        store(task.meets + i, (left ^ flip) & load<Words>(task.before + i));
    }
}

void NAME(path_effects)(const LeafTask& task, double* effects) {
    fill_failing(task, task.scratch);
    double* integrals = task.scratch + task.d * task.points.n;
    for (std::size_t row = 0; row < task.n_rows; row += kLanes) {
        integrate(task, row, integrals);
        for (std::size_t k = 0; k < task.d; ++k) {
            const Lanes integral = load<Lanes>(integrals + k * kLanes);
            store(effects + k * task.n_rows + row, excess(task, k, row) * integral);
        }
    }
}

void NAME(path_pair_effects)(const LeafTask& task, double* effects) {
    fill_failing(task, task.scratch);
    for (std::size_t i = 0; i < task.d * (task.d - 1) / 2 * task.n_rows; ++i) effects[i] = 0.0;
    for (std::size_t row = 0; row < task.n_rows; row += kLanes) {
        double* pair = effects + row;
        for (std::size_t q = 0; q < task.points.n; ++q) add_pairs(task, row, q, pair);
        for (std::size_t j = 0; j < task.d; ++j) {
            const Lanes half = 0.5 * excess(task, j, row);
            for (std::size_t k = j + 1; k < task.d; ++k, pair += task.n_rows) {
                store(pair, half * excess(task, k, row) * load<Lanes>(pair));
            }
        }
    }
}

void NAME(path_add)(double factor, const double* from, double* to, std::size_t n_rows) {
    for (std::size_t i = 0; i < n_rows; i += kLanes) {
        store(to + i, load<Lanes>(to + i) + factor * load<Lanes>(from + i));
    }
}

}  // namespace spinney
