#include "native/base/elementary.hpp"
#include "native/base/failure.hpp"
#include "native/bindings/arrays.hpp"
#include "native/losses/derivatives.hpp"
#include "native/losses/leaf_optima.hpp"
#include "native/losses/row_weights.hpp"

namespace spinney::bindings {
namespace {

/// An array the function writes into.
template <class T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<T> view(const Output<T>& array) {
    return {array.data(), array.size()};
}

using bindings::view;

void check_lengths(std::size_t n, std::size_t first, std::size_t second) {
    const auto fits = [n](std::size_t length) { return length == n || length == 0; };
    if (n == 0 || !fits(first) || !fits(second)) {
        throw Failure(FailureKind::kInvalidInput, "margins, factors and counts differ in length");
    }
}

}  // namespace

void bind_losses(nb::module_& module) {
    module.def(
        "weigh_rows",
        [](const Array<double>& margins, double least, const Array<double>& factors,
           const Array<std::int64_t>& counts, int n_threads) {
            const std::size_t n = margins.size();
            check_lengths(n, factors.size(), counts.size());
            std::vector<double> shares(n);
            std::vector<std::int64_t> whole(n);
            ShareSum sum;
            {
                nb::gil_scoped_release unlocked;  // pure C++: no Python object is touched
                sum = weigh_rows({.margins = margins.data(),
                                  .factors = factors.size() > 0 ? factors.data() : nullptr,
                                  .counts = counts.size() > 0 ? counts.data() : nullptr,
                                  .least = least,
                                  .shares = shares.data(),
                                  .whole = whole.data(),
                                  .n = n},
                                 n_threads);
            }
            return nb::make_tuple(give(std::move(shares)), give(std::move(whole)), sum.high,
                                  sum.low);
        },
        "margins"_a, "least"_a, "factors"_a, "counts"_a, "n_threads"_a,
        "Weights exp(least - margin) of rows: the shares, 30 bits of them times the counts, and "
        "the two halves of their exact sum. factors and counts may be empty.");
    module.def(
        "sum_shares",
        [](const Array<double>& shares, const Array<std::int64_t>& counts,
           const Array<std::uint8_t>& chosen) {
            check_lengths(shares.size(), chosen.size(), counts.size());
            if (chosen.size() != shares.size()) {
                throw Failure(FailureKind::kInvalidInput, "chosen must have one entry per row");
            }
            nb::gil_scoped_release unlocked;
            const ShareSum sum = sum_shares(view(shares), view(counts), view(chosen));
            return std::pair(sum.high, sum.low);
        },
        "shares"_a, "counts"_a, "chosen"_a, "The two halves of the exact sum of some shares.");
    module.def(
        "exact_log", [](double x) { return exact_log(x); }, "x"_a,
        "Natural logarithm of a positive number, the same bits on every machine.");
    module.def(
        "exact_exp", [](double x) { return exact_exp(x); }, "x"_a,
        "e to the x, the same bits on every machine.");
    module.def(
        "exact_exp_of",
        [](const Array<double>& numbers) {
            std::vector<double> powers(numbers.size());
            for (std::size_t i = 0; i < powers.size(); ++i)
                powers[i] = exact_exp(numbers.data()[i]);
            return give(std::move(powers));
        },
        "numbers"_a, "e to each number.");
    module.def(
        "exact_log_of",
        [](const Array<double>& numbers) {
            std::vector<double> logs(numbers.size());
            for (std::size_t i = 0; i < logs.size(); ++i) logs[i] = exact_log(numbers.data()[i]);
            return give(std::move(logs));
        },
        "numbers"_a, "Natural logarithms of positive numbers.");
    module.def(
        "move_margins",
        [](const Output<double>& margins, const Array<std::uint8_t>& right, double if_right,
           double if_wrong) {
            if (margins.size() == 0 || right.size() != margins.size()) {
                throw Failure(FailureKind::kInvalidInput, "margins and answers differ in length");
            }
            nb::gil_scoped_release unlocked;
            return move_margins(view(margins), view(right), if_right, if_wrong);
        },
        "margins"_a.noconvert(), "right"_a, "if_right"_a, "if_wrong"_a,
        "Add one of two steps to every margin, in place; gives the least margin then.");
    module.def(
        "fill_derivatives",
        [](const std::string& loss, double parameter, const Array<double>& y,
           const Array<double>& scores, const Output<float>& gradients,
           const Output<float>& hessians, int n_threads) {
            const LossSpec spec = {parse_loss(loss), parameter};
            nb::gil_scoped_release unlocked;  // pure C++: no Python object is touched
            const DerivativeLimits limits = fill_derivatives(
                spec, view(y), view(scores), view(gradients), view(hessians), n_threads);
            return std::pair(limits.gradient, limits.hessian);
        },
        "loss"_a, "parameter"_a, "y"_a, "scores"_a, "gradients"_a.noconvert(),
        "hessians"_a.noconvert(), "n_threads"_a,
        "Derivatives of a loss by the score, row by row; gives the largest magnitudes of both. "
        "hessians may be empty where all are 1.");
    module.def(
        "fill_softmax_derivatives",
        [](const Array<std::int32_t>& codes, const Array<double>& scores, std::size_t n_classes,
           const Output<float>& gradients, const Output<float>& hessians, int n_threads) {
            std::vector<std::pair<float, float>> pairs;
            nb::gil_scoped_release unlocked;
            for (const DerivativeLimits& limits :
                 fill_softmax_derivatives(view(codes), view(scores), n_classes, view(gradients),
                                          view(hessians), n_threads)) {
                pairs.emplace_back(limits.gradient, limits.hessian);
            }
            return pairs;
        },
        "codes"_a, "scores"_a, "n_classes"_a, "gradients"_a.noconvert(), "hessians"_a.noconvert(),
        "n_threads"_a,
        "Derivatives of the multinomial loss, class by class; gives the largest magnitudes of "
        "both.");
    module.def(
        "sum_loss",
        [](const std::string& loss, double parameter, const Array<double>& y,
           const Array<double>& scores, const Array<double>& weights, int n_threads) {
            const LossSpec spec = {parse_loss(loss), parameter};
            nb::gil_scoped_release unlocked;
            return sum_loss(spec, view(y), view(scores), view(weights), n_threads);
        },
        "loss"_a, "parameter"_a, "y"_a, "scores"_a, "weights"_a, "n_threads"_a,
        "Weighted sum of a loss; weights empty: all 1.");
    module.def(
        "sum_softmax_loss",
        [](const Array<std::int32_t>& codes, const Array<double>& scores, std::size_t n_classes,
           const Array<double>& weights, int n_threads) {
            nb::gil_scoped_release unlocked;
            return sum_softmax_loss(view(codes), view(scores), n_classes, view(weights), n_threads);
        },
        "codes"_a, "scores"_a, "n_classes"_a, "weights"_a, "n_threads"_a,
        "Weighted sum of the multinomial loss; weights empty: all 1.");
    module.def(
        "log_link_steps",
        [](const Array<double>& newton, double power) {
            std::vector<double> steps;
            for (const double step : view(newton)) steps.push_back(log_link_step(step, power));
            return give(std::move(steps));
        },
        "newton"_a, "power"_a, "Exact steps of leaves from Newton's, for losses with log link.");
    module.def(
        "leaf_optima",
        [](const std::pair<std::string, double>& loss,
           const std::pair<Array<double>, Array<double>>& targets_and_scores,
           const Array<std::int64_t>& weights, const Array<std::uint32_t>& rows,
           const Array<std::int64_t>& first, const Array<std::int64_t>& last, int n_threads) {
            const auto& [y, scores] = targets_and_scores;
            const LossSpec spec = {parse_loss(loss.first), loss.second};
            const LeafTask task = {spec, view(y), view(scores), view(weights)};
            std::vector<double> best;
            {
                nb::gil_scoped_release unlocked;
                best = leaf_optima(task, {view(rows), view(first), view(last)}, n_threads);
            }
            return give(std::move(best));
        },
        "loss"_a, "targets_and_scores"_a, "weights"_a, "rows"_a, "first"_a, "last"_a, "n_threads"_a,
        "Best constant of each node, whose rows are rows[first[i]:last[i]]; weights empty: all 1.");
}

}  // namespace spinney::bindings
