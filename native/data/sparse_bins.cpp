#include "native/data/sparse_bins.hpp"

#include <algorithm>
#include <string>

#include "native/base/failure.hpp"
#include "native/base/parallel.hpp"

namespace spinney {
namespace {

/// Rows whose bytes are filled for all features before the next ones.
constexpr std::size_t kTileRows = 4096;

std::ptrdiff_t size_of(ValueType type) {
    return type == ValueType::kFloat32 ? sizeof(float) : sizeof(double);
}

SparseBins::Feature bin_feature(const ColumnView& column, const FeatureBins& mapper) {
    SparseBins::Feature feature;
    const double zero = 0.0;  // its first bytes are a float32 zero, too
    ColumnView of_zero;
    of_zero.type = column.type;
    of_zero.data = reinterpret_cast<const std::byte*>(&zero);
    bin_rows(of_zero, 0, 1, mapper, &feature.zero_bin);
    ColumnView stored;
    stored.type = column.type;
    stored.data = column.data;
    stored.stride = size_of(column.type);
    const std::size_t n = column.rows.size();
    feature.rows.assign(column.rows.begin(), column.rows.end());
    feature.bins.resize(n);
    for (std::size_t first = 0; first < n; first += kBinBlockRows) {
        bin_rows(stored, first, std::min(kBinBlockRows, n - first), mapper,
                 feature.bins.data() + first);
    }
    return feature;
}

}  // namespace

void SparseBins::fill(std::span<std::uint8_t> bins, int n_threads) const {
    parallel_blocks(n_threads, n_rows, kTileRows, [&](std::size_t begin, std::size_t end) {
        for (std::size_t f = 0; f < features.size(); ++f) {
            const Feature& feature = features[f];
            for (std::size_t row = begin; row < end; ++row) {
                bins[row * features.size() + f] = feature.zero_bin;
            }
            const auto from = std::lower_bound(feature.rows.begin(), feature.rows.end(),
                                               static_cast<std::int32_t>(begin));
            for (auto i = static_cast<std::size_t>(from - feature.rows.begin());
                 i < feature.rows.size(); ++i) {
                const auto row = static_cast<std::size_t>(feature.rows[i]);
                if (row >= end) break;
                bins[row * features.size() + f] = feature.bins[i];
            }
        }
    });
}

SparseBins bin_sparse_columns(const Columns& columns, std::span<const FeatureBins> mapper,
                              int n_threads) {
    if (columns.features.size() != mapper.size()) {
        throw Failure(FailureKind::kInvalidInput, "columns and bins differ in number");
    }
    for (std::size_t f = 0; f < mapper.size(); ++f) {
        const ColumnView& column = columns.features[f];
        if (!column.is_sparse || column.type == ValueType::kCode32 || mapper[f].is_categorical()) {
            throw Failure(FailureKind::kInvalidInput,
                          "feature " + std::to_string(f) + ": expected sparse numbers");
        }
    }
    SparseBins bins{columns.n_rows, std::vector<SparseBins::Feature>(mapper.size())};
    parallel_for(n_threads, mapper.size(), [&](std::size_t f) {
        bins.features[f] = bin_feature(columns.features[f], mapper[f]);
    });
    return bins;
}

}  // namespace spinney
