#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>

#include "native/base/failure.hpp"
#include "native/base/random.hpp"
#include "native/bindings/arrays.hpp"
#include "native/bindings/grown_arrays.hpp"
#include "native/trees/binned_walk.hpp"
#include "native/trees/gradient_grower.hpp"
#include "native/trees/grown_tree.hpp"
#include "native/trees/grown_trees.hpp"
#include "native/trees/settings.hpp"
#include "native/trees/vector_grower.hpp"

namespace spinney::bindings {
namespace {

using Bins = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Scores = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The arrays of a forest, copied; see model/forest.py for their names.
nb::dict joined(const GrownTrees& trees) {
    GrownTree nodes = trees.nodes();
    nb::dict arrays = as_dict(std::move(nodes), trees.width());
    nb::del(arrays["bin"]);
    const std::size_t n_sets = trees.nodes().category_sets.size() / kCategorySetBytes;
    arrays["category_sets"] =
        give(std::vector<std::uint8_t>(trees.nodes().category_sets), {n_sets, kCategorySetBytes});
    const auto thresholds = trees.thresholds();
    arrays["threshold"] = give(std::vector<double>(thresholds.begin(), thresholds.end()));
    const auto starts = trees.starts();
    arrays["tree_start"] = give(std::vector<std::int64_t>(starts.begin(), starts.end()));
    return arrays;
}

/// Adds the trees of a forest's arrays, whose category sets are numbered through.
void append_all(GrownTrees& trees, const nb::dict& arrays) {
    const auto get = [&arrays]<class T>(const char* name, T) {
        const auto numbers = nb::cast<Array<T>>(arrays[name]);
        return std::vector<T>(numbers.data(), numbers.data() + numbers.size());
    };
    GrownTree nodes;
    nodes.feature = get("feature", std::int32_t{});
    nodes.right = get("right", std::int32_t{});
    nodes.missing_left = get("missing_left", std::uint8_t{});
    nodes.category_set = get("category_set", std::int32_t{});
    nodes.category_sets = get("category_sets", std::uint8_t{});
    nodes.values = get("values", double{});
    nodes.count = get("count", std::int64_t{});
    nodes.weight = get("weight", double{});
    nodes.gain = get("gain", double{});
    if (nodes.values.size() != nodes.feature.size() * trees.width()) {
        throw Failure(FailureKind::kInvalidInput, "values are of another width than these trees");
    }
    trees.append_all(nodes, get("threshold", double{}), get("tree_start", std::int64_t{}));
}

/// A grower that keeps its bins, with lengths checked at the door.
class BoundGrower {
  public:
    BoundGrower(const Bins& bins, const Array<std::int32_t>& n_value_bins,
                const Array<std::uint8_t>& categorical,
                const std::vector<std::vector<double>>& cuts, GradientTreeSettings settings,
                double learning_rate, int n_threads, Bundling bundling)
        : cuts_(cuts),
          settings_(std::move(settings)),
          seed_(settings_.seed),
          learning_rate_(learning_rate),
          n_threads_(n_threads),
          bins_(bins),
          grower_(training_bins(bins, n_value_bins, categorical, cuts.size(), n_threads, bundling),
                  n_threads) {
        check_constraints(settings_, cuts_.size());
        if (grower_.bins().has_bundles()) bins_ = {};
    }
    BoundGrower(const SparseBins& bins, const Array<std::int32_t>& n_value_bins,
                const Array<std::uint8_t>& categorical,
                const std::vector<std::vector<double>>& cuts, GradientTreeSettings settings,
                double learning_rate, int n_threads, Bundling bundling)
        : cuts_(cuts),
          settings_(std::move(settings)),
          seed_(settings_.seed),
          learning_rate_(learning_rate),
          grower_(training_bins(bins, n_value_bins, categorical, cuts.size(), n_threads, bundling),
                  n_threads) {
        check_constraints(settings_, cuts_.size());
    }

