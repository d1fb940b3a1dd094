/// The largest value of a sum of parts over all rows: branch and bound over boxes, best first.
#pragma once

#include <cstdint>
#include <limits>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "native/explain/cells.hpp"
#include "native/explain/parts.hpp"

namespace spinney {

struct SearchGoal {
    double start = 0.0;  ///< what the sum begins with
    /// Boxes that cannot exceed this are of no interest.
    double floor = -std::numeric_limits<double>::infinity();
    /// A row above this ends the search.
    double enough = std::numeric_limits<double>::infinity();
    /// Whether boxes where no part is positive are of no interest either.
    bool only_positive_parts = false;
};

/// The bound of a box is `start`, plus the largest value in the box of part 0, of part 1, …, added
/// in this order. Rounding is monotone, so this also bounds the rounded sum, in the same order, of
/// every row in the box: no margin is needed for it.
class BoxSearch {
  public:
    BoxSearch(Parts parts, std::vector<Cells> domain, const SearchGoal& goal);

    /// Opens up to so many boxes; does nothing once the search is done.
    void advance(std::size_t n_boxes);

    bool is_done() const;
    std::size_t n_boxes() const { return n_boxes_; }
    /// The largest sum a row was found for; -infinity: none yet.
    double attained() const { return attained_; }
    /// No row has a larger sum than this, or than `floor`.
    double upper() const;
    /// Every row of this box has the sum `attained`.
    const std::vector<Cells>& witness() const { return witness_; }

  private:
    /// A box is its parent with one feature restricted further.
    struct Step {
        std::int64_t parent = -1;
        Side side;
    };
    struct Division {
        std::int32_t feature = 0;
        Cells one;
        Cells other;
        double bound_one = 0.0;
        double bound_other = 0.0;
    };

    void load(std::int64_t step);
    void open(double bound, std::int64_t step);
    bool holds(std::size_t piece, std::span<const Cells> box) const;
    std::size_t best_piece(std::size_t part, std::span<const Cells> box) const;
    double sum_of(std::span<const double> values) const;
    double dive();
    void list_losing_parts();
    std::vector<Division> divisions() const;
    double bound_within(std::int32_t feature, const Cells& cells);
    double score(const Division& division, double bound) const;
    void push(double bound, std::int64_t parent, std::int32_t feature, const Cells& cells);
    double cutoff() const { return std::max(goal_.floor, attained_); }

    Parts parts_;
    std::vector<Cells> domain_;
    SearchGoal goal_;
    std::vector<std::size_t> dive_order_;
    std::vector<Step> steps_;
    std::priority_queue<std::pair<double, std::int64_t>> waiting_;
    std::size_t n_boxes_ = 0;
    double attained_ = -std::numeric_limits<double>::infinity();
    double dropped_ = -std::numeric_limits<double>::infinity();
    std::vector<Cells> witness_;

    // Of the box that is open.
    std::vector<Cells> box_;
    std::vector<Cells> reached_;       ///< where the dive ended
    std::vector<std::size_t> best_;    ///< piece with the largest value, per part
    std::vector<double> chosen_;       ///< value the dive got, per part
    std::vector<double> values_;       ///< of a box that is tried
    std::vector<std::size_t> losing_;  ///< parts where the dive got less than the best
};

}  // namespace spinney
