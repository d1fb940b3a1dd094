/// The best split of a node, as a pure function of its histogram.
#pragma once

#include "native/trees/histogram.hpp"
#include "native/trees/settings.hpp"
#include "native/trees/split.hpp"

namespace spinney {

/// Largest gain; ties go to the lowest feature, then the lowest bin, then missing values to the
/// right. Numbers are cut in their order, with missing values tried on both sides. Categories are
/// put in the order of their mean target and cut there: the best of all subsets for one output
/// (Fisher 1958); with several outputs each one's order is tried. Where a node has no missing
/// value, and for categories it has none of, the larger child is chosen. features: the ones to
/// choose from, increasing.
Split find_split(const BinnedRows& data, const Histogram& histogram, const Sums& total,
                 const TreeSettings& settings, std::span<const std::uint32_t> features,
                 int n_threads);

/// The features node number `node` may split on: all, or settings.max_features drawn without
/// replacement, as a function of the seed and the number alone.
std::vector<std::uint32_t> draw_features(std::size_t n_features, const TreeSettings& settings,
                                         std::int32_t node);

}  // namespace spinney
