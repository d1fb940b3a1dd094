#include "native/trees/plane_grower.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "native/base/elementary.hpp"
#include "native/base/failure.hpp"
#include "native/base/parallel.hpp"
#include "native/base/random.hpp"
#include "native/model/split_planes.hpp"

namespace spinney {
namespace {

/// A draw from the normal distribution by the polar method (Marsaglia and Bray 1964): no
/// trigonometry, whose last digit is the machine's.
double random_normal(std::uint64_t key) {
    for (std::uint64_t attempt = 0;; ++attempt) {
        const double u = 2.0 * random_unit(key, Stream::kThresholds, 2 * attempt) - 1.0;
        const double v = 2.0 * random_unit(key, Stream::kThresholds, 2 * attempt + 1) - 1.0;
        const double s = u * u + v * v;
        if (s > 0.0 && s < 1.0) return u * std::sqrt(-2.0 * exact_log(s) / s);
    }
}

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
};

class PlaneGrower {
  public:
    PlaneGrower(std::span<const double> matrix, std::size_t n_features,
                const PlaneSettings& settings)
        : matrix_(matrix), n_features_(n_features), settings_(settings), ranges_(n_features) {
        const auto& all = settings.categorical;
        if (std::find(all.begin(), all.end(), 1) != all.end()) categorical_ = all.data();
    }

    GrownPlanes grow(std::span<const std::uint32_t> drawn, std::uint64_t seed) {
        rows_.assign(drawn.begin(), drawn.end());
        grown_ = {};
        std::vector<Open> stack = {{0, rows_.size(), 0, random_bits(seed, Stream::kNodes, 0), -1}};
        while (!stack.empty()) {
            const Open node = stack.back();
            stack.pop_back();
            const auto place = static_cast<std::int32_t>(grown_.right.size());
            if (node.parent >= 0) grown_.right[static_cast<std::size_t>(node.parent)] = place;
            grown_.right.push_back(-1);
            grown_.depth.push_back(node.depth);
            grown_.count.push_back(static_cast<std::int64_t>(node.last - node.first));
            if (node.last - node.first < 2 || node.depth >= settings_.max_depth) continue;
            if (!draw_plane(node)) continue;
            const std::size_t middle = apply(node);
            const auto key = [&](std::uint64_t side) {
                return random_bits(node.key, Stream::kNodes, side);
            };
            stack.push_back({middle, node.last, node.depth + 1, key(1), place});
            stack.push_back({node.first, middle, node.depth + 1, key(0), -1});
        }
        return std::move(grown_);
    }

  private:
    struct Open {
        std::size_t first = 0;
        std::size_t last = 0;
        std::int32_t depth = 0;
        std::uint64_t key = 0;     ///< of its draws: a function of the path from the root
        std::int32_t parent = -1;  ///< whose right child this is; -1: none, or a left child
    };

    /// Finds the features that vary among the rows of a node, and their ranges.
    void look_at(const Open& node) {
        std::fill(ranges_.begin(), ranges_.end(), Range{});
        for (std::size_t i = node.first; i < node.last; ++i) {
            const double* own = matrix_.data() + rows_[i] * n_features_;
            for (std::size_t f = 0; f < n_features_; ++f) {
                ranges_[f].low = std::min(ranges_[f].low, own[f]);  // NaN is never smaller
                ranges_[f].high = std::max(ranges_[f].high, own[f]);
            }
        }
        varying_.clear();
        for (std::size_t f = 0; f < n_features_; ++f) {
            if (ranges_[f].low < ranges_[f].high) varying_.push_back(static_cast<std::int32_t>(f));
        }
    }

    /// Adds the plane of a node; false if all its rows are the same.
    bool draw_plane(const Open& node) {
        look_at(node);
        if (varying_.empty()) return false;
        const std::size_t n_terms = std::min(settings_.n_terms, varying_.size());
        for (std::size_t k = 0; k < settings_.n_terms; ++k) {
            if (k >= n_terms) {
                add_term(0, 0.0, 0.0);
                continue;
            }
            const std::size_t other =
                k + random_below(node.key, Stream::kFeatures, k, varying_.size() - k);
            std::swap(varying_[k], varying_[other]);
            const auto feature = static_cast<std::size_t>(varying_[k]);
            double normal = random_normal(random_bits(node.key, Stream::kNodes, 2 + k));
            Range range = ranges_[feature];
            if (has_levels(feature)) {
                range = range_of_levels(node, feature, normal);
            } else if (categorical_ != nullptr) {
                normal = per_range(normal, range);
            }
            const double share = random_unit(node.key, Stream::kThresholds, k);
            double point = range.low * (1.0 - share) + range.high * share;
            if (!(point >= range.low && point < range.high)) point = range.low;
            add_term(varying_[k], normal, point);
        }
        return true;
    }

