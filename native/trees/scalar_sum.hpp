/// Nodes of rows with one number each.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "native/base/elementary.hpp"
#include "native/trees/cut_ceilings.hpp"
#include "native/trees/cut_gains.hpp"
#include "native/trees/few_rows.hpp"
#include "native/trees/forest_rows.hpp"

namespace spinney {

/// One number per row, judged by squared error; with kPoisson by half the Poisson deviance, for
/// numbers that are not negative and were not shifted.
template <bool kPoisson>
class ScalarSum {
  public:
    using Sum = ScalarPair;
    using Sums = std::array<std::int64_t, 2>;
    static constexpr bool kSmall = true;

    explicit ScalarSum(const ForestRows& rows) : rows_(rows) {}

    static constexpr bool kPlaces = true;
    static constexpr bool kVectors = !kPoisson;
    static constexpr bool kSets = !kPoisson;  ///< whether it has Sets and can roughen

    /// One addition for both.
    using Both [[gnu::vector_size(sizeof(Sum))]] = std::int64_t;

    static Sums no_sums() { return {}; }
    static constexpr std::size_t width() { return 2; }
    static std::uint32_t mark(std::uint32_t /*row*/, std::uint32_t repetitions) {
        return repetitions;
    }
    void load(std::span<const TreeRow> items) {
        items_ = items;
        here_.resize(std::max(here_.size(), items.size()));
        apart_.resize(here_.size());
        for (std::size_t i = 0; i < items.size(); ++i) {
            const std::uint32_t row = row_of(items[i]);
            const auto repetitions = static_cast<std::int64_t>(mark_of(items[i]));
            here_[i] = {rows_.numbers[row] * repetitions, rows_.weight(row) * repetitions};
        }
    }
    void begin() {
        n_different_ = 0;
        n_visited_ = 0;
        magnitude_ = 0;
    }
    void visit(std::uint32_t payload, std::int64_t* total) {
        magnitude_ += std::abs(here_[payload].number);
        if (n_visited_ < few_.size()) few_[n_visited_] = here_[payload];
        ++n_visited_;
        if (n_different_ == 0) {
            first_ = row_of(items_[payload]);
            n_different_ = 1;
        } else if (n_different_ == 1 && !rows_.same_number(row_of(items_[payload]), first_, 0)) {
            n_different_ = 2;
        }
        add(payload, total);
    }
    static std::uint32_t payload(TreeRow /*item*/, std::size_t position) {
        return static_cast<std::uint32_t>(position);
    }
    void add(std::uint32_t payload, std::int64_t* cell) const {
        cell[0] += here_[payload].number;
        cell[1] += here_[payload].weight;
    }
    void add_if(bool counts, std::uint32_t payload, std::int64_t* cell) const {
        const std::int64_t mask = -static_cast<std::int64_t>(counts);
        cell[0] += here_[payload].number & mask;
        cell[1] += here_[payload].weight & mask;
    }

    bool is_pure(const std::int64_t* /*total*/) const { return n_different_ < 2; }
    /// Whether no split of the node can gain more. Rows sorted by their numbers are cut best by
    /// some cut of that order (Fisher 1958), so with few rows the most there is to gain is known.
    bool is_perfect(double gain, std::size_t /*n_rows*/) const { return gain >= most_gain_; }
    static bool has_rows(const std::int64_t* cell) { return cell[1] != 0; }
    double weight(const std::int64_t* total) const {
        return static_cast<double>(total[1]) * rows_.weight_scale;
    }
    static double mean(const std::int64_t* cell, std::size_t /*output*/) {
        return static_cast<double>(cell[0]) / static_cast<double>(cell[1]);
    }
    static std::size_t n_orders() { return 1; }
    void values(const std::int64_t* total, double* into) const {
        into[0] =
            static_cast<double>(total[0]) * rows_.number_scale / weight(total) + rows_.centre[0];
    }

