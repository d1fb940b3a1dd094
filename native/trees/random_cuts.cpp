#include "native/trees/random_cuts.hpp"

#include <limits>

namespace spinney {
namespace {

bool is_float(double value) { return static_cast<double>(static_cast<float>(value)) == value; }

template <class Value>
std::vector<Value> by_row(const RankedColumns& columns) {
    const std::size_t n_features = columns.n_features();
    std::vector<Value> values(columns.n_rows() * n_features);
    for (std::size_t f = 0; f < n_features; ++f) {
        const RankedFeature& feature = columns.feature(f);
        if (feature.is_categorical) continue;
        feature.with_ranks([&](const auto* ranks) {
            for (std::size_t row = 0; row < columns.n_rows(); ++row) {
                values[row * n_features + f] = ranks[row] == feature.missing_rank()
                                                   ? std::numeric_limits<Value>::quiet_NaN()
                                                   : static_cast<Value>(feature.values[ranks[row]]);
            }
        });
    }
    return values;
}

}  // namespace

RowValues::RowValues(const RankedColumns& columns) : n_features_(columns.n_features()) {
    bool all_floats = true;
    for (std::size_t f = 0; f < n_features_ && all_floats; ++f) {
        const auto& values = columns.feature(f).values;
        all_floats = std::all_of(values.begin(), values.end(), is_float);
    }
    if (all_floats) {
        narrow_ = by_row<float>(columns);
    } else {
        wide_ = by_row<double>(columns);
    }
}

}  // namespace spinney
