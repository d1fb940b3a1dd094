#include "native/trees/training_bins.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

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
/// Bytes per row that bundles must save, as a share: sums of shared bundles are searched by way of
/// a copy.
constexpr double kLeastSaved = 0.25;
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

BinCounts count_sparse(const SparseBins::Feature& feature, std::size_t n_rows) {
    std::array<std::size_t, kMostCells> counts{};
    for (const std::uint8_t bin : feature.bins) ++counts[bin];
    counts[feature.zero_bin] += n_rows - feature.bins.size();
    return BinCounts::of(counts);
}

void mark_sparse(const SparseBins::Feature& feature, std::size_t n_rows, std::uint8_t usual,
                 std::span<std::uint64_t> away) {
    const auto set = [&away](std::size_t row, bool is_away) {
        const std::uint64_t bit = std::uint64_t{1} << (row % 64);
        away[row / 64] = is_away ? away[row / 64] | bit : away[row / 64] & ~bit;
    };
    for (std::size_t row = 0; feature.zero_bin != usual && row < n_rows; ++row) set(row, true);
    for (std::size_t i = 0; i < feature.rows.size(); ++i) {
        set(static_cast<std::size_t>(feature.rows[i]), feature.bins[i] != usual);
    }
}

}  // namespace

TrainingBins::TrainingBins(std::span<const std::uint8_t> bins,
                           std::span<const std::int32_t> n_value_bins,
                           std::span<const std::uint8_t> categorical, int n_threads,
                           Bundling bundling)
    : n_rows_(n_value_bins.empty() ? 0 : bins.size() / n_value_bins.size()),
      n_value_bins_(n_value_bins.begin(), n_value_bins.end()),
      categorical_(categorical.begin(), categorical.end()),
      rows_to_join_(kNever),
      by_bundle_(bins.size()) {
    copy_by_feature(bins.data(), n_threads);
    const std::vector<BinCounts> counts = count_rows(n_threads);
    const auto mark = [&](std::size_t feature, std::span<std::uint64_t> away) {
        mark_away(codes(feature), n_rows_, counts[feature].usual, away);
    };
    bundle_features(counts, mark, bundling, n_threads);
    if (!has_bundles()) {
        lay_out(bins.data(), n_threads);
        return;
    }
    const auto add = [&](std::size_t feature, const CodeOf& code_of, std::uint8_t* to) {
        const std::uint8_t* from = codes(feature);
        for (std::size_t row = 0; row < n_rows_; ++row) {
            to[row] = static_cast<std::uint8_t>(to[row] + code_of[from[row]]);
        }
    };
    encode_bundles(add, n_threads);
    lay_out(nullptr, n_threads);
}

TrainingBins::TrainingBins(const SparseBins& bins, std::span<const std::int32_t> n_value_bins,
                           std::span<const std::uint8_t> categorical, int n_threads,
                           Bundling bundling)
    : n_rows_(bins.n_rows),
      n_value_bins_(n_value_bins.begin(), n_value_bins.end()),
      categorical_(categorical.begin(), categorical.end()),
      rows_to_join_(kNever) {
    std::vector<BinCounts> counts(n_features());
    parallel_for(n_threads, n_features(),
                 [&](std::size_t f) { counts[f] = count_sparse(bins.features[f], n_rows_); });
    const auto mark = [&](std::size_t f, std::span<std::uint64_t> away) {
        mark_sparse(bins.features[f], n_rows_, counts[f].usual, away);
    };
    bundle_features(counts, mark, bundling, n_threads);
    const auto add = [&](std::size_t f, const CodeOf& code_of, std::uint8_t* to) {
        const SparseBins::Feature& feature = bins.features[f];
        const int of_zero = code_of[feature.zero_bin];
        for (std::size_t row = 0; of_zero != 0 && row < n_rows_; ++row) {
            to[row] = static_cast<std::uint8_t>(to[row] + of_zero);
        }
        for (std::size_t i = 0; i < feature.rows.size(); ++i) {
            std::uint8_t& code = to[feature.rows[i]];
            code = static_cast<std::uint8_t>(code + code_of[feature.bins[i]] - of_zero);
        }
    };
    encode_bundles(add, n_threads);
    lay_out(nullptr, n_threads);
}