    /// Derivatives are those of one output behind those of another; the trees have as many values
    /// in a node.
    void grow(const Array<float>& gradients, const Array<float>& hessians,
              const Array<std::int64_t>& weights, bool weights_repeat, double weight_scale,
              const Array<std::uint32_t>& rows, const std::vector<std::pair<float, float>>& largest,
              GrownTrees& into) {
        const std::size_t n_rows = grower_.bins().n_rows();
        const std::size_t width = into.width();
        const auto chosen = view(rows);
        if (gradients.size() != width * n_rows || largest.size() != width ||
            (hessians.size() != 0 && hessians.size() != width * n_rows) ||
            (weights.size() != 0 && weights.size() != n_rows) || !is_increasing(chosen, n_rows)) {
            throw Failure(FailureKind::kInvalidInput,
                          "gradients, weights or rows do not fit the bins");
        }
        std::vector<GradientInput> inputs;
        for (std::size_t k = 0; k < width; ++k) {
            const auto of_output = [&](std::span<const float> all) {
                return all.empty() ? all : all.subspan(k * n_rows, n_rows);
            };
            inputs.push_back({of_output(view(gradients)), of_output(view(hessians)), view(weights),
                              weights_repeat, weight_scale, largest[k].first, largest[k].second,
                              settings_.every_hessian_counts});
        }
        nb::gil_scoped_release unlocked;  // pure C++: no Python object is touched
        settings_.seed = random_bits(seed_, Stream::kFeatures, into.size());
        if (width > 1 && !vectors_) vectors_.emplace(grower_.bins(), n_threads_);
        is_vector_ = width > 1;
        GrownTree tree = is_vector_ ? vectors_->grow(inputs, chosen, settings_)
                                    : grower_.grow(inputs[0], chosen, settings_);
        take_steps(tree.values, learning_rate_);
        n_values_ = tree.values.size();
        into.append(tree, thresholds(tree));
    }

    void add_leaf_values(GrownTrees& trees, const Scores& scores) const {
        const std::span<const double> values = trees.last_values();
        if (values.size() != n_values_ ||
            scores.size() != trees.width() * grower_.bins().n_rows()) {
            throw Failure(FailureKind::kInvalidInput, "trees or scores do not fit the last tree");
        }
        nb::gil_scoped_release unlocked;
        const std::span<double> to(scores.data(), scores.size());
        is_vector_ ? vectors_->add_leaf_values(values, to) : grower_.add_leaf_values(values, to);
    }

    void add_trees(const GrownTrees& trees, const Array<std::int32_t>& numbers,
                   const Array<double>& weights, std::size_t component,
                   const Scores& scores) const {
        const auto some = view(numbers);
        const auto n_trees = static_cast<std::int64_t>(trees.size());
        const auto fits = [n_trees](std::int32_t t) { return t >= 0 && t < n_trees; };
        if (weights.size() != some.size() || !std::all_of(some.begin(), some.end(), fits) ||
            component >= trees.width() || scores.size() != grower_.bins().n_rows()) {
            throw Failure(FailureKind::kInvalidInput, "trees, weights or scores do not fit");
        }
        nb::gil_scoped_release unlocked;
        add_tree_values(trees, {some, view(weights), component}, grower_.bins(), cuts_,
                        {scores.data(), scores.size()}, n_threads_);
    }

    void settle_values(
        const nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>& values) const {
        if (values.size() != n_values_) {
            throw Failure(FailureKind::kInvalidInput, "values do not fit the last tree");
        }
        const std::span<double> settled(values.data(), values.size());
        is_vector_ ? vectors_->settle_values(settled) : grower_.settle_values(settled);
    }

    std::size_t n_bundles() const { return grower_.bins().n_bundles(); }

    nb::dict node_ranges() const {
        GradientGrower::NodeRanges ranges =
            is_vector_ ? vectors_->node_ranges() : grower_.node_ranges();
        nb::dict arrays;
        arrays["rows"] = give(std::move(ranges.rows));
        arrays["first"] = give(std::move(ranges.first));
        arrays["last"] = give(std::move(ranges.last));
        return arrays;
    }

