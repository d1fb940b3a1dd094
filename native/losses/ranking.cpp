#include "native/losses/ranking.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "native/base/elementary.hpp"
#include "native/base/failure.hpp"
#include "native/base/isa.hpp"
#include "native/base/parallel.hpp"
#include "native/base/random.hpp"
#include "native/losses/ranking_pairs.hpp"

namespace spinney {
namespace {

/// Rows that a task has at least, if there are so many.
constexpr std::size_t kTaskRows = 1024;
/// Rows whose keys one task finds.
constexpr std::size_t kKeyRows = 4096;

constexpr std::array<std::string_view, 3> kNames = {"ndcg", "map", "pairwise"};

#if defined(__x86_64__) && defined(__GNUC__)
PairKernel* pair_kernel() {
    return pick<PairKernel>(rank_pairs_portable, rank_pairs_avx2, rank_pairs_avx512);
}
#else
PairKernel* pair_kernel() { return rank_pairs_portable; }
#endif

/// Integers in the order of scores, from the largest score on; 0 and -0 are one score.
std::uint64_t descending(double score) {
    const auto bits = std::bit_cast<std::uint64_t>(score + 0.0);
    const bool negative = (bits >> 63) != 0;
    return negative ? bits : ~(bits | (std::uint64_t{1} << 63));
}

/// A row of a query, and what decides its place.
struct Placed {
    std::uint64_t score;  ///< descending
    std::uint64_t key;
    double label;
    std::uint32_t slot;  ///< within its query
    std::uint32_t row;

    /// A total order: rows of a table have different numbers.
    friend bool operator<(const Placed& a, const Placed& b) {
        if (a.score != b.score) return a.score < b.score;
        if (a.key != b.key) return a.key < b.key;
        if (a.label != b.label) return a.label < b.label;
        return a.row < b.row;
    }
};

void refuse(bool wrong, const char* what) {
    if (wrong) throw Failure(FailureKind::kInvalidInput, what);
}

}  // namespace

RankingKind parse_ranking(std::string_view name) {
    const auto found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end()) {
        throw Failure(FailureKind::kInvalidParameter,
                      "unknown loss of ranking: " + std::string(name));
    }
    return static_cast<RankingKind>(found - kNames.begin());
}

std::vector<std::uint64_t> tie_keys(std::span<const std::uint8_t> bins, std::size_t n_rows,
                                    int n_threads) {
    std::vector<std::uint64_t> keys(n_rows);
    const std::size_t width = n_rows > 0 ? bins.size() / n_rows : 0;
    parallel_blocks(n_threads, n_rows, kKeyRows, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            std::uint64_t key = 0;
            for (std::size_t i = 0; i < width; ++i) {
                const std::uint64_t next = key + random_detail::kGolden + bins[row * width + i];
                key = random_detail::splitmix_mix(next);
            }
            keys[row] = key;
        }
    });
    return keys;
}

/// Places of a query in the vectors.
struct RankedQueries::Query {
    std::size_t first;
    std::size_t n;
};

/// What a thread works in: a query in the order of its places.
struct RankedQueries::Room {
    std::vector<Placed> order;
    std::vector<double> scores, labels, gains, outer, inner, gradients, hessians;
    std::vector<std::uint32_t> first;
    bool is_finite = true;

    void resize(std::size_t n) {
        order.resize(n);
        for (auto* one : {&scores, &labels, &gains, &outer, &inner}) one->resize(n);
        gradients.assign(n, 0.0);
        hessians.assign(n, 0.0);
    }
};

RankedQueries::RankedQueries(std::span<const double> labels, std::span<const double> gains,
                             std::span<const std::uint64_t> keys,
                             std::span<const std::uint32_t> rows,
                             std::span<const std::int64_t> first)
    : n_rows_(labels.size()), rows_(rows.begin(), rows.end()) {
    refuse(gains.size() != n_rows_ || keys.size() != n_rows_, "labels and gains differ in length");
    refuse(first.empty() || first.front() != 0 ||
               first.back() != static_cast<std::int64_t>(rows.size()) ||
               !std::is_sorted(first.begin(), first.end()),
           "queries do not follow one another");
    const auto is_outside = [&](std::uint32_t row) { return row >= n_rows_; };
    refuse(std::any_of(rows.begin(), rows.end(), is_outside), "a query has a row of no table");
    for (const std::int64_t place : first) first_.push_back(static_cast<std::size_t>(place));
    for (const std::uint32_t row : rows_) {
        labels_.push_back(labels[row]);
        gains_.push_back(gains[row]);
        keys_.push_back(keys[row]);
    }
    best_gains_ = gains_;
    std::size_t longest = 0;
    shares_.push_back(0);
    for (std::size_t q = 0; q < n_queries(); ++q) {
        const auto begin = best_gains_.begin();
        std::sort(begin + first[q], begin + first[q + 1], std::greater<>());
        longest = std::max(longest, query(q).n);
        if (first_[q + 1] - first_[shares_.back()] >= kTaskRows) shares_.push_back(q + 1);
    }
    if (shares_.back() != n_queries()) shares_.push_back(n_queries());
    const double log_two = exact_log(2.0);
    for (std::size_t place = 0; place < longest; ++place) {
        discounts_.push_back(log_two / exact_log(static_cast<double>(place + 2)));
    }
}

