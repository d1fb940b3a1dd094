#include "native/losses/leaf_optima.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "native/base/elementary.hpp"
#include "native/base/failure.hpp"
#include "native/base/parallel.hpp"
#include "native/losses/huber_root.hpp"

namespace spinney {
namespace {

constexpr std::size_t kBlock = 8192;

/// Integers in the order of the numbers, a total one: -0 before 0, NaN at the ends, and no
/// comparison that is neither less nor greater, which would lead std::nth_element astray.
std::int64_t order_key(double value) {
    const auto bits = std::bit_cast<std::int64_t>(value);
    return bits ^ ((bits >> 63) & std::numeric_limits<std::int64_t>::max());
}

double of_order_key(std::int64_t key) {
    return std::bit_cast<double>(key ^ ((key >> 63) & std::numeric_limits<std::int64_t>::max()));
}

struct WeightedKey {
    std::int64_t key;
    std::int64_t weight;
};

bool is_before(const WeightedKey& a, const WeightedKey& b) { return a.key < b.key; }

/// Weights in order have to reach this; `exactly` if they can meet it.
struct Target {
    std::int64_t weight;
    bool exactly;
};

Target target_of(double level, std::int64_t total) {
    // Rounded once: 0.1 of 10 rows is 1, as everybody expects, though the float 0.1 is above 1/10.
    const double wanted = level * static_cast<double>(total);
    const double reached = std::ceil(wanted);
    const auto weight = std::clamp(static_cast<std::int64_t>(reached), std::int64_t{1}, total);
    return {weight, reached == wanted};
}

double middle(std::int64_t key, std::int64_t next) {
    return std::midpoint(of_order_key(key), of_order_key(next));
}

double quantile_of(std::vector<std::int64_t>& keys, double level) {
    const Target target = target_of(level, static_cast<std::int64_t>(keys.size()));
    const auto place = keys.begin() + (target.weight - 1);
    std::nth_element(keys.begin(), place, keys.end());
    if (!target.exactly || place + 1 == keys.end()) return of_order_key(*place);
    return middle(*place, *std::min_element(place + 1, keys.end()));
}

/// Halves the rows that may hold the answer: O(rows) like a plain selection.
double quantile_of(std::vector<WeightedKey>& keys, double level) {
    std::int64_t total = 0;
    for (const WeightedKey& item : keys) total += item.weight;
    const Target target = target_of(level, total);
    auto first = keys.begin();
    auto last = keys.end();
    std::int64_t before = 0;  // weight in front of `first`; the answer is in [first, last)
    while (last - first > 1) {
        const auto half = first + (last - first) / 2;
        std::nth_element(first, half, last, is_before);
        std::int64_t with_half = before;
        for (auto item = first; item != half; ++item) with_half += item->weight;
        if (with_half >= target.weight) {
            last = half;
        } else {
            before = with_half;
            first = half;
        }
    }
    const bool met = target.exactly && before + first->weight == target.weight;
    if (!met || first + 1 == keys.end()) return of_order_key(first->key);
    return middle(first->key, std::min_element(first + 1, keys.end(), is_before)->key);
}

/// Residuals and weights in the order of NodeSpans::rows: the rows of a node lie side by side.
struct Gathered {
    std::vector<double> residuals;
    std::vector<std::int64_t> weights;  ///< empty: all 1
};

Gathered gather(const LeafTask& task, std::span<const std::uint32_t> rows, int n_threads) {
    Gathered of_rows;
    of_rows.residuals.resize(rows.size());
    of_rows.weights.resize(task.weights.empty() ? 0 : rows.size());
    parallel_blocks(n_threads, rows.size(), kBlock, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            of_rows.residuals[i] = task.y[rows[i]] - task.scores[rows[i]];
        }
        if (task.weights.empty()) return;
        for (std::size_t i = begin; i < end; ++i) of_rows.weights[i] = task.weights[rows[i]];
    });
    return of_rows;
}

double quantile_of(std::span<const double> residuals, std::span<const std::int64_t> weights,
                   double level) {
    if (weights.empty()) {
        std::vector<std::int64_t> keys(residuals.size());
        std::transform(residuals.begin(), residuals.end(), keys.begin(), order_key);
        return quantile_of(keys, level);
    }
    std::vector<WeightedKey> keys(residuals.size());
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = {order_key(residuals[i]), weights[i]};
    return quantile_of(keys, level);
}

