/// The best split of a node whose leaves are vectors, as a pure function of its histograms.
#pragma once

#include <span>
#include <vector>

#include "native/trees/gradient_split.hpp"
#include "native/trees/vector_gains.hpp"

namespace spinney {

/// What a tree of vector leaves is grown from: gradients and formulas of each output.
///
/// An output whose hessians in a node add up to less than min_child_weight takes no part there: by
/// itself its value would be 0. See OutputTerms.
struct OutputSet {
    std::vector<PackedGradients> packed;
    std::vector<GradientObjective> objectives;

    std::size_t size() const { return packed.size(); }
    /// A gain of a node of these sums that is not above this is none.
    double least_gain(std::span<const GradientSums> totals,
                      const GradientTreeSettings& settings) const;
    /// The value of an output in a node, where values are moved.
    double root_value(std::size_t output, const GradientSums& sums,
                      const GradientTreeSettings& settings) const;
    double child_value(std::size_t output, const GradientSums& sums,
                       const GradientTreeSettings& settings, double parent) const;
};

/// The sums of every bin of a feature in a node of this total, missing values behind the others.
/// The usual bin of one that shares its bundle is what the others leave of the total.
void read_bins(const TrainingBins& bins, std::size_t feature, const Packing& packing,
               const GradientSums& total, GradientHistogram& histogram, GradientSums* to);

/// The node whose split is searched.
struct VectorTask {
    const TrainingBins& bins;
    const OutputSet& outputs;
    const GradientTreeSettings& settings;
    std::span<GradientHistogram> histograms;  ///< one per output
    std::span<const GradientSums> totals;     ///< the same; all have the same weight
    std::span<const double> values;           ///< the same; read where values are moved
    std::uint64_t key;                        ///< decides the cuts that are drawn
    double least_gain;                        ///< a gain that is not above it is none
};

/// Puts the best split of one feature in place of `best` if its gain is larger.
///
/// The gain is the sum of the gains of the outputs, added in their order. A cut counts if both
/// sides weigh enough and some output takes part on both. Ties are decided as in
/// gradient_split.hpp. Categories are put into the order of one output: the one that could gain
/// most by telling all of them apart.
void search_vector_feature(const VectorTask& task, std::size_t feature, Split& best);

}  // namespace spinney