RankedQueries::Query RankedQueries::query(std::size_t number) const {
    return {first_[number], first_[number + 1] - first_[number]};
}

template <class Work>
void RankedQueries::for_queries(int n_threads, const Work& work) const {
    parallel_for(n_threads, shares_.size() - 1, [&](std::size_t task) {
        Room room;
        for (std::size_t q = shares_[task]; q < shares_[task + 1]; ++q) work(q, room);
    });
}

void RankedQueries::arrange(const Query& query, std::span<const double> scores, bool by_label,
                            Room& room) const {
    room.resize(query.n);
    room.is_finite = true;
    for (std::size_t i = 0; i < query.n; ++i) {
        const std::size_t at = query.first + i;
        const double score = scores[rows_[at]];
        room.is_finite = room.is_finite && std::isfinite(score);
        room.order[i] = {descending(score), keys_[at], labels_[at], static_cast<std::uint32_t>(i),
                         rows_[at]};
    }
    if (by_label) {
        std::sort(room.order.begin(), room.order.end(), [](const Placed& a, const Placed& b) {
            return a.label != b.label ? a.label > b.label : a < b;
        });
    } else {
        std::sort(room.order.begin(), room.order.end());
    }
    for (std::size_t i = 0; i < query.n; ++i) {
        const Placed& placed = room.order[i];
        room.scores[i] = scores[placed.row];
        room.labels[i] = placed.label;
        room.gains[i] = gains_[query.first + placed.slot];
    }
}

double RankedQueries::ideal(const Query& query, std::size_t k) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < std::min(k, query.n); ++i) {
        sum += best_gains_[query.first + i] * discounts_[i];
    }
    return sum;
}

namespace {

/// By how much average precision would change, were two rows to change places: it is |outer[i] -
/// inner[j]| over the number of relevant rows, for i before j. With h hits among the first t places
/// and S the sum of 1/t over hits, both up to and including the place itself: a relevant row at i
/// has outer h/t - S, another one (h + 1)/t - S, and inner is h/t less the S before.
double place_precisions(std::span<const double> labels, std::span<double> outer,
                        std::span<double> inner) {
    double hits = 0.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const double place = static_cast<double>(i + 1);
        const double before = sum;
        const bool is_hit = labels[i] > 0.0;
        if (is_hit) {
            hits += 1.0;
            sum += 1.0 / place;
        }
        outer[i] = (is_hit ? hits : hits + 1.0) / place - sum;
        inner[i] = hits / place - before;
    }
    return hits;
}

}  // namespace

void RankedQueries::derive(const RankingLoss& loss, const Query& query, Room& room) const {
    const std::size_t n = query.n;
    const bool is_pairwise = loss.kind == RankingKind::kPairwise;
    const auto [low, high] = std::minmax_element(room.scores.begin(), room.scores.end());
    PairTask task = {.scores = room.scores.data(),
                     .labels = room.labels.data(),
                     .gains = nullptr,
                     .outer = room.outer.data(),
                     .inner = room.inner.data(),
                     .first = nullptr,
                     .n = n,
                     .n_outer = is_pairwise ? n : std::min(n, loss.truncation),
                     .scale = 1.0,
                     .by_distance = loss.normalize && !is_pairwise && *low != *high,
                     .gradients = room.gradients.data(),
                     .hessians = room.hessians.data()};
    if (is_pairwise) {
        std::fill(room.outer.begin(), room.outer.end(), 1.0);
        std::fill(room.inner.begin(), room.inner.end(), 0.0);
        room.first.assign(n, static_cast<std::uint32_t>(n));
        for (std::size_t i = n - 1; i-- > 0;) {
            const bool same = room.labels[i] == room.labels[i + 1];
            room.first[i] = same ? room.first[i + 1] : static_cast<std::uint32_t>(i + 1);
        }
        task.first = room.first.data();
    } else if (loss.kind == RankingKind::kMap) {
        const double hits = place_precisions(room.labels, room.outer, room.inner);
        task.scale = hits > 0.0 ? 1.0 / hits : 0.0;
    } else {
        std::copy_n(discounts_.begin(), n, room.outer.begin());
        std::copy_n(discounts_.begin(), n, room.inner.begin());
        const double best = ideal(query, loss.truncation);
        task.gains = room.gains.data();
        task.scale = best > 0.0 ? 1.0 / best : 0.0;
    }
    const double sum = 2.0 * pair_kernel()(task);
    if (!loss.normalize || !(sum > 0.0)) return;
    const double factor = exact_log(1.0 + sum) / (exact_log(2.0) * sum);
    for (double& gradient : room.gradients) gradient *= factor;
    for (double& hessian : room.hessians) hessian *= factor;
}

