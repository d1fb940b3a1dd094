#include "native/explain/box_search.hpp"

#include <algorithm>
#include <numeric>

namespace spinney {
namespace {

/// Parts and divisions that are tried before a box is divided. Trying costs about as much as
/// opening a box; trying none made the searches we measured many times longer.
constexpr std::size_t kMostLosingParts = 12;
constexpr std::size_t kMostDivisions = 32;

constexpr double kNothing = -std::numeric_limits<double>::infinity();

const Cells* find(std::span<const Side> sides, std::int32_t feature) {
    for (const Side& side : sides) {
        if (side.feature == feature) return &side.cells;
    }
    return nullptr;
}

/// Splits `whole` so that `wanted` (part of it) and `reached` (another part of it) come apart.
std::pair<Cells, Cells> divide(const Cells& whole, const Cells& wanted, const Cells& reached) {
    Cells one = whole;
    Cells other = whole;
    one.missing = whole.missing && wanted.missing;
    other.missing = whole.missing && !wanted.missing;
    if (!wanted.has_value()) {
        one.high = one.low;
    } else if (!reached.has_value()) {
        other.high = other.low;
    } else if (wanted.high <= reached.low) {
        one.high = other.low = wanted.high;
    } else if (reached.high <= wanted.low) {
        one.low = other.high = wanted.low;
    } else {
        for (std::size_t i = 0; i < one.bins.size(); ++i) {
            one.bins[i] = whole.bins[i] & wanted.bins[i];
            other.bins[i] = whole.bins[i] & ~wanted.bins[i];
        }
    }
    return {one, other};
}

}  // namespace

BoxSearch::BoxSearch(Parts parts, std::vector<Cells> domain, const SearchGoal& goal)
    : parts_(std::move(parts)), domain_(std::move(domain)), goal_(goal) {
    const std::size_t n_parts = parts_.n_parts();
    best_.resize(n_parts);
    chosen_.resize(n_parts);
    values_.resize(n_parts);
    dive_order_.resize(n_parts);
    std::iota(dive_order_.begin(), dive_order_.end(), std::size_t{0});
    std::vector<double> range(n_parts);
    for (std::size_t part = 0; part < n_parts; ++part) {
        range[part] =
            parts_.value[parts_.first_piece[part]] - parts_.value[parts_.first_piece[part + 1] - 1];
    }
    std::stable_sort(dive_order_.begin(), dive_order_.end(),
                     [&](std::size_t a, std::size_t b) { return range[a] > range[b]; });
    box_ = domain_;
    for (std::size_t part = 0; part < n_parts; ++part) {
        values_[part] = parts_.value[best_piece(part, box_)];
    }
    const double bound = sum_of(values_);
    dropped_ = std::max(kNothing, bound > goal_.floor ? kNothing : bound);
    if (bound > goal_.floor) waiting_.emplace(bound, -1);
}

bool BoxSearch::is_done() const {
    return waiting_.empty() || attained_ > goal_.enough || waiting_.top().first <= attained_;
}

double BoxSearch::upper() const {
    const double open = waiting_.empty() ? kNothing : waiting_.top().first;
    return std::max({open, attained_, dropped_});
}

void BoxSearch::advance(std::size_t n_boxes) {
    for (std::size_t i = 0; i < n_boxes && !is_done(); ++i) {
        const auto [bound, step] = waiting_.top();
        waiting_.pop();
        ++n_boxes_;
        open(bound, step);
    }
}

void BoxSearch::load(std::int64_t step) {
    box_ = domain_;
    std::vector<std::uint8_t> seen(domain_.size(), 0);
    for (; step >= 0; step = steps_[static_cast<std::size_t>(step)].parent) {
        const Side& side = steps_[static_cast<std::size_t>(step)].side;
        const auto feature = static_cast<std::size_t>(side.feature);
        if (seen[feature]) continue;  // the latest restriction implies those before it
        seen[feature] = 1;
        box_[feature] = side.cells;
    }
    for (std::size_t part = 0; part < best_.size(); ++part) best_[part] = best_piece(part, box_);
}

void BoxSearch::open(double bound, std::int64_t step) {
    load(step);
    const double found = dive();
    if (found > attained_) {
        attained_ = found;
        witness_ = reached_;
    }
    if (found >= bound || bound <= attained_) return;
    list_losing_parts();
    std::vector<Division> all = divisions();
    std::size_t best = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].bound_one = bound_within(all[i].feature, all[i].one);
        all[i].bound_other = bound_within(all[i].feature, all[i].other);
        if (score(all[i], bound) > score(all[best], bound)) best = i;
    }
    const Division& chosen = all[best];
    push(chosen.bound_one, step, chosen.feature, chosen.one);
    push(chosen.bound_other, step, chosen.feature, chosen.other);
}

