#include "native/explain/path_walk.hpp"

#include <cmath>

#include "native/explain/kernel_choice.hpp"

namespace spinney {

PathWalk::PathWalk(const ForestArrays& forest, const FeatureRows& rows)
    : forest_(forest),
      rows_(rows),
      split_(SPINNEY_PATH_KERNEL(path_split)),
      place_(rows.n_players(), rows.n_players()),
      words_(1, std::vector<std::int64_t>(rows.room(), -1)) {}

void PathWalk::go_back(std::size_t depth) {
    // A step to depth k is the change number k - 1; the step to come makes it anew.
    while (!changes_.empty() && changes_.size() >= depth) {
        const Change change = changes_.back();
        changes_.pop_back();
        if (change.is_new) {
            place_[player_.back()] = rows_.n_players();
            player_.pop_back();
            share_.pop_back();
            meets_.pop_back();
        } else {
            share_[change.place] = change.share;
            meets_[change.place] = change.meets;
        }
    }
}

void PathWalk::enter(const Step& step) {
    const std::size_t slot = rows_.slot(static_cast<std::size_t>(forest_.feature[step.parent]));
    const std::size_t player = rows_.player_of(slot);
    const bool is_new = place_[player] == rows_.n_players();
    if (is_new) {
        place_[player] = player_.size();
        player_.push_back(player);
        share_.push_back(1.0);
        meets_.push_back(words_.front().data());
    }
    const std::size_t place = place_[player];
    changes_.push_back({place, share_[place], meets_[place], is_new});
    if (words_.size() <= step.depth) words_.emplace_back(rows_.room());
    std::int64_t* meets = words_[step.depth].data();
    fill(step, slot, meets_[place], meets);
    share_[place] *= share_of(step);
    meets_[place] = meets;
}

void PathWalk::fill(const Step& step, std::size_t slot, const std::int64_t* before,
                    std::int64_t* meets) {
    const std::size_t node = step.parent;
    const double* x = rows_.values(slot);
    const bool missing_left = forest_.missing_left[node] != 0;
    if (forest_.category_set[node] < 0) {
        split_({x, forest_.threshold[node], missing_left, step.is_left(), before, meets,
                rows_.room()});
        return;
    }
    const std::uint8_t* set =
        forest_.category_sets.data() +
        static_cast<std::size_t>(forest_.category_set[node]) * kCategorySetBytes;
    for (std::size_t i = 0; i < rows_.room(); ++i) {
        bool left = missing_left;
        if (!std::isnan(x[i])) {
            const auto bin = static_cast<std::size_t>(x[i]);
            left = (set[bin / 8] >> (bin % 8)) & 1;
        }
        meets[i] = left == step.is_left() ? before[i] : 0;
    }
}

/// Of the weight of both children, so that shares of siblings add up to 1 in any file; a half where
/// neither has any. Nothing but a file made by hand has such a node above a leaf that counts.
double PathWalk::share_of(const Step& step) const {
    const double both = forest_.weight[step.node] + forest_.weight[step.sibling];
    return both > 0.0 ? forest_.weight[step.node] / both : 0.5;
}

}  // namespace spinney