/// From the codes by bundle to the layouts by row.
void TrainingBins::lay_out(const std::uint8_t* borrowed_rows, int n_threads) {
    for (std::uint32_t b = 0; b < n_bundles(); ++b) {
        const auto n_codes = static_cast<std::uint32_t>(bundles_[b].n_codes);
        plain_.columns.push_back({{{b, 1, n_codes}}, n_codes});
    }
    plain_.blocks = make_blocks(plain_.columns.size(), n_threads);
    plain_.blocks_of_one = make_blocks(plain_.columns.size(), 1);
    if (borrowed_rows == nullptr) copy_joint_rows(plain_, plain_rows_, n_threads);
    plain_.rows = borrowed_rows == nullptr ? plain_rows_.data() : borrowed_rows;
    place_cells();
    join_columns();
    if (rows_to_join_ == kNever) return;
    joint_.blocks = make_blocks(joint_.columns.size(), n_threads);
    joint_.blocks_of_one = make_blocks(joint_.columns.size(), 1);
    copy_joint_rows(joint_, joint_rows_, n_threads);
    joint_.rows = joint_rows_.data();
}

void TrainingBins::bundle_features(const std::vector<BinCounts>& counts, MarkAway mark,
                                   Bundling bundling, int n_threads) {
    std::vector<std::vector<std::uint32_t>> groups;
    if (bundling != Bundling::kNever) groups = find_bundles(counts, n_rows_, mark, n_threads);
    const std::size_t n_saved = groups.empty() ? 0 : n_features() - groups.size();
    const bool is_worth_it =
        static_cast<double>(n_saved) >= kLeastSaved * static_cast<double>(n_features());
    if (bundling == Bundling::kNever || (bundling == Bundling::kAuto && !is_worth_it)) {
        groups.clear();
        for (std::uint32_t feature = 0; feature < n_features(); ++feature) {
            groups.push_back({feature});
        }
    }
    assign_codes(std::move(groups), counts);
}

void TrainingBins::assign_codes(std::vector<std::vector<std::uint32_t>> groups,
                                const std::vector<BinCounts>& counts) {
    places_.resize(n_features());
    for (auto& group : groups) {
        const auto number = static_cast<std::uint32_t>(bundles_.size());
        Bundle& bundle = bundles_.emplace_back(Bundle{std::move(group)});
        std::size_t most = 1;  // also of constants: what holds no row at all holds no cell
        for (const std::uint32_t feature : bundle.features) {
            const BinCounts& of = counts[feature];
            places_[feature] = {number, static_cast<std::uint32_t>(bundle.n_codes), of.n_bins,
                                of.usual, bundle.is_shared()};
            bundle.n_codes += of.n_bins - 1;
            most = std::max(most, bundle.is_shared() ? of.most_elsewhere : of.n_usual);
        }
        most_in_cell_.push_back(most);
    }
}

void TrainingBins::place_cells() {
    first_cell_.assign(1, 0);
    for (std::size_t b = 0; b < n_bundles(); ++b) {
        first_cell_.push_back(first_cell_.back() + n_cells(b));
    }
    if (2 * n_cells() < kMostCells * n_bundles()) return;
    for (std::size_t i = 0; i < first_cell_.size(); ++i) first_cell_[i] = i * kMostCells;
}

void TrainingBins::copy_by_feature(const std::uint8_t* rows, int n_threads) {
    parallel_blocks(n_threads, n_rows_, kTileRows, [&](std::size_t begin, std::size_t end) {
        for (std::size_t feature = 0; feature < n_features(); ++feature) {
            std::uint8_t* to = by_bundle_.data() + feature * n_rows_;
            for (std::size_t row = begin; row < end; ++row) {
                to[row] = rows[row * n_features() + feature];
            }
        }
    });
}

