#include <algorithm>

#include "native/base/failure.hpp"
#include "native/bindings/arrays.hpp"
#include "native/bindings/grown_arrays.hpp"
#include "native/trees/forest_grower.hpp"

namespace spinney::bindings {
namespace {

using Counts = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Marks = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Classes = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Targets = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// The targets of rows, with lengths checked at the door; keeps the arrays it borrows.
class ForestTarget {
  public:
    ForestTarget(std::pair<Classes, Array<std::uint32_t>> labels, Numbers numbers,
                 Array<std::int64_t> weights, std::pair<Array<double>, Array<double>> outputs,
                 std::pair<double, double> scales, NodeCriterion criterion,
                 std::pair<Targets, bool> targets)
        : classes_(std::move(labels.first)),
          label_starts_(std::move(labels.second)),
          numbers_(std::move(numbers)),
          weights_(std::move(weights)),
          centre_(std::move(outputs.first)),
          units_(std::move(outputs.second)),
          targets_(std::move(targets.first)) {
        rows_.classes = {classes_.data(), classes_.size()};
        rows_.label_starts = view(label_starts_);
        rows_.numbers = {numbers_.data(), numbers_.size()};
        rows_.weights = view(weights_);
        rows_.centre = view(centre_);
        rows_.units = view(units_);
        rows_.n_outputs = rows_.centre.size();
        rows_.n_rows = rows_.classes.empty() ? numbers_.shape(0) : classes_.shape(0);
        rows_.number_scale = scales.first;
        rows_.weight_scale = scales.second;
        rows_.criterion = criterion;
        rows_.targets = {targets_.data(), targets_.size()};
        rows_.whole = targets.second;
        check();
    }

    const ForestRows& rows() const { return rows_; }

  private:
    void check() const {
        const bool is_known = rows_.classes.empty() ? has_numbers() : has_labels();
        const bool weighted = rows_.weights.empty() || rows_.weights.size() == rows_.n_rows;
        if (!is_known || !weighted || rows_.n_outputs == 0 || rows_.n_rows == 0) {
            throw Failure(FailureKind::kInvalidInput, "targets and weights do not fit");
        }
    }

    bool has_numbers() const {
        const bool absolute = rows_.criterion == NodeCriterion::kAbsolute;
        return numbers_.shape(1) == rows_.n_outputs && rows_.units.size() == rows_.n_outputs &&
               (!absolute || rows_.targets.size() == rows_.numbers.size());
    }

    /// Every class is one of its label's.
    bool has_labels() const {
        const auto& starts = rows_.label_starts;
        const std::size_t n_labels = classes_.shape(1);
        if (starts.size() != n_labels + 1 || starts.front() != 0 ||
            starts.back() != rows_.n_outputs || !std::is_sorted(starts.begin(), starts.end())) {
            return false;
        }
        for (std::size_t i = 0; i < rows_.classes.size(); ++i) {
            const std::size_t label = i % n_labels;
            if (rows_.classes[i] >= starts[label + 1] - starts[label]) return false;
        }
        return true;
    }

