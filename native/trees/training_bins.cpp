#include "native/trees/training_bins.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "native/base/parallel.hpp"

namespace spinney {
namespace {

/// Rows whose bytes stay in the first-level cache while they are copied.
constexpr std::size_t kTileRows = 256;
/// Fewer columns than this are not worth a thread of their own.
constexpr std::size_t kFewColumns = 4;
/// What it costs to take the sums of a joint column apart, and to copy a column of sums that could
/// have been added up in place, in additions of a row to a cell.
constexpr std::size_t kTakingApart = 700;
constexpr std::size_t kCopying = 160;
/// Bytes of a joint copy that are never too many, and its share of the other two copies that is
/// not.
constexpr std::size_t kSmallCopy = std::size_t{64} << 20;
constexpr double kSmallShare = 0.2;
constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

/// Blocks of nearly equal width, as many for every thread, unless columns are few or many.
std::vector<ColumnBlock> make_blocks(std::size_t n_columns, int n_threads) {
    const auto threads = static_cast<std::size_t>(std::max(n_threads, 1));
    std::size_t n_blocks = (n_columns + kBlockColumns - 1) / kBlockColumns;
    const std::size_t even = (n_blocks + threads - 1) / threads * threads;
    if (n_blocks < 4 * threads)
        n_blocks = std::max(n_blocks, std::min(even, n_columns / kFewColumns));
    std::vector<ColumnBlock> blocks;
    for (std::size_t b = 0; b < n_blocks; ++b) {
        const std::size_t first = n_columns * b / n_blocks;
        blocks.push_back({first, n_columns * (b + 1) / n_blocks - first});
    }
    return blocks;
}

}  // namespace

TrainingBins::TrainingBins(std::span<const std::uint8_t> bins,
                           std::span<const std::int32_t> n_value_bins,
                           std::span<const std::uint8_t> categorical, int n_threads)
    : n_rows_(n_value_bins.empty() ? 0 : bins.size() / n_value_bins.size()),
      n_value_bins_(n_value_bins.begin(), n_value_bins.end()),
      categorical_(categorical.begin(), categorical.end()),
      rows_to_join_(kNever),
      by_feature_(bins.size()) {
    plain_.rows = bins.data();
    const std::vector<std::uint32_t> n_bins = copy_by_feature(n_threads);
    count_rows(n_threads);
    for (std::uint32_t feature = 0; feature < n_bins.size(); ++feature) {
        plain_.columns.push_back({{{feature, 1, n_bins[feature]}}, n_bins[feature]});
    }
    plain_.blocks = make_blocks(plain_.columns.size(), n_threads);
    place_cells();
    join_columns(n_bins);
    if (rows_to_join_ == kNever) return;
    joint_.blocks = make_blocks(joint_.columns.size(), n_threads);
    copy_joint_rows(n_threads);
}

void TrainingBins::place_cells() {
    first_cell_.assign(1, 0);
    for (const std::int32_t n : n_value_bins_) {
        first_cell_.push_back(first_cell_.back() + static_cast<std::size_t>(n) + 1);
    }
    if (2 * n_cells() < kMostCells * n_features()) return;
    for (std::size_t i = 0; i < first_cell_.size(); ++i) first_cell_[i] = i * kMostCells;
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
                to[row] = plain_.rows[row * n_features() + feature];
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

void TrainingBins::count_rows(int n_threads) {
    most_in_bin_.assign(n_features(), 0);
    parallel_for(n_threads, n_features(), [&](std::size_t f) {
        // Neighbouring rows in tables of their own: of few bins, none waits for the one before.
        std::array<std::array<std::uint32_t, kMostCells>, 4> counts{};
        const std::uint8_t* bins = feature(f);
        for (std::size_t row = 0; row < n_rows_; ++row) ++counts[row % 4][bins[row]];
        for (std::size_t bin = 0; bin < kMostCells; ++bin) {
            const std::size_t n = counts[0][bin] + counts[1][bin] + counts[2][bin] + counts[3][bin];
            most_in_bin_[f] = std::max(most_in_bin_[f], n);
        }
    });
}

/// The feature of most bins first, each to the fullest column that has room for it: the product of
/// their bins must fit a byte.
void TrainingBins::join_columns(const std::vector<std::uint32_t>& n_bins) {
    std::vector<std::uint32_t> order(n_bins.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&n_bins](std::uint32_t a, std::uint32_t b) { return n_bins[a] > n_bins[b]; });
    std::vector<JointColumn> columns;
    std::array<std::vector<std::size_t>, kMostCells + 1> of_size;  // columns by n_cells
    for (const std::uint32_t feature : order) {
        std::size_t size = kMostCells / n_bins[feature];
        while (size > 0 && of_size[size].empty()) --size;
        if (size == 0) {
            of_size[size = 1].push_back(columns.size());
            columns.emplace_back();
        }
        const std::size_t index = of_size[size].back();
        of_size[size].pop_back();
        JointColumn& column = columns[index];
        column.members.push_back(
            {feature, static_cast<std::uint32_t>(column.n_cells), n_bins[feature]});
        column.n_cells *= n_bins[feature];
        of_size[column.n_cells].push_back(index);
    }
    if (columns.size() == n_features()) return;
    const auto n_joint = static_cast<std::size_t>(
        std::count_if(columns.begin(), columns.end(),
                      [](const JointColumn& column) { return column.members.size() > 1; }));
    const std::size_t cost =
        n_joint * kTakingApart + (has_equal_cells() ? n_features() * kCopying : 0);
    const std::size_t least = cost / (n_features() - columns.size());
    if (n_rows_ < 2 * least) return;  // the root alone would gain
    const auto share =
        static_cast<double>(columns.size()) / (2.0 * static_cast<double>(n_features()));
    if (n_rows_ * columns.size() > kSmallCopy && share > kSmallShare) return;
    rows_to_join_ = least;
    joint_.columns = std::move(columns);
}

void TrainingBins::copy_joint_rows(int n_threads) {
    const std::size_t n_columns = joint_.columns.size();
    joint_rows_.resize(n_rows_ * n_columns);
    joint_.rows = joint_rows_.data();
    parallel_blocks(n_threads, n_rows_, kTileRows, [&](std::size_t begin, std::size_t end) {
        for (std::size_t column = 0; column < n_columns; ++column) {
            std::uint8_t* to = joint_rows_.data() + column;
            for (const JointColumn::Member& member : joint_.columns[column].members) {
                const std::uint8_t* from = feature(member.feature);
                const auto stride = static_cast<std::uint8_t>(member.stride);  // 256: bin is 0
                for (std::size_t row = begin; row < end; ++row) {
                    const int before = member.stride == 1 ? 0 : to[row * n_columns];
                    to[row * n_columns] = static_cast<std::uint8_t>(before + from[row] * stride);
                }
            }
        }
    });
}

}  // namespace spinney
