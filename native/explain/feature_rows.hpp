/// Some rows of the features a forest uses, feature by feature, as explanations walk over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "native/data/columns.hpp"
#include "native/model/forest.hpp"

namespace spinney {

/// Rows are worked on in groups of this many, the widest vector of doubles any kernel has.
inline constexpr std::size_t kRowGroup = 8;

/// Who gets a share of a score: every feature, or several features together, such as all that were
/// derived from one column.
struct Players {
    std::span<const std::int32_t> of_feature;  ///< empty: each its own
    std::size_t n = 0;

    static Players each_feature(const ForestArrays& forest) { return {{}, forest.n_features}; }

    /// Throws Failure(kInvalidInput) unless every feature of the forest has a player.
    void check(const ForestArrays& forest) const;
    std::size_t of(std::size_t feature) const {
        return of_feature.empty() ? feature : static_cast<std::size_t>(of_feature[feature]);
    }
};

/// Numbers as they are, categories as their bin, missing as NaN. Features that no node splits on
/// have no slot: nothing is ever said about them. Players of features with a slot are numbered
/// anew, without gaps.
class FeatureRows {
  public:
    /// Room for `room` rows, rounded up to whole groups; all missing at first.
    FeatureRows(const ForestArrays& forest, std::size_t room, const Players& players);

    /// Reads n rows from `first` on into the places from `at` on. Failure(kInvalidInput) if the
    /// table does not have the features of the forest.
    void read(const Columns& columns, std::size_t first, std::size_t n, std::size_t at = 0);

    std::size_t room() const { return room_; }
    std::size_t n_slots() const { return used_.size(); }
    std::size_t n_players() const { return players_.size(); }
    std::size_t player_of(std::size_t slot) const { return player_of_[slot]; }
    /// A player of this numbering, as the caller numbers them.
    std::size_t given(std::size_t player) const { return players_[player]; }
    std::size_t slot(std::size_t feature) const { return slot_[feature]; }
    const double* values(std::size_t slot) const { return values_.data() + slot * room_; }

  private:
    template <class T>
    static void read_numbers(const ColumnView& column, std::size_t first, std::size_t n,
                             double* to);

    const ForestArrays& forest_;
    std::size_t room_;
    std::vector<std::size_t> slot_;  ///< of each feature; n_features if unused
    std::vector<std::size_t> used_;
    std::vector<std::size_t> player_of_;  ///< of each slot
    std::vector<std::size_t> players_;    ///< as given
    std::vector<double> values_;
};

}  // namespace spinney