    Classes classes_;
    Array<std::uint32_t> label_starts_;
    Numbers numbers_;
    Array<std::int64_t> weights_;
    Array<double> centre_;
    Array<double> units_;
    Targets targets_;
    ForestRows rows_;
};

/// last_ticket must increase: it is searched.
Repetitions drawn(std::size_t n_rows, std::size_t n_draws, const Array<std::int64_t>& last_ticket) {
    Repetitions repetitions;
    repetitions.n_draws = n_draws;
    repetitions.last_ticket = view(last_ticket);
    const auto& tickets = repetitions.last_ticket;
    if (!tickets.empty() &&
        (tickets.size() != n_rows || tickets.front() < 0 || tickets.back() < 1 ||
         !std::is_sorted(tickets.begin(), tickets.end()))) {
        throw Failure(FailureKind::kInvalidInput, "tickets do not fit the rows");
    }
    return repetitions;
}

nb::dict grow(const RankedColumns& columns, const ForestTarget& target, const Counts& given,
              std::pair<std::size_t, Array<std::int64_t>> draws,
              const std::pair<Marks, Array<std::uint64_t>>& choices, const ForestSettings& settings,
              std::pair<std::size_t, std::size_t> trees, int n_threads) {
    const ForestRows& rows = target.rows();
    Repetitions repetitions = drawn(rows.n_rows, draws.first, draws.second);
    repetitions.given = {given.data(), given.size()};
    const bool any_given = given.size() > 0;
    const OwnChoices own = {{choices.first.data(), choices.first.size()}, view(choices.second)};
    if ((!own.allowed.empty() && (choices.first.shape(0) != trees.second ||
                                  choices.first.shape(1) != columns.n_features())) ||
        (!own.seeds.empty() && own.seeds.size() != trees.second)) {
        throw Failure(FailureKind::kInvalidInput, "features or seeds do not fit the trees");
    }
    const std::size_t n_directions = settings.directions.size();
    if ((n_directions != 0 && n_directions != columns.n_features()) ||
        rows.n_rows != columns.n_rows() ||
        (any_given && (given.shape(0) != trees.second || given.shape(1) != rows.n_rows))) {
        throw Failure(FailureKind::kInvalidInput, "rows, targets and repetitions differ in length");
    }
    GrownForest forest;
    {
        nb::gil_scoped_release unlocked;  // pure C++: no Python object is touched
        forest = grow_forest(columns, rows, repetitions, own, settings, trees.first, trees.second,
                             n_threads);
    }
    nb::dict arrays = as_dict<true>(std::move(forest.nodes), rows.n_outputs);
    nb::del(arrays["bin"]);
    arrays["threshold"] = give_frozen(std::move(forest.threshold));
    arrays["tree_start"] = give_frozen(std::move(forest.tree_start));
    return arrays;
}

nb::object draw(std::size_t n_rows, std::pair<std::size_t, Array<std::int64_t>> draws,
                std::uint64_t seed, std::pair<std::size_t, std::size_t> trees) {
    const Repetitions repetitions = drawn(n_rows, draws.first, draws.second);
    std::vector<std::uint32_t> counts(n_rows * trees.second);
    for (std::size_t t = 0; t < trees.second; ++t) {
        draw_repetitions(repetitions, tree_seed(seed, trees.first + t),
                         std::span(counts).subspan(t * n_rows, n_rows));
    }
    return nb::cast(give(std::move(counts), {trees.second, n_rows}));
}

}  // namespace

void bind_forest_trees(nb::module_& module) {
    nb::enum_<SplitSearch>(module, "SplitSearch", "How splits are looked for.")
        .value("ADAPTIVE", SplitSearch::kAdaptive)
        .value("EXACT", SplitSearch::kExact)
        .value("HISTOGRAM", SplitSearch::kHistogram)
        .value("RANDOM", SplitSearch::kRandom);

    nb::enum_<NodeCriterion>(module, "NodeCriterion", "What a split of a forest's tree lowers.")
        .value("GINI", NodeCriterion::kGini)
        .value("ENTROPY", NodeCriterion::kEntropy)
        .value("ERROR", NodeCriterion::kError)
        .value("TWOING", NodeCriterion::kTwoing)
        .value("DKM", NodeCriterion::kDkm)
        .value("HELLINGER", NodeCriterion::kHellinger)
        .value("GAIN_RATIO", NodeCriterion::kGainRatio)
        .value("SQUARED", NodeCriterion::kSquared)
        .value("POISSON", NodeCriterion::kPoisson)
        .value("ABSOLUTE", NodeCriterion::kAbsolute);

    nb::class_<ForestSettings>(module, "ForestSettings", "How the trees of a forest may grow.")
        .def(nb::init<>())
        .def_rw("tree", &ForestSettings::tree)
        .def_rw("search", &ForestSettings::search)
        .def_rw("directions", &ForestSettings::directions)
        .def_rw("shuffle", &ForestSettings::shuffle);

    nb::class_<ForestTarget>(module, "ForestTarget", "What trees of a forest are grown for.")
        .def(
            nb::init<std::pair<Classes, Array<std::uint32_t>>, Numbers, Array<std::int64_t>,
                     std::pair<Array<double>, Array<double>>, std::pair<double, double>,
                     NodeCriterion, std::pair<Targets, bool>>(),
            "labels"_a, "numbers"_a, "weights"_a, "outputs"_a, "scales"_a, "criterion"_a,
            "targets"_a,
            "labels: the class of each label of each row, and where the classes of each label "
            "begin "
            "among the outputs, with their end; none for numbers. outputs: "
            "what was subtracted from the numbers of each, and the unit of these as a share of the "
            "largest, none for classes. targets: "
            "for absolute error those of each row, else none; and whether weights are whole.");

    nb::class_<RankedColumns>(module, "RankedColumns", "Every feature as ranks of its values.")
        .def(
            "__init__",
            [](RankedColumns* self, const Columns& columns,
               const std::vector<std::vector<std::uint8_t>>& category_bins,
               const Array<std::int64_t>& weights, std::size_t max_bins, int n_threads) {
                nb::gil_scoped_release unlocked;
                new (self)
                    RankedColumns(columns, category_bins, view(weights), max_bins, n_threads);
            },
            "columns"_a, "category_bins"_a, "weights"_a, "max_bins"_a, "n_threads"_a)
        .def_prop_ro("n_rows", &RankedColumns::n_rows)
        .def(
            "take",
            [](const RankedColumns& self, const Array<std::uint32_t>& rows, int n_threads) {
                nb::gil_scoped_release unlocked;
                return RankedColumns(self, view(rows), n_threads);
            },
            "rows"_a, "n_threads"_a, "Some rows, with the ranks they have among all.")
        .def("grow", &grow, "target"_a, "given"_a, "draws"_a, "choices"_a, "settings"_a, "trees"_a,
             "n_threads"_a,
             "Grow trees (first, how many) of a forest; nodes in preorder. given: how often each "
             "tree counts each row, or empty; draws: (how many, last ticket of each row), (0, "
             "none): every row once; choices: (features each tree may split on, its own seed), "
             "each empty or one row per tree.");

    module.def("draw_repetitions", &draw, "n_rows"_a, "draws"_a, "seed"_a, "trees"_a,
               "How often trees (first, how many) of a forest draw each row; (n_trees, n_rows).");
}

}  // namespace spinney::bindings