    void focus(const std::int64_t* total) {
        focus_on_sets(total);
        most_gain_ = std::numeric_limits<double>::infinity();
        if (!kPoisson && n_visited_ <= few_.size()) find_most_gain();
    }
    /// The same where no gain is asked for but those of sets.
    void focus_on_sets(const std::int64_t* total) {
        total_number_ = total[0];
        total_weight_ = total[1];
        mean_ = static_cast<double>(total[0]) / static_cast<double>(total[1]);
        node_.number = Narrowing::below(magnitude_);
        node_.weight = Narrowing::below(total[1]);
        node_.all = node_.weight(total[1]);
        node_.mean = node_.number(total[0]) / node_.all;
        // Units of the sums are 2^shift times those of the narrowed ones.
        scale_ = std::ldexp(node_.all * unit(), 2 * node_.number.shift - node_.weight.shift);
    }
    [[gnu::always_inline]] double gain(const std::int64_t* left) const {
        return kPoisson ? poisson_gain(left) : node_.gain(left[0], left[1]) * scale_;
    }

    /// Writes what these rows of the node in focus add to rough sums, by payload. A number is what
    /// it is above the mean of the node, so that sums stay small and 30 bits tell them apart.
    RoughNode roughen(std::span<const std::uint16_t> payloads, RoughSum* by_payload) {
        constexpr double kMost = 0x1p29;                             // of all numbers together
        constexpr std::int64_t kMostWeight = std::int64_t{1} << 24;  // exact in a float
        double together = 0.0;
        for (const std::uint16_t payload : payloads) {
            apart_[payload] = static_cast<double>(here_[payload].number) -
                              mean_ * static_cast<double>(here_[payload].weight);
            together += std::abs(apart_[payload]);
        }
        int shift = 0;
        while (total_weight_ >> shift >= kMostWeight) ++shift;
        const double fine = kMost / std::max(together, 0x1p-900);
        std::uint64_t all = 0;
        for (const std::uint16_t payload : payloads) {
            const auto number = static_cast<std::int32_t>(apart_[payload] * fine);  // towards 0
            const auto weight = static_cast<std::uint64_t>(here_[payload].weight >> shift);
            by_payload[payload] = static_cast<std::uint64_t>(number) << 32 | weight;
            all += weight;
        }
        // A unit per row that was rounded, and the last bits of all that gains are made of.
        const double error = static_cast<double>(payloads.size()) + 2.0 +
                             static_cast<double>(magnitude_) * 0x1p-46 * fine;
        const double unit = static_cast<double>(total_weight_) * this->unit() / fine / fine;
        return {static_cast<float>(all), static_cast<float>(error), std::ldexp(unit, -2 * shift)};
    }

    /// Every way to part the rows of a small node.
    class Sets {
      public:
        /// payloads: of the node's rows, whose sums are in focus.
        void fill(const ScalarSum& target, std::span<const std::uint16_t> payloads) {
            std::size_t n_sets = 1;
            for (const std::uint16_t payload : payloads) {
                const Sum own = target.here_[payload];
                for (std::size_t set = 0; set < n_sets; ++set) {
                    sums_[n_sets + set] = {sums_[set].number + own.number,
                                           sums_[set].weight + own.weight};
                }
                n_sets *= 2;
            }
            for (std::size_t set = n_sets; set < kCutPadding; ++set) sums_[set] = {};
            kernel_(sums_.data(), n_sets, target.node_, gains_.data(), worths_.data());
            worths_[0] = 0;
            worths_[n_sets - 1] = 0;
        }
        std::uint16_t* worths() { return worths_.data(); }
        const std::uint16_t* worths() const { return worths_.data(); }
        double gain(const ScalarSum& target, RowSet left) const {
            return gains_[left] * target.scale_;
        }
        Sums sums(RowSet left) const { return {sums_[left].number, sums_[left].weight}; }

      private:
        ScalarSetWorths* kernel_ = SPINNEY_CUT_KERNEL(scalar_set_worths);
        static constexpr std::size_t kMostSets = std::size_t{1} << kFewRows;
        std::array<Sum, kMostSets> sums_ = {};
        std::array<double, kMostSets> gains_ = {};
        std::array<std::uint16_t, kMostSets> worths_ = {};
    };

    class Prefix {
      public:
        explicit Prefix(std::size_t most_rows)
            : sums_(most_rows + kCutPadding), gains_(most_rows + kCutPadding) {}