  private:
    /// Cut points behind the last bins that go left; infinite when only missing values go right.
    std::vector<double> thresholds(const GrownTree& tree) const {
        std::vector<double> threshold(tree.feature.size(), 0.0);
        for (std::size_t i = 0; i < threshold.size(); ++i) {
            if (tree.bin[i] < 0) continue;
            const auto& cuts = cuts_[static_cast<std::size_t>(tree.feature[i])];
            const auto bin = static_cast<std::size_t>(tree.bin[i]);
            threshold[i] = bin < cuts.size() ? cuts[bin] : std::numeric_limits<double>::infinity();
        }
        return threshold;
    }
    static TrainingBins training_bins(const Bins& bins, const Array<std::int32_t>& n_value_bins,
                                      const Array<std::uint8_t>& categorical, std::size_t n_cuts,
                                      int n_threads, Bundling bundling) {
        check_features(bins.shape(1), {n_value_bins.size(), categorical.size(), n_cuts});
        const std::span<const std::uint8_t> bytes(bins.data(), bins.size());
        return {bytes, view(n_value_bins), view(categorical), n_threads, bundling};
    }
    static TrainingBins training_bins(const SparseBins& bins,
                                      const Array<std::int32_t>& n_value_bins,
                                      const Array<std::uint8_t>& categorical, std::size_t n_cuts,
                                      int n_threads, Bundling bundling) {
        check_features(bins.features.size(), {n_value_bins.size(), categorical.size(), n_cuts});
        return {bins, view(n_value_bins), view(categorical), n_threads, bundling};
    }
    /// Growers look constraints up by the numbers of features, and trust them.
    static void check_constraints(const GradientTreeSettings& settings, std::size_t n_features) {
        const std::size_t n_signs = settings.monotone.size();
        if (n_signs != 0 && n_signs != n_features) {
            throw Failure(FailureKind::kInvalidInput,
                          "monotone has " + std::to_string(n_signs) + " signs for " +
                              std::to_string(n_features) + " features: give one per feature");
        }
        for (const auto& group : settings.interactions) {
            for (const std::uint32_t feature : group) {
                if (feature < n_features) continue;
                throw Failure(FailureKind::kInvalidInput,
                              "interactions name feature " + std::to_string(feature) + " of " +
                                  std::to_string(n_features) + ": give numbers from 0 on");
            }
        }
    }
    static void check_features(std::size_t n_features, std::initializer_list<std::size_t> others) {
        for (const std::size_t n : others) {
            if (n == n_features) continue;
            throw Failure(FailureKind::kInvalidInput, "bins and features differ in number");
        }
    }
    static bool is_increasing(std::span<const std::uint32_t> rows, std::size_t n_rows) {
        return std::is_sorted(rows.begin(), rows.end()) && (rows.empty() || rows.back() < n_rows);
    }

