#include "native/trees/split_finder.hpp"

#include <algorithm>
#include <numeric>

#include "native/base/parallel.hpp"
#include "native/base/random.hpp"

namespace spinney {
namespace {

/// Weights stand on a grid: ten rows of weight 0.1 may weigh a hair less than 1 there.
constexpr double kGridSlack = 1.0 - 0x1p-40;

/// The search within one feature of one node.
class FeatureSearch {
  public:
    FeatureSearch(const BinnedRows& data, const Histogram& histogram, const Sums& total,
                  const TreeSettings& settings, std::size_t feature)
        : data_(data),
          histogram_(histogram),
          total_(total),
          feature_(feature),
          n_values_(static_cast<std::size_t>(data.n_value_bins[feature])),
          min_weight_(settings.min_samples_leaf / data.weight_scale * kGridSlack),
          missing_(data.n_outputs) {
        missing_.add(histogram.cell(feature, n_values_));
        best_.gain = data.gain_in_units(settings.min_gain);
    }

    Split run() {
        if (data_.categorical[feature_] != 0) {
            search_categories();
        } else {
            search_numbers();
        }
        return best_;
    }

  private:
    std::int64_t count(std::size_t bin) const {
        return histogram_.cell(feature_, bin)[data_.n_outputs + 1];
    }

    /// Keeps the split that puts `left` on the left if it is better; returns whether it is.
    bool offer(const Sums& left) {
        Sums right = total_;
        right.subtract(left);
        if (left.count == 0 || right.count == 0) return false;
        if (static_cast<double>(left.weight) < min_weight_ ||
            static_cast<double>(right.weight) < min_weight_) {
            return false;
        }
        const double gain = split_gain(left, right);
        if (!(gain > best_.gain)) return false;
        best_.feature = static_cast<std::int32_t>(feature_);
        best_.gain = gain;
        left_is_larger_ = left.weight >= right.weight;
        return true;
    }

    void keep_number(std::size_t bin, bool missing_left) {
        best_.bin = static_cast<std::int32_t>(bin);
        best_.missing_left = missing_.count > 0 ? missing_left : left_is_larger_;
    }

    void search_numbers() {
        Sums left(data_.n_outputs);
        for (std::size_t bin = 0; bin < n_values_; ++bin) {
            if (count(bin) == 0) continue;  // the same rows as the bin before: no new split
            left.add(histogram_.cell(feature_, bin));
            if (offer(left)) keep_number(bin, false);
            if (missing_.count == 0) continue;
            Sums with_missing = left;
            with_missing.add(histogram_.cell(feature_, n_values_));
            if (offer(with_missing)) keep_number(bin, true);
        }
    }

    /// Bins with rows (the one of missing values among them) by mean target k, ties by bin.
    std::vector<std::size_t> bins_by_mean(std::size_t k) const {
        std::vector<std::size_t> bins;
        for (std::size_t bin = 0; bin <= n_values_; ++bin) {
            if (count(bin) > 0) bins.push_back(bin);
        }
        const auto mean = [this, k](std::size_t bin) {
            const std::int64_t* cell = histogram_.cell(feature_, bin);
            return static_cast<double>(cell[k]) / static_cast<double>(cell[data_.n_outputs]);
        };
        std::stable_sort(bins.begin(), bins.end(),
                         [&mean](std::size_t a, std::size_t b) { return mean(a) < mean(b); });
        return bins;
    }

    void search_categories() {
        // Two classes mirror each other: the order of one is the order of both.
        const std::size_t first = data_.one_hot && data_.n_outputs == 2 ? 1 : 0;
        for (std::size_t k = first; k < data_.n_outputs; ++k) {
            const std::vector<std::size_t> bins = bins_by_mean(k);
            Sums left(data_.n_outputs);
            for (std::size_t n_left = 1; n_left < bins.size(); ++n_left) {
                left.add(histogram_.cell(feature_, bins[n_left - 1]));
                if (offer(left)) keep_categories(std::span(bins).first(n_left));
            }
        }
    }

    void keep_categories(std::span<const std::size_t> left) {
        best_.is_categorical = true;
        best_.missing_left = missing_.count == 0 && left_is_larger_;
        best_.left_bins = {};
        for (std::size_t bin = 0; bin < n_values_; ++bin) {
            if (count(bin) == 0 && left_is_larger_) best_.set_left(bin);
        }
        for (const std::size_t bin : left) {
            if (bin == n_values_) {
                best_.missing_left = true;
            } else {
                best_.set_left(bin);
            }
        }
    }

    const BinnedRows& data_;
    const Histogram& histogram_;
    const Sums& total_;
    std::size_t feature_;
    std::size_t n_values_;
    double min_weight_;
    Sums missing_;
    Split best_;
    bool left_is_larger_ = false;
};

}  // namespace

Split find_split(const BinnedRows& data, const Histogram& histogram, const Sums& total,
                 const TreeSettings& settings, std::span<const std::uint32_t> features,
                 int n_threads) {
    std::vector<Split> best(features.size());
    // A scan of one feature costs about a microsecond per output: worth sharing from a few dozen
    // on.
    const int threads = features.size() * data.n_outputs >= 64 ? n_threads : 1;
    parallel_for(threads, features.size(), [&](std::size_t i) {
        best[i] = FeatureSearch(data, histogram, total, settings, features[i]).run();
    });
    Split winner;
    for (const Split& split : best) {
        if (split.exists() && (!winner.exists() || split.gain > winner.gain)) winner = split;
    }
    return winner;
}

std::vector<std::uint32_t> draw_features(std::size_t n_features, const TreeSettings& settings,
                                         std::int32_t node) {
    std::vector<std::uint32_t> features(n_features);
    std::iota(features.begin(), features.end(), 0U);
    const auto n_drawn = static_cast<std::size_t>(settings.max_features);
    if (n_drawn == 0 || n_drawn >= n_features) return features;
    const std::uint64_t node_seed =
        random_bits(settings.seed, Stream::kFeatures, static_cast<std::uint64_t>(node));
    // The features with the smallest draws: every subset is equally likely.
    const auto comes_first = [node_seed](std::uint32_t a, std::uint32_t b) {
        const std::uint64_t draw_a = random_bits(node_seed, Stream::kFeatures, a);
        const std::uint64_t draw_b = random_bits(node_seed, Stream::kFeatures, b);
        return draw_a != draw_b ? draw_a < draw_b : a < b;
    };
    const auto last = features.begin() + static_cast<std::ptrdiff_t>(n_drawn);
    std::nth_element(features.begin(), last, features.end(), comes_first);
    features.erase(last, features.end());
    std::sort(features.begin(), features.end());
    return features;
}

}  // namespace spinney