double optimum_of(const LossSpec& loss, std::span<const double> residuals,
                  std::span<const std::int64_t> weights) {
    if (residuals.empty()) return 0.0;
    if (loss.kind == LossKind::kQuantile) return quantile_of(residuals, weights, loss.parameter);
    const double median = quantile_of(residuals, weights, 0.5);
    if (loss.kind == LossKind::kAbsolute) return median;
    return huber_root(residuals, weights, median, loss.parameter);
}

[[noreturn]] void fail_to_fit() {
    throw Failure(FailureKind::kInvalidInput, "rows, targets and nodes do not fit");
}

void check(const LeafTask& task, const NodeSpans& nodes) {
    const std::size_t n_rows = task.y.size();
    const auto fits = [&] {
        if (task.scores.size() != n_rows || nodes.first.size() != nodes.last.size()) return false;
        if (!task.weights.empty() && task.weights.size() != n_rows) return false;
        for (std::size_t i = 0; i < nodes.first.size(); ++i) {
            if (nodes.first[i] < 0 || nodes.first[i] > nodes.last[i]) return false;
            if (nodes.last[i] > static_cast<std::int64_t>(nodes.rows.size())) return false;
        }
        return std::all_of(nodes.rows.begin(), nodes.rows.end(),
                           [&](std::uint32_t row) { return row < n_rows; });
    };
    if (!fits()) fail_to_fit();
    const LossKind kind = task.loss.kind;
    if (kind != LossKind::kAbsolute && kind != LossKind::kQuantile && kind != LossKind::kHuber) {
        throw Failure(FailureKind::kInvalidParameter, "leaves of this loss are Newton steps");
    }
}

/// In preorder the node after an inner one is its left child, and after a leaf it begins where the
/// leaf ends, or later.
bool is_inner(const NodeSpans& nodes, std::size_t node) {
    return node + 1 < nodes.first.size() && nodes.first[node + 1] < nodes.last[node];
}

std::int64_t weight_of(const Gathered& of_rows, std::int64_t first, std::int64_t last) {
    if (of_rows.weights.empty()) return last - first;
    return std::accumulate(of_rows.weights.begin() + first, of_rows.weights.begin() + last,
                           std::int64_t{0});
}

/// Children come after their parent, so backwards both are known.
void average_inner_nodes(const NodeSpans& nodes, std::span<std::int64_t> weights,
                         std::span<double> values) {
    std::vector<std::size_t> open;  // roots of finished subtrees, the leftmost on top
    for (std::size_t node = values.size(); node-- > 0;) {
        if (is_inner(nodes, node)) {
            const std::size_t left = node + 1;
            if (open.size() < 2 || open.back() != left) fail_to_fit();
            open.pop_back();
            const std::size_t right = open.back();
            open.pop_back();
            if (nodes.first[left] != nodes.first[node] || nodes.last[left] != nodes.first[right] ||
                nodes.last[right] != nodes.last[node]) {
                fail_to_fit();
            }
            weights[node] = weights[left] + weights[right];
            const double share =
                static_cast<double>(weights[right]) / static_cast<double>(weights[node]);
            values[node] = values[left] * (1.0 - share) + values[right] * share;
        }
        open.push_back(node);
    }
}

}  // namespace

std::vector<double> leaf_optima(const LeafTask& task, const NodeSpans& nodes, int n_threads) {
    check(task, nodes);
    const Gathered of_rows = gather(task, nodes.rows, n_threads);
    std::vector<double> best(nodes.first.size());
    std::vector<std::int64_t> weights(best.size());
    parallel_for(n_threads, best.size(), [&](std::size_t node) {
        if (is_inner(nodes, node)) return;
        const auto first = static_cast<std::size_t>(nodes.first[node]);
        const std::size_t n = static_cast<std::size_t>(nodes.last[node]) - first;
        const std::span<const std::int64_t> given = of_rows.weights;
        // Adding 0 turns -0 into 0.
        best[node] = 0.0 + optimum_of(task.loss, std::span(of_rows.residuals).subspan(first, n),
                                      given.empty() ? given : given.subspan(first, n));
        weights[node] = weight_of(of_rows, nodes.first[node], nodes.last[node]);
    });
    average_inner_nodes(nodes, weights, best);
    return best;
}

double log_link_step(double newton, double power) {
    constexpr double kLeastRatio = 0.049787068367863944;  // e^-3
    const double above = 1.0 + (2.0 - power) * newton;
    const double below = 1.0 - (power - 1.0) * newton;
    return exact_log(std::max(above, kLeastRatio * below) / below);
}

}  // namespace spinney
