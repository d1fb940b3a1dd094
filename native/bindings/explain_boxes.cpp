#include "native/base/failure.hpp"
#include "native/bindings/arrays.hpp"
#include "native/explain/box_search.hpp"
#include "native/explain/parts.hpp"

namespace spinney::bindings {
namespace {

constexpr std::int32_t kMissingCell = -1;

/// Sets of cells of several features as arrays: low, high, missing and 32 bytes of bins each.
std::vector<Cells> read_cells(const nb::dict& arrays) {
    const auto low = view(nb::cast<Array<std::int32_t>>(arrays["low"], false));
    const auto high = view(nb::cast<Array<std::int32_t>>(arrays["high"], false));
    const auto missing = view(nb::cast<Array<std::uint8_t>>(arrays["missing"], false));
    const auto bins = view(nb::cast<Array<std::uint64_t>>(arrays["bins"], false));
    const std::size_t n = low.size();
    if (high.size() != n || missing.size() != n || bins.size() != 4 * n) {
        throw Failure(FailureKind::kInvalidInput, "arrays of cells differ in length");
    }
    std::vector<Cells> all(n);
    for (std::size_t i = 0; i < n; ++i) {
        all[i] = {low[i], high[i], {}, missing[i] != 0};
        std::copy_n(bins.begin() + static_cast<std::ptrdiff_t>(4 * i), 4, all[i].bins.begin());
        if (all[i].is_empty()) {
            throw Failure(FailureKind::kInvalidInput, "a feature has no cell that is allowed");
        }
    }
    return all;
}

nb::dict give_cells(const std::vector<Cells>& all) {
    std::vector<std::int32_t> low, high;
    std::vector<std::uint8_t> missing;
    std::vector<std::uint64_t> bins;
    for (const Cells& cells : all) {
        low.push_back(cells.low);
        high.push_back(cells.high);
        missing.push_back(cells.missing ? 1 : 0);
        bins.insert(bins.end(), cells.bins.begin(), cells.bins.end());
    }
    nb::dict arrays;
    arrays["low"] = give(std::move(low));
    arrays["high"] = give(std::move(high));
    arrays["missing"] = give(std::move(missing));
    arrays["bins"] = give(std::move(bins));
    return arrays;
}

/// Trees over cells, over NumPy arrays it keeps alive.
class Boxes {
  public:
    Boxes(const nb::dict& arrays, const nb::dict& domain) {
        borrowed_.take(arrays, "tree_start", forest_.tree_start);
        borrowed_.take(arrays, "feature", forest_.feature);
        borrowed_.take(arrays, "cut", forest_.cut);
        borrowed_.take(arrays, "right", forest_.right);
        borrowed_.take(arrays, "missing_left", forest_.missing_left);
        borrowed_.take(arrays, "category_set", forest_.category_set);
        borrowed_.take(arrays, "category_sets", forest_.category_sets);
        borrowed_.take(arrays, "value", forest_.value);
        forest_.domain = read_cells(domain);
    }

    BoxSearch largest(double sign, const SearchGoal& goal) const {
        const std::vector<Corner> corners = {{{}, sign}};
        return BoxSearch(parts_of(forest_, corners), forest_.domain, goal);
    }

    /// One corner for each way to take the first or the second cell of every feature; the sign
    /// changes with every second cell.
    BoxSearch largest_difference(std::span<const std::int32_t> features,
                                 std::span<const std::int32_t> cells, double sign,
                                 const SearchGoal& goal) const {
        std::vector<Corner> corners = {{{}, sign}};
        for (std::size_t i = 0; i < features.size(); ++i) {
            std::vector<Corner> next;
            for (const Corner& corner : corners) {
                for (const std::size_t second : {std::size_t{0}, std::size_t{1}}) {
                    Corner extended = corner;
                    extended.fixed.push_back(
                        {features[i], one_cell(features[i], cells[2 * i + second])});
                    if (second) extended.sign = -extended.sign;
                    next.push_back(std::move(extended));
                }
            }
            corners = std::move(next);
        }
        return BoxSearch(parts_of(forest_, corners), forest_.domain, goal);
    }

  private:
    Cells one_cell(std::int32_t feature, std::int32_t cell) const {
        Cells cells = forest_.domain.at(static_cast<std::size_t>(feature));
        const bool is_categorical = cells.bins != Cells().bins;  // bin 255 is none
        cells.missing = cell == kMissingCell;
        if (cells.missing || is_categorical) cells.bins = {};
        if (!cells.missing && is_categorical) {
            cells.bins[static_cast<std::size_t>(cell / 64)] = 1ULL << (cell % 64);
        } else if (!cells.missing) {
            cells.low = cell;
            cells.high = cell + 1;
        }
        return cells;
    }

    CellForest forest_;
    Borrowed borrowed_;
};

}  // namespace

void bind_explain_boxes(nb::module_& module) {
    nb::class_<SearchGoal>(module, "SearchGoal", "What a search over boxes is after.")
        .def(
            "__init__",
            [](SearchGoal* self, double start, double floor, double enough, bool only) {
                new (self) SearchGoal{start, floor, enough, only};
            },
            "start"_a, "floor"_a, "enough"_a, "only_positive_parts"_a);
    nb::class_<BoxSearch>(module, "BoxSearch", "A search for the largest sum, in slices.")
        .def("advance", &BoxSearch::advance, "n_boxes"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Opens up to so many boxes.")
        .def_prop_ro("is_done", &BoxSearch::is_done)
        .def_prop_ro("n_boxes", &BoxSearch::n_boxes)
        .def_prop_ro("attained", &BoxSearch::attained)
        .def_prop_ro("upper", &BoxSearch::upper)
        .def(
            "witness", [](const BoxSearch& self) { return give_cells(self.witness()); },
            "The box of rows with the sum `attained`: low, high, missing and bins per feature.");
    nb::class_<Boxes>(module, "Boxes", "Trees whose splits speak of cells.")
        .def(nb::init<const nb::dict&, const nb::dict&>(), "arrays"_a, "domain"_a)
        .def("largest", &Boxes::largest, "sign"_a, "goal"_a,
             "A search for the largest score; with sign -1 for the largest negative score.")
        .def(
            "largest_difference",
            [](const Boxes& self, const Array<std::int32_t>& features,
               const Array<std::int32_t>& cells, double sign, const SearchGoal& goal) {
                if (cells.size() != 2 * features.size()) {
                    throw Failure(FailureKind::kInvalidInput, "give two cells per feature");
                }
                return self.largest_difference(view(features), view(cells), sign, goal);
            },
            "features"_a, "cells"_a, "sign"_a, "goal"_a,
            "A search for the largest difference between two cells of a feature (-1: missing), "
            "or of such differences.");
}

}  // namespace spinney::bindings