    bool has_levels(std::size_t feature) const {
        return categorical_ != nullptr && categorical_[feature] != 0;
    }

    /// That of the numbers which a term of this normal draws for the levels in a node.
    Range range_of_levels(const Open& node, std::size_t feature, double normal) const {
        Range range;
        for (std::size_t i = node.first; i < node.last; ++i) {
            const double x = number_of_level(normal, matrix_[rows_[i] * n_features_ + feature]);
            range.low = std::min(range.low, x);
            range.high = std::max(range.high, x);
        }
        return range;
    }

    /// Beside levels, whose numbers lie between 0 and 1, other numbers count in units of their
    /// range: else categories would decide nothing, or everything.
    static double per_range(double normal, const Range& range) {
        const double scaled = normal / (range.high - range.low);
        return std::isfinite(scaled) ? scaled : normal;
    }

    void add_term(std::int32_t feature, double normal, double point) {
        grown_.feature.push_back(feature);
        grown_.normal.push_back(normal);
        grown_.point.push_back(point);
    }

    /// Moves the rows left of the newest plane in front of the others.
    std::size_t apply(const Open& node) {
        const std::size_t at = grown_.feature.size() - settings_.n_terms;
        const auto begin = rows_.begin();
        const auto middle = std::partition(
            begin + static_cast<std::ptrdiff_t>(node.first),
            begin + static_cast<std::ptrdiff_t>(node.last), [&](std::uint32_t number) {
                return plane_sum(grown_.feature.data() + at, grown_.normal.data() + at,
                                 grown_.point.data() + at, settings_.n_terms,
                                 matrix_.data() + number * n_features_, categorical_) <= 0.0;
            });
        return static_cast<std::size_t>(middle - begin);
    }

    std::span<const double> matrix_;
    std::size_t n_features_;
    const PlaneSettings& settings_;
    const std::uint8_t* categorical_ = nullptr;  ///< by feature; null if all are numbers
    std::vector<Range> ranges_;
    std::vector<std::int32_t> varying_;
    std::vector<std::uint32_t> rows_;
    GrownPlanes grown_;
};

void put_behind(GrownPlanes& all, const GrownPlanes& tree) {
    const auto append = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
    };
    append(all.right, tree.right);
    append(all.depth, tree.depth);
    append(all.count, tree.count);
    append(all.feature, tree.feature);
    append(all.normal, tree.normal);
    append(all.point, tree.point);
    all.tree_start.push_back(static_cast<std::int64_t>(all.right.size()));
}

}  // namespace

GrownPlanes grow_planes(std::span<const double> matrix, std::size_t n_features,
                        std::span<const std::uint32_t> drawn, std::size_t n_drawn,
                        const PlaneSettings& settings, std::size_t first_tree, int n_threads) {
    const std::size_t n_rows = n_features == 0 ? 0 : matrix.size() / n_features;
    const bool known =
        std::all_of(drawn.begin(), drawn.end(), [&](std::uint32_t row) { return row < n_rows; });
    const std::size_t n_told = settings.categorical.size();
    if (!known || (n_told != 0 && n_told != n_features) || n_drawn == 0 ||
        drawn.size() % n_drawn != 0 || settings.n_terms == 0) {
        throw Failure(FailureKind::kInvalidInput, "drawn rows do not fit the table");
    }
    std::vector<GrownPlanes> trees(drawn.size() / n_drawn);
    parallel_for(n_threads, trees.size(), [&](std::size_t t) {
        const std::uint64_t seed = random_bits(settings.seed, Stream::kNodes, first_tree + t);
        PlaneGrower grower(matrix, n_features, settings);
        trees[t] = grower.grow(drawn.subspan(t * n_drawn, n_drawn), seed);
    });
    GrownPlanes all;
    for (const GrownPlanes& tree : trees) put_behind(all, tree);
    return all;
}

}  // namespace spinney
