#include "native/trees/training_bins.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "native/base/parallel.hpp"

namespace spinney {
namespace {

/// Rows whose bytes stay in the first-level cache while they are copied.
constexpr std::size_t kTileRows = 256;
/// Fewer columns than this are not worth a thread of their own.
constexpr std::size_t kFewColumns = 4;
/// Tables of fewer rows share bytes only if that removes a fifth of the columns: in small nodes it
/// costs more to take joint sums apart than additions cost.
constexpr std::size_t kRowsToJoin = 16384;

}  // namespace

TrainingBins::TrainingBins(std::span<const std::uint8_t> bins,
                           std::span<const std::int32_t> n_value_bins,
                           std::span<const std::uint8_t> categorical, int n_threads)
    : n_rows_(n_value_bins.empty() ? 0 : bins.size() / n_value_bins.size()),
      rows_(bins),
      n_value_bins_(n_value_bins.begin(), n_value_bins.end()),
      categorical_(categorical.begin(), categorical.end()),
      by_feature_(bins.size()) {
    join_columns(copy_by_feature(n_threads));
    place_cells();
    if (columns_.size() < n_features()) copy_joint_rows(n_threads);
    // As many for every thread, unless columns are few or many.
    const auto threads = static_cast<std::size_t>(std::max(n_threads, 1));
    std::size_t n_blocks = (columns_.size() + kBlockColumns - 1) / kBlockColumns;
    const std::size_t even = (n_blocks + threads - 1) / threads * threads;
    if (n_blocks < 4 * threads)
        n_blocks = std::max(n_blocks, std::min(even, columns_.size() / kFewColumns));
    for (std::size_t b = 0; b < n_blocks; ++b) {
        // Blocks of nearly equal width, so that threads get equal work.
        const std::size_t first = columns_.size() * b / n_blocks;
        blocks_.push_back({first, columns_.size() * (b + 1) / n_blocks - first});
    }
}

/// Returns for each feature the number of its bins up to the last one that occurs.
std::vector<std::uint32_t> TrainingBins::copy_by_feature(int n_threads) {
    const std::size_t n_tiles = (n_rows_ + kTileRows - 1) / kTileRows;
    std::vector<std::uint8_t> last_bin(n_tiles * n_features(), 0);
    parallel_blocks(n_threads, n_rows_, kTileRows, [&](std::size_t begin, std::size_t end) {
        for (std::size_t feature = 0; feature < n_features(); ++feature) {
            std::uint8_t* to = by_feature_.data() + feature * n_rows_;
            std::uint8_t last = 0;
            for (std::size_t row = begin; row < end; ++row) {
                to[row] = rows_[row * n_features() + feature];
                last = std::max(last, to[row]);
            }
            last_bin[begin / kTileRows * n_features() + feature] = last;
        }
    });
    std::vector<std::uint32_t> n_bins(n_features(), 1);
    for (std::size_t i = 0; i < last_bin.size(); ++i) {
        std::uint32_t& n = n_bins[i % n_features()];
        n = std::max(n, std::uint32_t{last_bin[i]} + 1);
    }
    return n_bins;
}

/// The feature of most bins first, each to the fullest column that has room for it: the product of
/// their bins must fit a byte.
void TrainingBins::join_columns(const std::vector<std::uint32_t>& n_bins) {
    std::vector<std::uint32_t> order(n_bins.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&n_bins](std::uint32_t a, std::uint32_t b) { return n_bins[a] > n_bins[b]; });
    std::array<std::vector<std::size_t>, kMostCells + 1> of_size;  // columns by n_cells
    for (const std::uint32_t feature : order) {
        std::size_t size = kMostCells / n_bins[feature];
        while (size > 0 && of_size[size].empty()) --size;
        if (size == 0) {
            of_size[1].push_back(columns_.size());
            columns_.emplace_back();
            size = 1;
        }
        const std::size_t index = of_size[size].back();
        of_size[size].pop_back();
        JointColumn& column = columns_[index];
        column.members.push_back(
            {feature, static_cast<std::uint32_t>(column.n_cells), n_bins[feature]});
        column.n_cells *= n_bins[feature];
        of_size[column.n_cells].push_back(index);
    }
    const std::size_t fewer = n_rows_ < kRowsToJoin ? (n_features() + 4) / 5 : 1;
    if (columns_.size() + fewer <= n_features()) return;
    columns_.clear();
    for (std::uint32_t feature = 0; feature < n_bins.size(); ++feature) {
        columns_.push_back({{{feature, 1, n_bins[feature]}}, n_bins[feature]});
    }
}

void TrainingBins::place_cells() {
    first_cell_.assign(1, 0);
    for (const std::int32_t n : n_value_bins_) {
        first_cell_.push_back(first_cell_.back() + static_cast<std::size_t>(n) + 1);
    }
    const bool is_mostly_wide = 2 * n_cells() >= kMostCells * n_features();
    if (columns_.size() < n_features() || !is_mostly_wide) return;
    for (std::size_t i = 0; i < first_cell_.size(); ++i) first_cell_[i] = i * kMostCells;
}

void TrainingBins::copy_joint_rows(int n_threads) {
    const std::size_t n_columns = columns_.size();
    joint_rows_.resize(n_rows_ * n_columns);
    parallel_blocks(n_threads, n_rows_, kTileRows, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            for (std::size_t column = 0; column < n_columns; ++column) {
                std::uint32_t joint = 0;
                for (const JointColumn::Member& member : columns_[column].members) {
                    joint += rows_[row * n_features() + member.feature] * member.stride;
                }
                joint_rows_[row * n_columns + column] = static_cast<std::uint8_t>(joint);
            }
        }
    });
}

}  // namespace spinney