std::vector<BinCounts> TrainingBins::count_rows(int n_threads) const {
    std::vector<BinCounts> counted(n_features());
    parallel_for(n_threads, n_features(), [&](std::size_t feature) {
        // Neighbouring rows in tables of their own: of few bins, none waits for the one before.
        std::array<std::array<std::uint32_t, kMostCells>, 4> counts{};
        const std::uint8_t* bins = codes(feature);  // not bundled yet
        for (std::size_t row = 0; row < n_rows_; ++row) ++counts[row % 4][bins[row]];
        std::array<std::size_t, kMostCells> sums;
        for (std::size_t bin = 0; bin < kMostCells; ++bin) {
            sums[bin] =
                std::size_t{counts[0][bin]} + counts[1][bin] + counts[2][bin] + counts[3][bin];
        }
        counted[feature] = BinCounts::of(sums);
    });
    return counted;
}

/// Puts codes in place of the bins by feature. No row needs two codes of a bundle, and the others
/// are 0, so that they can be added.
void TrainingBins::encode_bundles(AddCodes add, int n_threads) {
    LargeVector<std::uint8_t> codes(n_rows_ * n_bundles());
    parallel_for(n_threads, n_bundles(), [&](std::size_t b) {
        for (const std::uint32_t feature : bundles_[b].features) {
            const FeaturePlace& place = places_[feature];
            CodeOf code_of{};
            for (std::size_t bin = 0; bin < place.n_bins; ++bin) code_of[bin] = place.code(bin);
            add(feature, code_of, codes.data() + b * n_rows_);
        }
    });
    by_bundle_ = std::move(codes);
}

/// The bundle of most codes first, each to the fullest column that has room for it: the product of
/// their codes must fit a byte.
void TrainingBins::join_columns() {
    std::vector<std::uint32_t> order(n_bundles());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
        return bundles_[a].n_codes > bundles_[b].n_codes;
    });
    std::vector<JointColumn> columns;
    std::array<std::vector<std::size_t>, kMostCells + 1> of_size;  // columns by n_cells
    for (const std::uint32_t bundle : order) {
        const std::size_t n_codes = bundles_[bundle].n_codes;
        std::size_t size = kMostCells / n_codes;
        while (size > 0 && of_size[size].empty()) --size;
        if (size == 0) {
            of_size[size = 1].push_back(columns.size());
            columns.emplace_back();
        }
        const std::size_t index = of_size[size].back();
        of_size[size].pop_back();
        JointColumn& column = columns[index];
        column.members.push_back({bundle, static_cast<std::uint32_t>(column.n_cells),
                                  static_cast<std::uint32_t>(n_codes)});
        column.n_cells *= n_codes;
        of_size[column.n_cells].push_back(index);
    }
    if (columns.size() == n_bundles()) return;
    const auto n_joint = static_cast<std::size_t>(
        std::count_if(columns.begin(), columns.end(),
                      [](const JointColumn& column) { return column.members.size() > 1; }));
    const std::size_t cost =
        n_joint * kTakingApart + (has_equal_cells() ? n_bundles() * kCopying : 0);
    const std::size_t least = cost / (n_bundles() - columns.size());
    if (n_rows_ < 2 * least) return;  // the root alone would gain
    const auto share =
        static_cast<double>(columns.size()) / (2.0 * static_cast<double>(n_bundles()));
    if (n_rows_ * columns.size() > kSmallCopy && share > kSmallShare) return;
    rows_to_join_ = least;
    joint_.columns = std::move(columns);
}

void TrainingBins::copy_joint_rows(const RowLayout& layout, LargeVector<std::uint8_t>& rows,
                                   int n_threads) {
    const std::size_t n_columns = layout.columns.size();
    rows.resize(n_rows_ * n_columns);
    parallel_blocks(n_threads, n_rows_, kTileRows, [&](std::size_t begin, std::size_t end) {
        for (std::size_t column = 0; column < n_columns; ++column) {
            std::uint8_t* to = rows.data() + column;
            for (const JointColumn::Member& member : layout.columns[column].members) {
                const std::uint8_t* from = codes(member.bundle);
                const auto stride = static_cast<std::uint8_t>(member.stride);  // 256: code is 0
                for (std::size_t row = begin; row < end; ++row) {
                    const int before = member.stride == 1 ? 0 : to[row * n_columns];
                    to[row * n_columns] = static_cast<std::uint8_t>(before + from[row] * stride);
                }
            }
        }
    });
}

}  // namespace spinney