    std::vector<std::vector<double>> cuts_;  ///< per feature; none for categories
    GradientTreeSettings settings_;          ///< with the seed of the tree grown last
    std::uint64_t seed_;                     ///< of all trees
    double learning_rate_;
    int n_threads_;
    Bins bins_;  ///< keeps the rows alive that the grower borrows; empty if it borrows none
    GradientGrower grower_;
    std::optional<VectorGrower> vectors_;  ///< borrows the bins of the other; made when asked for
    bool is_vector_ = false;               ///< which of them grew the last tree
    std::size_t n_values_ = 0;             ///< of that tree
};

}  // namespace

void bind_trees(nb::module_& module) {
    nb::class_<TreeSettings>(module, "TreeSettings", "How one tree may grow.")
        .def(nb::init<>())
        .def_rw("max_leaf_nodes", &TreeSettings::max_leaf_nodes)
        .def_rw("max_depth", &TreeSettings::max_depth)
        .def_rw("min_samples_split", &TreeSettings::min_samples_split)
        .def_rw("min_samples_leaf", &TreeSettings::min_samples_leaf)
        .def_rw("min_gain", &TreeSettings::min_gain)
        .def_rw("max_features", &TreeSettings::max_features)
        .def_rw("seed", &TreeSettings::seed);

    nb::class_<GradientTreeSettings>(module, "GradientTreeSettings",
                                     "How one tree of a boosted sum may grow.")
        .def(nb::init<>())
        .def_rw("max_leaf_nodes", &GradientTreeSettings::max_leaf_nodes)
        .def_rw("max_depth", &GradientTreeSettings::max_depth)
        .def_rw("leaf_wise", &GradientTreeSettings::leaf_wise)
        .def_rw("symmetric", &GradientTreeSettings::symmetric)
        .def_rw("random_cuts", &GradientTreeSettings::random_cuts)
        .def_rw("min_samples_leaf", &GradientTreeSettings::min_samples_leaf)
        .def_rw("min_child_weight", &GradientTreeSettings::min_child_weight)
        .def_rw("l1", &GradientTreeSettings::l1)
        .def_rw("l2", &GradientTreeSettings::l2)
        .def_rw("max_step", &GradientTreeSettings::max_step)
        .def_rw("longest_step", &GradientTreeSettings::longest_step)
        .def_rw("every_hessian_counts", &GradientTreeSettings::every_hessian_counts)
        .def_rw("path_smoothing", &GradientTreeSettings::path_smoothing)
        .def_rw("min_split_gain", &GradientTreeSettings::min_split_gain)
        .def_rw("prune_gain", &GradientTreeSettings::prune_gain)
        .def_rw("max_features", &GradientTreeSettings::max_features)
        .def_rw("max_features_per_tree", &GradientTreeSettings::max_features_per_tree)
        .def_rw("seed", &GradientTreeSettings::seed)
        .def_rw("category_smoothing", &GradientTreeSettings::category_smoothing)
        .def_rw("category_penalty", &GradientTreeSettings::category_penalty)
        .def_rw("category_support", &GradientTreeSettings::category_support)
        .def_rw("monotone", &GradientTreeSettings::monotone)
        .def_rw("interactions", &GradientTreeSettings::interactions);

    nb::class_<GrownTrees>(module, "GrownTrees", "Trees of a boosted sum while it grows.")
        .def(nb::init<std::size_t>(), "width"_a = 1)
        .def("__len__", &GrownTrees::size)
        .def_prop_ro("width", &GrownTrees::width, "Numbers in the value of a node.")
        .def("arrays", &joined, "The arrays of a forest of these trees.")
        .def("append_all", &append_all, "arrays"_a, "Add the trees of a forest's arrays.")
        .def(
            "truncate",
            [](GrownTrees& trees, std::size_t n) { trees.truncate(std::min(n, trees.size())); },
            "n_trees"_a, "Forget all trees but the first.")
        .def(
            "last_values",
            [](GrownTrees& trees) {
                const auto values = trees.last_values();
                return give(std::vector<double>(values.begin(), values.end()));
            },
            "Values of the nodes of the last tree, copied.")
        .def(
            "set_last_values",
            [](GrownTrees& trees, const Array<double>& values, double learning_rate) {
                const auto to = trees.last_values();
                if (values.size() != to.size()) {
                    throw Failure(FailureKind::kInvalidInput, "values do not fit the last tree");
                }
                std::copy_n(values.data(), values.size(), to.begin());
                take_steps(to, learning_rate);
            },
            "values"_a, "learning_rate"_a,
            "Give the nodes of the last tree other values, times the learning rate.");

    nb::enum_<Bundling>(module, "Bundling", "Whether sparse features share bytes.")
        .value("AUTO", Bundling::kAuto)
        .value("NEVER", Bundling::kNever)
        .value("ALWAYS", Bundling::kAlways);

    nb::class_<BoundGrower>(module, "GradientGrower", "Grows the trees of a boosted sum.")
        .def(nb::init<const Bins&, const Array<std::int32_t>&, const Array<std::uint8_t>&,
                      const std::vector<std::vector<double>>&, GradientTreeSettings, double, int,
                      Bundling>(),
             "bins"_a, "n_value_bins"_a, "categorical"_a, "cuts"_a, "settings"_a, "learning_rate"_a,
             "n_threads"_a, "bundling"_a = Bundling::kAuto)
        .def(nb::init<const SparseBins&, const Array<std::int32_t>&, const Array<std::uint8_t>&,
                      const std::vector<std::vector<double>>&, GradientTreeSettings, double, int,
                      Bundling>(),
             "bins"_a, "n_value_bins"_a, "categorical"_a, "cuts"_a, "settings"_a, "learning_rate"_a,
             "n_threads"_a, "bundling"_a = Bundling::kAuto)
        .def_prop_ro(
            "n_bundles", [](const BoundGrower& grower) { return grower.n_bundles(); },
            "Bytes per row, beside those of joint columns.")
        .def("grow", &BoundGrower::grow, "gradients"_a, "hessians"_a, "weights"_a,
             "weights_repeat"_a, "weight_scale"_a, "rows"_a, "largest"_a, "into"_a,
             "Grow one tree and append it; hessians, weights, rows may be empty. Of trees of "
             "vectors derivatives are one output behind the other.")
        .def("add_leaf_values", &BoundGrower::add_leaf_values, "trees"_a, "scores"_a.noconvert(),
             "Add the value of its leaf in the last tree to the score of every row.")
        .def("add_trees", &BoundGrower::add_trees, "trees"_a, "numbers"_a, "weights"_a,
             "component"_a, "scores"_a.noconvert(),
             "Add some trees, times their weights, to the score of every row.")
        .def("settle_values", &BoundGrower::settle_values, "values"_a.noconvert(),
             "Smooth values of the nodes of the last tree, and bound them, in place.")
        .def("node_ranges", &BoundGrower::node_ranges,
             "Rows of the nodes of the last tree: rows[first[i]:last[i]] for node i.");
}

}  // namespace spinney::bindings
