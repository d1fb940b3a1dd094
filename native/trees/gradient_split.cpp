#include "native/trees/gradient_split.hpp"

#include <algorithm>
#include <array>

#include "native/base/isa.hpp"
#include "native/base/parallel.hpp"
#include "native/trees/gradient_scan.hpp"

namespace spinney {
namespace {

/// Weights stand on a grid: ten rows of weight 0.1 may weigh a hair less than 1 there.
constexpr double kGridSlack = 1.0 - 0x1p-40;
/// A gain this small, relative to the node's own score, is rounding noise.
constexpr double kNoise = 0x1p-46;

#if defined(__x86_64__) && defined(__GNUC__)
UnpackSums* active_unpack() {
    return pick<UnpackSums>(unpack_sums_portable, unpack_sums_avx2, unpack_sums_avx512);
}
GainOfCuts* active_gain() {
    return pick<GainOfCuts>(gain_of_cuts_portable, gain_of_cuts_avx2, gain_of_cuts_avx512);
}
#else
UnpackSums* active_unpack() { return unpack_sums_portable; }
GainOfCuts* active_gain() { return gain_of_cuts_portable; }
#endif

/// What the gain of every cut of a node depends on.
ScanLimits limits_of(const GradientSums& total, const GradientObjective& objective,
                     const GradientTreeSettings& settings) {
    const double g = objective.gradient(total);
    const double h = objective.hessian(total);
    const double all = h + 2.0 * objective.l2;
    // G^2 / (H + 2 l2) - G^2 / (H + l2), without cancellation; with l1 the first part varies.
    const double offset =
        objective.l1 > 0.0
            ? -objective.score(total)
            : (all > 0.0 && objective.l2 > 0.0 ? -g * g * objective.l2 / ((h + objective.l2) * all)
                                               : 0.0);
    return {g,
            h,
            objective.weight(total),
            objective.l1,
            objective.l2,
            offset,
            settings.min_child_weight * kGridSlack,
            std::max(settings.min_samples_leaf * kGridSlack, 0.5 * objective.scales.weight)};
}

/// The search within one feature of one node; kPacked: how the cells are stored.
template <bool kPacked>
class FeatureSearch {
  public:
    FeatureSearch(const FeatureBlocks& data, const GradientHistogram& histogram,
                  const Packing& packing, const GradientSums& total,
                  const GradientObjective& objective, const GradientTreeSettings& settings,
                  std::size_t feature)
        : packing_(packing),
          total_(total),
          objective_(objective),
          feature_(feature),
          n_values_(data.n_value_bins(feature)),
          limits_(limits_of(total, objective, settings)) {
        if constexpr (kPacked) {
            packed_ = histogram.packed(feature);
        } else {
            wide_ = histogram.wide(feature);
        }
        missing_ = cell(n_values_);
        best_.gain = std::max(2.0 * settings.min_split_gain, kNoise * objective.score(total));
    }

    Split run(bool is_categorical) {
        is_categorical ? search_categories() : search_numbers();
        best_.gain *= 0.5;
        return best_;
    }

  private:
    GradientSums cell(std::size_t bin) const {
        if constexpr (kPacked) {
            return packing_.unpack(packed_[bin]);
        } else {
            return wide_[bin];
        }
    }

    /// Keeps the split that puts `left` on the left if it is better; returns whether it is.
    bool offer(const GradientSums& left) {
        sums_.gradient[0] = objective_.gradient(left);
        sums_.hessian[0] = objective_.hessian(left);
        sums_.weight[0] = objective_.weight(left);
        double gain = 0.0;
        active_gain()(sums_, 1, limits_, &gain);
        if (!(gain > best_.gain)) return false;
        best_.feature = static_cast<std::int32_t>(feature_);
        best_.gain = gain;
        left_is_larger_ = 2.0 * sums_.weight[0] >= limits_.weight;
        return true;
    }

    /// Fills sums_ with the running sums at filled bins, and bins_ with those bins; returns how
    /// many.
    std::size_t run_over_cells() {
        if constexpr (kPacked) {
            // The fields of a sum of cells hold at most what the node's rows add up to: no
            // overflow.
            std::uint64_t running[kCellsPerFeature];
            std::uint64_t sum = 0;
            std::size_t n = 0;
            for (std::size_t bin = 0; bin < n_values_; ++bin) {
                sum += packed_[bin];
                running[n] = sum;
                bins_[n] = static_cast<std::uint8_t>(bin);
                n += packed_[bin] != 0 ? 1 : 0;
            }
            active_unpack()(running, n, packing_, objective_.scales, sums_);
            return n;
        } else {
            GradientSums sum;
            std::size_t n = 0;
            for (std::size_t bin = 0; bin < n_values_; ++bin) {
                sum += wide_[bin];
                sums_.gradient[n] = objective_.gradient(sum);
                sums_.hessian[n] = objective_.hessian(sum);
                sums_.weight[n] = objective_.weight(sum);
                bins_[n] = static_cast<std::uint8_t>(bin);
                n += wide_[bin].weight != 0 ? 1 : 0;
            }
            return n;
        }
    }

