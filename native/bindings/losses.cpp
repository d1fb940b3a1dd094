#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

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

void check_lengths(std::size_t n, std::initializer_list<std::size_t> given,
                   std::initializer_list<std::size_t> given_or_empty) {
    const auto is_odd = [n](std::size_t length) { return length != n; };
    const auto is_odder = [n](std::size_t length) { return length != n && length != 0; };
    if (n == 0 || std::any_of(given.begin(), given.end(), is_odd) ||
        std::any_of(given_or_empty.begin(), given_or_empty.end(), is_odder)) {
        throw Failure(FailureKind::kInvalidInput, "weights of rows: arrays differ in length");
    }
}

template <class T>
const T* data_or_null(const Array<T>& array) {
    return array.size() > 0 ? array.data() : nullptr;
}

std::pair<std::int64_t, std::int64_t> weigh(
    const Output<double>& margins, double least,
    const std::tuple<Array<std::uint8_t>, double, double>& step, const Array<double>& factors,
    const Array<std::int64_t>& counts, const Array<std::int8_t>& signs,
    const std::pair<Output<double>, Output<std::int32_t>>& to, int n_threads) {
    const std::size_t n = margins.size();
    const auto& [right, if_right, if_wrong] = step;
    check_lengths(n, {to.first.size()},
                  {right.size(), factors.size(), counts.size(), signs.size(), to.second.size()});
    check_lengths(n, {to.second.size() > 0 ? signs.size() : n}, {});
    nb::gil_scoped_release unlocked;  // pure C++: no Python object is touched
    const ShareSum sum = weigh_rows({.margins = margins.data(),
                                     .step = {data_or_null(right), if_right, if_wrong},
                                     .factors = data_or_null(factors),
                                     .counts = data_or_null(counts),
                                     .signs = data_or_null(signs),
                                     .least = least,
                                     .shares = to.first.data(),
                                     .cells = to.second.size() > 0 ? to.second.data() : nullptr,
                                     .n = n},
                                    n_threads);
    return {sum.high, sum.low};
}

RowTargets targets(const Array<double>& y) { return {.numbers = view(y), .codes = {}}; }
RowTargets targets(const Array<std::uint8_t>& y) { return {.numbers = {}, .codes = view(y)}; }

/// What losses of one score do with targets of a type.
template <class Number, class Argument>
void define_point_losses(nb::module_& module, const Argument& y_argument) {
    module.def(
        "fill_derivatives",
        [](const std::string& loss, double parameter, const Array<Number>& y,
           const Array<double>& scores, const Output<float>& gradients,
           const Output<float>& hessians, int n_threads) {
            const LossSpec spec = {parse_loss(loss), parameter};
            nb::gil_scoped_release unlocked;  // pure C++: no Python object is touched
            const DerivativeLimits limits = fill_derivatives(
                spec, targets(y), view(scores), view(gradients), view(hessians), n_threads);
            return std::pair(limits.gradient, limits.hessian);
        },
        "loss"_a, "parameter"_a, y_argument, "scores"_a, "gradients"_a.noconvert(),
        "hessians"_a.noconvert(), "n_threads"_a,
        "Derivatives of a loss by the score, row by row; gives the largest magnitudes of both. "
        "hessians may be empty where all are 1.");
    module.def(
        "sum_loss",
        [](const std::string& loss, double parameter, const Array<Number>& y,
           const Array<double>& scores, const Array<double>& weights, int n_threads) {
            const LossSpec spec = {parse_loss(loss), parameter};
            nb::gil_scoped_release unlocked;
            return sum_loss(spec, targets(y), view(scores), view(weights), n_threads);
        },
        "loss"_a, "parameter"_a, y_argument, "scores"_a, "weights"_a, "n_threads"_a,
        "Weighted sum of a loss; weights empty: all 1.");
}

}  // namespace

void bind_losses(nb::module_& module) {
    module.def(
        "weigh_rows", &weigh, "margins"_a.noconvert(), "least"_a, "step"_a, "factors"_a, "counts"_a,
        "signs"_a, "to"_a.noconvert(), "n_threads"_a,
        "Weights exp(least - margin) of rows: fills shares, and cells of 30 bits of them with "
        "signs; gives the two halves of the exact sum of the shares by their counts. step: "
        "whether each row was voted right, and what is added to its margin first, in place, "
        "if it was and if it was not. The answers of the step, factors, counts, signs and "
        "cells may be empty.");
    module.def(
        "judge_vote",
        [](const Array<double>& shares, const Array<std::int64_t>& counts,
           const Array<std::uint8_t>& right, const Array<double>& margins, int n_threads) {
            const std::size_t n = shares.size();
            check_lengths(n, {right.size()}, {counts.size(), margins.size()});
            nb::gil_scoped_release unlocked;
            const Verdict verdict = judge_vote({.shares = shares.data(),
                                                .counts = data_or_null(counts),
                                                .right = right.data(),
                                                .margins = data_or_null(margins),
                                                .n = n},
                                               n_threads);
            return std::tuple(verdict.wrong.high, verdict.wrong.low, verdict.least_right,
                              verdict.least_wrong);
        },
        "shares"_a, "counts"_a, "right"_a, "margins"_a, "n_threads"_a,
        "The two halves of the exact sum of the shares of wrong rows, and the least margin of "
        "right "
        "and of wrong ones. counts and margins may be empty.");
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
    define_point_losses<std::uint8_t>(module, "y"_a.noconvert());  // the codes of two classes
    define_point_losses<double>(module, "y"_a);
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