        template <class PayloadAt>
        void fill(const ScalarSum& target, std::size_t n, PayloadAt payload_at) {
            Both sum = {};
            Sum* sums = sums_.data();
            const Sum* here = target.here_.data();
            for (std::size_t i = 0; i < n; ++i) {
                Both own;
                std::memcpy(&own, here + payload_at(i), sizeof own);
                sum += own;
                std::memcpy(&sums[i].number, &sum, sizeof sum);
            }
        }
        /// The same of cells that have rows, of the n first; returns how many. bins: room for n.
        std::size_t fill_cells(const std::int64_t* cells, std::size_t n, std::uint32_t* bins) {
            Sum sum;
            Sum* sums = sums_.data();
            std::size_t n_filled = 0;
            for (std::size_t bin = 0; bin < n; ++bin) {
                sum.number += cells[2 * bin];
                sum.weight += cells[2 * bin + 1];
                sums[n_filled] = sum;
                bins[n_filled] = static_cast<std::uint32_t>(bin);
                n_filled += cells[2 * bin + 1] != 0 ? 1 : 0;
            }
            return n_filled;
        }
        double weight(const ScalarSum& target, std::size_t row) const {
            return static_cast<double>(sums_[row].weight) * target.rows_.weight_scale;
        }
        Sums sums(std::size_t row) const { return {sums_[row].number, sums_[row].weight}; }
        /// bar: what a gain must exceed to count. Most features of a node cannot beat the best one,
        /// and are told apart from those that can before anything is divided.
        BestRow best(const ScalarSum& target, const std::uint32_t* keys, int key_shift,
                     std::size_t first, std::size_t last, double bar) {
            std::fill_n(sums_.begin() + static_cast<std::ptrdiff_t>(last), kCutPadding, Sum{});
            if (bar > 0.0 &&
                !may_exceed_(sums_.data(), first, last, target.node_, bar / target.scale_)) {
                return {};
            }
            BestRow best =
                kernel_(sums_.data(), keys, key_shift, first, last, target.node_, gains_.data());
            best.gain *= target.scale_;
            return best;
        }

      private:
        MayScalarRow* may_exceed_ = SPINNEY_CUT_KERNEL(may_scalar_row);
        BestScalarRow* kernel_ = SPINNEY_CUT_KERNEL(best_scalar_row);
        std::vector<ScalarPair> sums_;
        std::vector<double> gains_;
    };

  private:
    /// S_left log(mean left) + S_right log(mean right) - S log(mean). A child whose numbers are all
    /// 0 would predict what no Poisson distribution has: such a split is none.
    double poisson_gain(const std::int64_t* left) const {
        const auto sum = static_cast<double>(left[0]);
        const auto own = static_cast<double>(left[1]);
        const auto rest_sum = static_cast<double>(total_number_ - left[0]);
        const auto rest = static_cast<double>(total_weight_ - left[1]);
        if (sum <= 0.0 || rest_sum <= 0.0) return -std::numeric_limits<double>::infinity();
        const double gain =
            sum * exact_log(sum / own / mean_) + rest_sum * exact_log(rest_sum / rest / mean_);
        return std::max(gain, 0.0) * rows_.number_scale;
    }

    void find_most_gain() {
        const auto end = few_.begin() + static_cast<std::ptrdiff_t>(n_visited_);
        std::sort(few_.begin(), end, [](const Sum& a, const Sum& b) {
            return static_cast<double>(a.number) * static_cast<double>(b.weight) <
                   static_cast<double>(b.number) * static_cast<double>(a.weight);
        });
        Sum left;
        double most = 0.0;
        for (auto own = few_.begin(); own + 1 < end; ++own) {
            left.number += own->number;
            left.weight += own->weight;
            // The lower numbers may come as the left or as the right, which rounds in another way.
            most = std::max({most, node_.gain(left.number, left.weight),
                             node_.gain(total_number_ - left.number, total_weight_ - left.weight)});
        }
        most_gain_ = most * scale_;
    }

    double unit() const { return rows_.number_scale * rows_.number_scale / rows_.weight_scale; }

    const ForestRows& rows_;
    std::vector<Sum> here_;      ///< sums of the node's rows, one each
    std::vector<double> apart_;  ///< room
    std::span<const TreeRow> items_;
    std::uint32_t first_ = 0;
    int n_different_ = 0;     ///< targets seen in the node: none, one, several
    std::array<Sum, 6> few_;  ///< the node's rows, if there are no more
    std::size_t n_visited_ = 0;
    double most_gain_ = 0.0;
    std::int64_t magnitude_ = 0;     ///< sum of |numbers| of the node
    std::int64_t total_number_ = 0;  ///< of the node that gains are about
    std::int64_t total_weight_ = 0;
    double mean_ = 0.0;
    ScalarNode node_;
    double scale_ = 0.0;
};

}  // namespace spinney
