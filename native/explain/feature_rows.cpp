#include "native/explain/feature_rows.hpp"

#include <algorithm>
#include <limits>

#include "native/base/failure.hpp"

namespace spinney {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void Players::check(const ForestArrays& forest) const {
    const auto is_known = [this](std::int32_t player) {
        return player >= 0 && static_cast<std::size_t>(player) < n;
    };
    const bool is_whole =
        of_feature.empty() ? n == forest.n_features : of_feature.size() == forest.n_features;
    if (!is_whole || !std::all_of(of_feature.begin(), of_feature.end(), is_known)) {
        throw Failure(FailureKind::kInvalidInput, "every feature needs a player");
    }
}

FeatureRows::FeatureRows(const ForestArrays& forest, std::size_t room, const Players& players)
    : forest_(forest),
      room_((room + kRowGroup - 1) / kRowGroup * kRowGroup),
      slot_(forest.n_features, forest.n_features) {
    players.check(forest);
    std::vector<std::size_t> number(players.n, players.n);
    for (const std::int32_t signed_feature : forest.feature) {
        if (signed_feature < 0) continue;
        const auto feature = static_cast<std::size_t>(signed_feature);
        if (slot_[feature] < forest.n_features) continue;
        slot_[feature] = used_.size();
        used_.push_back(feature);
        const std::size_t given = players.of(feature);
        if (number[given] == players.n) {
            number[given] = players_.size();
            players_.push_back(given);
        }
        player_of_.push_back(number[given]);
    }
    values_.assign(used_.size() * room_, kMissing);
}

void FeatureRows::read(const Columns& columns, std::size_t first, std::size_t n, std::size_t at) {
    check_features(forest_, columns);
    for (std::size_t slot = 0; slot < used_.size(); ++slot) {
        double* to = values_.data() + slot * room_ + at;
        const ColumnView& column = columns.features[used_[slot]];
        switch (column.type) {
            case ValueType::kFloat32:
                read_numbers<float>(column, first, n, to);
                break;
            case ValueType::kFloat64:
                read_numbers<double>(column, first, n, to);
                break;
            case ValueType::kCode32:
                for (std::size_t i = 0; i < n; ++i) {
                    to[i] = forest_.bin_of(used_[slot], column.at<std::int32_t>(first + i));
                }
        }
    }
}

template <class T>
void FeatureRows::read_numbers(const ColumnView& column, std::size_t first, std::size_t n,
                               double* to) {
    if (!column.is_sparse) {
        for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<double>(column.at<T>(first + i));
        return;
    }
    std::fill_n(to, n, 0.0);
    const T* stored = reinterpret_cast<const T*>(column.data);
    for (std::size_t i = column.stored_from(first); i < column.rows.size(); ++i) {
        const auto row = static_cast<std::size_t>(column.rows[i]);
        if (row < first || row >= first + n) break;  // even if somebody changes them meanwhile
        to[row - first] = static_cast<double>(stored[i]);
    }
}

}  // namespace spinney