DerivativeLimits RankedQueries::fill_derivatives(const RankingLoss& loss,
                                                 std::span<const double> scores,
                                                 std::span<float> gradients,
                                                 std::span<float> hessians, int n_threads) const {
    refuse(scores.size() != n_rows_ || gradients.size() != n_rows_ || hessians.size() != n_rows_,
           "labels and scores differ in length");
    std::fill(gradients.begin(), gradients.end(), 0.0F);
    std::fill(hessians.begin(), hessians.end(), 0.0F);
    for_queries(n_threads, [&](std::size_t number, Room& room) {
        const Query at = query(number);
        const auto labels = std::span(labels_).subspan(at.first, at.n);
        const auto differs = [&](double label) { return label != labels.front(); };
        if (std::none_of(labels.begin(), labels.end(), differs)) return;
        arrange(at, scores, loss.kind == RankingKind::kPairwise, room);
        if (room.is_finite) {
            derive(loss, at, room);
        } else {
            room.gradients.assign(at.n, std::numeric_limits<double>::quiet_NaN());
        }
        for (std::size_t i = 0; i < at.n; ++i) {
            gradients[room.order[i].row] = static_cast<float>(room.gradients[i]);
            hessians[room.order[i].row] = static_cast<float>(room.hessians[i]);
        }
    });
    DerivativeLimits most;
    for (std::size_t i = 0; i < n_rows_; ++i) {  // NaN wins, and stays
        const float gradient = std::fabs(gradients[i]);
        if (!(gradient <= most.gradient) && most.gradient == most.gradient)
            most.gradient = gradient;
        if (hessians[i] > most.hessian) most.hessian = hessians[i];
    }
    return most;
}

namespace {

/// Calls work(first, last) for every run of equal scores among the first k places.
template <class Work>
void for_ties(std::span<const double> scores, std::size_t k, const Work& work) {
    for (std::size_t first = 0, last = 0; first < std::min(k, scores.size()); first = last) {
        while (last < scores.size() && scores[last] == scores[first]) ++last;
        work(first, last);
    }
}

}  // namespace

double RankedQueries::ndcg(const Query& query, std::size_t k, const Room& room) const {
    const double best = ideal(query, k);
    if (!(best > 0.0)) return 1.0;
    double sum = 0.0;
    for_ties(room.scores, k, [&](std::size_t first, std::size_t last) {
        double gain = 0.0;
        double discount = 0.0;
        for (std::size_t i = first; i < last; ++i) gain += room.gains[i];
        for (std::size_t i = first; i < std::min(last, k); ++i) discount += discounts_[i];
        sum += gain / static_cast<double>(last - first) * discount;
    });
    return sum / best;
}

double RankedQueries::average_precision(const Query& query, std::size_t k, const Room& room) const {
    double relevant = 0.0;
    for (const double label : room.labels) relevant += label > 0.0 ? 1.0 : 0.0;
    if (!(relevant > 0.0)) return 1.0;
    double hits = 0.0;
    double sum = 0.0;
    for_ties(room.scores, k, [&](std::size_t first, std::size_t last) {
        double here = 0.0;
        for (std::size_t i = first; i < last; ++i) here += room.labels[i] > 0.0 ? 1.0 : 0.0;
        if (here > 0.0) {
            // A place holds a hit with probability here / n; of the others as many are before it
            // as its share of the run.
            const double n = static_cast<double>(last - first);
            const double rise = last - first > 1 ? (here - 1.0) / (n - 1.0) : 0.0;
            for (std::size_t i = first; i < std::min(last, k); ++i) {
                const double before = hits + 1.0 + static_cast<double>(i - first) * rise;
                sum += here / n * before / static_cast<double>(i + 1);
            }
        }
        hits += here;
    });
    return sum / std::min(relevant, static_cast<double>(std::min(k, query.n)));
}

std::vector<double> RankedQueries::measure(RankingKind metric, std::size_t k,
                                           std::span<const double> scores, int n_threads) const {
    refuse(scores.size() != n_rows_, "labels and scores differ in length");
    const std::size_t places = k == 0 ? n_rows_ : k;
    std::vector<double> of_query(n_queries(), 1.0);
    for_queries(n_threads, [&](std::size_t number, Room& room) {
        const Query at = query(number);
        arrange(at, scores, false, room);
        of_query[number] = metric == RankingKind::kMap ? average_precision(at, places, room)
                                                       : ndcg(at, places, room);
    });
    return of_query;
}

}  // namespace spinney
