/// Nodes of rows with several numbers each.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "native/base/elementary.hpp"
#include "native/trees/forest_rows.hpp"

namespace spinney {

/// Several numbers per row, judged by the sum of their squared errors; with kPoisson by that of
/// their halved Poisson deviances, for numbers that are not negative and were not shifted. A sum is
/// that of every output, then the weight.
template <bool kPoisson>
class VectorSum {
  public:
    using Sums = std::vector<std::int64_t>;
    static constexpr bool kSmall = false;
    static constexpr bool kPlaces = true;
    static constexpr bool kVectors = false;

    explicit VectorSum(const ForestRows& rows) : rows_(rows), n_outputs_(rows.n_outputs) {}

    std::size_t width() const { return n_outputs_ + 1; }
    Sums no_sums() const { return Sums(width()); }
    void add_if(bool counts, std::uint32_t payload, std::int64_t* cell) const {
        if (counts) add(payload, cell);
    }
    static std::uint32_t mark(std::uint32_t /*row*/, std::uint32_t repetitions) {
        return repetitions;
    }
    void load(std::span<const TreeRow> items) { items_ = items; }
    void begin() { n_different_ = 0; }
    void visit(std::uint32_t payload, std::int64_t* total) {
        const std::uint32_t row = row_of(items_[payload]);
        if (n_different_ == 0) {
            first_ = row;
            n_different_ = 1;
        } else if (n_different_ == 1 && !is_same(row, first_)) {
            n_different_ = 2;
        }
        add(payload, total);
    }
    static std::uint32_t payload(TreeRow /*item*/, std::size_t position) {
        return static_cast<std::uint32_t>(position);
    }
    void add(std::uint32_t payload, std::int64_t* cell) const {
        const TreeRow item = items_[payload];
        const auto repetitions = static_cast<std::int64_t>(mark_of(item));
        const std::int64_t* numbers = rows_.numbers.data() + row_of(item) * n_outputs_;
        for (std::size_t k = 0; k < n_outputs_; ++k) cell[k] += numbers[k] * repetitions;
        cell[n_outputs_] += rows_.weight(row_of(item)) * repetitions;
    }

    bool is_pure(const std::int64_t* /*total*/) const { return n_different_ < 2; }
    static bool is_perfect(double /*gain*/, std::size_t n_rows) { return n_rows == 2; }
    bool has_rows(const std::int64_t* cell) const { return cell[n_outputs_] != 0; }
    double weight(const std::int64_t* total) const {
        return static_cast<double>(total[n_outputs_]) * rows_.weight_scale;
    }
    std::size_t n_orders() const { return n_outputs_; }
    double mean(const std::int64_t* cell, std::size_t k) const {
        return static_cast<double>(cell[k]) / static_cast<double>(cell[n_outputs_]);
    }
    void values(const std::int64_t* total, double* into) const {
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            const double sum = static_cast<double>(total[k]) * rows_.units[k] * rows_.number_scale;
            into[k] = sum / weight(total) + rows_.centre[k];
        }
    }

    void focus(const std::int64_t* total) { total_ = total; }
    double gain(const std::int64_t* left) const {
        return kPoisson ? poisson_gain(left) : squared_gain(left);
    }

  private:
    double squared_gain(const std::int64_t* left) const {
        const std::int64_t* total = total_;
        constexpr double kRounding = 0x1p-50;
        const auto own = static_cast<double>(left[n_outputs_]);
        const auto rest = static_cast<double>(total[n_outputs_] - left[n_outputs_]);
        double squares = 0.0;
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            const double a = static_cast<double>(left[k]) / own;
            const double b = static_cast<double>(total[k] - left[k]) / rest;
            if (std::abs(a - b) > kRounding * (std::abs(a) + std::abs(b))) {
                const double apart = (a - b) * rows_.units[k];
                squares += apart * apart;
            }
        }
        return squares * own * (rest / (own + rest)) * rows_.number_scale * rows_.number_scale /
               rows_.weight_scale;
    }

    /// As ScalarSum's, added up: a split that leaves an output without numbers above 0 on one side
    /// is none. An output that has none in the whole table has nothing to gain.
    double poisson_gain(const std::int64_t* left) const {
        const auto own = static_cast<double>(left[n_outputs_]);
        const auto rest = static_cast<double>(total_[n_outputs_] - left[n_outputs_]);
        double gain = 0.0;
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            if (total_[k] <= 0) continue;
            const auto sum = static_cast<double>(left[k]);
            const auto rest_sum = static_cast<double>(total_[k] - left[k]);
            if (sum <= 0.0 || rest_sum <= 0.0) return -std::numeric_limits<double>::infinity();
            const double all = mean(total_, k);
            const double falls =
                sum * exact_log(sum / own / all) + rest_sum * exact_log(rest_sum / rest / all);
            gain += std::max(falls, 0.0) * rows_.units[k];
        }
        return gain * rows_.number_scale;
    }
    bool is_same(std::uint32_t a, std::uint32_t b) const {
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            if (!rows_.same_number(a, b, k)) return false;
        }
        return true;
    }

    const ForestRows& rows_;
    std::size_t n_outputs_;
    std::span<const TreeRow> items_;
    std::uint32_t first_ = 0;
    int n_different_ = 0;  ///< targets seen in the node: none, one, several
    const std::int64_t* total_ = nullptr;
};

}  // namespace spinney