bool BoxSearch::holds(std::size_t piece, std::span<const Cells> box) const {
    for (const Side& side : parts_.sides_of(piece)) {
        if (!meet(side.cells, box[static_cast<std::size_t>(side.feature)])) return false;
    }
    return true;
}

/// Pieces stand with the largest value first, and one of them holds a row of the box.
std::size_t BoxSearch::best_piece(std::size_t part, std::span<const Cells> box) const {
    std::size_t piece = parts_.first_piece[part];
    while (!holds(piece, box)) ++piece;
    return piece;
}

double BoxSearch::sum_of(std::span<const double> values) const {
    if (goal_.only_positive_parts &&
        std::all_of(values.begin(), values.end(), [](double value) { return value <= 0.0; })) {
        return kNothing;
    }
    double sum = goal_.start;
    for (const double value : values) sum += value;
    return sum;
}

/// Narrows the box part by part to the best piece that is left, down to rows of one sum.
double BoxSearch::dive() {
    reached_ = box_;
    for (const std::size_t part : dive_order_) {
        std::size_t piece = best_[part];
        while (!holds(piece, reached_)) ++piece;
        chosen_[part] = parts_.value[piece];
        for (const Side& side : parts_.sides_of(piece)) {
            Cells& cells = reached_[static_cast<std::size_t>(side.feature)];
            cells = intersection(cells, side.cells);
        }
    }
    return sum_of(chosen_);
}

void BoxSearch::list_losing_parts() {
    losing_.clear();
    const auto loss = [&](std::size_t part) { return parts_.value[best_[part]] - chosen_[part]; };
    for (std::size_t part = 0; part < best_.size(); ++part) {
        if (loss(part) > 0.0) losing_.push_back(part);
    }
    std::stable_sort(losing_.begin(), losing_.end(),
                     [&](std::size_t a, std::size_t b) { return loss(a) > loss(b); });
    if (losing_.size() > kMostLosingParts) losing_.resize(kMostLosingParts);
}

/// The best piece of a part that lost does not meet the rows where the dive ended: every feature
/// in which they are apart is a place to divide the box.
std::vector<BoxSearch::Division> BoxSearch::divisions() const {
    std::vector<Division> all;
    for (const std::size_t part : losing_) {
        for (const Side& side : parts_.sides_of(best_[part])) {
            const auto feature = static_cast<std::size_t>(side.feature);
            if (meet(side.cells, reached_[feature]) || all.size() == kMostDivisions) continue;
            const Cells wanted = intersection(side.cells, box_[feature]);
            const auto [one, other] = divide(box_[feature], wanted, reached_[feature]);
            all.push_back({side.feature, one, other});
        }
    }
    return all;
}

/// The bound of the open box with one feature restricted; only parts whose best piece is outside
/// have another value there.
double BoxSearch::bound_within(std::int32_t feature, const Cells& cells) {
    const auto place = static_cast<std::size_t>(feature);
    const Cells before = box_[place];
    box_[place] = cells;
    for (std::size_t part = 0; part < best_.size(); ++part) {
        std::size_t piece = best_[part];
        const Cells* own = find(parts_.sides_of(piece), feature);
        if (own != nullptr && !meet(*own, cells)) {
            while (!holds(piece, box_)) ++piece;
        }
        values_[part] = parts_.value[piece];
    }
    box_[place] = before;
    return sum_of(values_);
}

/// Both boxes should have lower bounds: the product of what they lose, as far as it matters.
double BoxSearch::score(const Division& division, double bound) const {
    const double most = bound - std::max(cutoff(), -1e300);
    const double tiny = 1e-9 * most;
    const auto loss = [&](double of) { return std::max(std::min(bound - of, most), tiny); };
    return loss(division.bound_one) * loss(division.bound_other);
}

void BoxSearch::push(double bound, std::int64_t parent, std::int32_t feature, const Cells& cells) {
    if (bound <= goal_.floor) {
        dropped_ = std::max(dropped_, bound);
        return;
    }
    if (bound <= attained_) return;
    steps_.push_back({parent, {feature, cells}});
    waiting_.emplace(bound, static_cast<std::int64_t>(steps_.size()) - 1);
}

}  // namespace spinney