    void search_numbers() {
        const std::size_t n = run_over_cells();
        if (missing_.weight == 0) {
            take_best(n == 0 ? 0 : n - 1, false);  // behind the last bin nothing is left
            return;
        }
        take_best(n, false);
        for (std::size_t i = 0; i < n; ++i) {  // integers times powers of two: exact
            sums_.gradient[i] += objective_.gradient(missing_);
            sums_.hessian[i] += objective_.hessian(missing_);
            sums_.weight[i] += objective_.weight(missing_);
        }
        take_best(n == 0 ? 0 : n - 1, true);
    }

    /// Scores the cuts behind the first n filled bins and keeps the best, the lowest among equals.
    void take_best(std::size_t n, bool missing_left) {
        double gains[kCellsPerFeature];
        active_gain()(sums_, n, limits_, gains);
        std::size_t at = n;
        for (std::size_t i = 0; i < n; ++i) {
            if (gains[i] > best_.gain) {
                best_.gain = gains[i];
                at = i;
            }
        }
        if (at == n) return;
        best_.feature = static_cast<std::int32_t>(feature_);
        best_.bin = bins_[at];
        const bool left_is_larger = 2.0 * sums_.weight[at] >= limits_.weight;
        best_.missing_left = missing_.weight > 0 ? missing_left : left_is_larger;
    }

    /// Categories in the order of gradient / hessian, missing values among them, cut once.
    void search_categories() {
        std::array<std::uint16_t, kCellsPerFeature> bins;
        std::size_t n_bins = 0;
        for (std::size_t bin = 0; bin <= n_values_; ++bin) {
            if (cell(bin).weight > 0) bins[n_bins++] = static_cast<std::uint16_t>(bin);
        }
        const auto slope = [this](std::size_t bin) {
            const GradientSums sums = cell(bin);
            // One unit more keeps a category whose hessians round to nothing in order.
            return static_cast<double>(sums.gradient) / static_cast<double>(sums.hessian + 1);
        };
        std::stable_sort(bins.begin(), bins.begin() + n_bins,
                         [&slope](std::size_t a, std::size_t b) { return slope(a) < slope(b); });
        GradientSums left;
        for (std::size_t n_left = 1; n_left < n_bins; ++n_left) {
            left += cell(bins[n_left - 1]);
            if (offer(left)) keep_categories({bins.data(), n_left});
        }
    }

    void keep_categories(std::span<const std::uint16_t> left) {
        best_.is_categorical = true;
        best_.missing_left = missing_.weight == 0 && left_is_larger_;
        best_.left_bins = {};
        for (std::size_t bin = 0; bin < n_values_; ++bin) {
            if (left_is_larger_ && cell(bin).weight == 0) best_.set_left(bin);
        }
        for (const std::size_t bin : left) {
            if (bin == n_values_) {
                best_.missing_left = true;
            } else {
                best_.set_left(bin);
            }
        }
    }

    const Packing& packing_;
    const std::uint64_t* packed_ = nullptr;
    const GradientSums* wide_ = nullptr;
    const GradientSums& total_;
    const GradientObjective& objective_;
    std::size_t feature_;
    std::size_t n_values_;
    ScanLimits limits_;
    GradientSums missing_;
    Split best_;
    bool left_is_larger_ = false;
    ScanSums sums_;
    std::uint8_t bins_[kCellsPerFeature];
};

}  // namespace

Split find_gradient_split(const FeatureBlocks& data, const GradientHistogram& histogram,
                          const Packing& packing, const GradientSums& total,
                          const GradientObjective& objective, const GradientTreeSettings& settings,
                          std::span<const std::uint32_t> features, int n_threads) {
    std::vector<Split> best(features.size());
    // A scan of one feature costs a microsecond or less: worth sharing from a few dozen on.
    const int threads = features.size() >= 48 ? n_threads : 1;
    parallel_blocks(threads, features.size(), kBlockFeatures,
                    [&](std::size_t begin, std::size_t end) {
                        for (std::size_t i = begin; i < end; ++i) {
                            const std::size_t f = features[i];
                            const auto search = [&]<bool kPacked>() {
                                return FeatureSearch<kPacked>(data, histogram, packing, total,
                                                              objective, settings, f)
                                    .run(data.is_categorical(f));
                            };
                            best[i] = histogram.is_packed() ? search.template operator()<true>()
                                                            : search.template operator()<false>();
                        }
                    });
    Split winner;
    for (const Split& split : best) {
        if (split.exists() && (!winner.exists() || split.gain > winner.gain)) winner = split;
    }
    return winner;
}

}  // namespace spinney
