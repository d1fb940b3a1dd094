#include "native/model/clump_shapes.hpp"

#include <algorithm>
#include <bit>

namespace spinney {
namespace {

constexpr std::uint32_t kPlaces = std::uint32_t{1} << kClumpLevels;

constexpr bool has(ClumpShape shape, std::uint32_t place) {
    return place < kPlaces && ((shape >> place) & 1U) != 0;
}

/// Adds to `found` all shapes that have `shape` and further places behind the last one.
constexpr void enlarge(ClumpShape shape, std::uint32_t last, std::size_t n_questions,
                       std::array<ClumpShape, kClumpShapes>& found, std::size_t& n_found) {
    if (n_questions == kClumpQuestions) {
        found[n_found++] = shape;
        return;
    }
    for (std::uint32_t place = last + 1; place < kPlaces; ++place) {
        if (!has(shape, place / 2)) continue;
        enlarge(shape | ClumpShape{1} << place, place, n_questions + 1, found, n_found);
    }
}

/// In increasing order.
constexpr std::array<ClumpShape, kClumpShapes> all_shapes() {
    std::array<ClumpShape, kClumpShapes> found{};
    std::size_t n_found = 0;
    enlarge(ClumpShape{1} << 1, 1, 1, found, n_found);
    std::sort(found.begin(), found.end());
    return found;
}

constexpr std::array<ClumpShape, kClumpShapes> kShapes = all_shapes();
static_assert(kShapes.front() != 0, "there are fewer shapes than places for them");

constexpr std::uint8_t exit_of(ClumpShape shape, std::size_t answers) {
    std::uint32_t place = 1;
    while (has(shape, place)) {
        const int question = std::popcount(shape & ((ClumpShape{1} << place) - 1));
        place = 2 * place + static_cast<std::uint32_t>((answers >> question) & 1U);
    }
    std::uint8_t exit = 0;
    for (std::uint32_t before = 2; before < place; ++before) {
        const bool is_exit = has(shape, before / 2) && !has(shape, before);
        exit = static_cast<std::uint8_t>(exit + (is_exit ? 1 : 0));
    }
    return exit;
}

constexpr std::array<std::uint8_t, kClumpShapes * kClumpAnswers> all_exits() {
    std::array<std::uint8_t, kClumpShapes * kClumpAnswers> exits{};
    for (std::size_t shape = 0; shape < kClumpShapes; ++shape) {
        for (std::size_t answers = 0; answers < kClumpAnswers; ++answers) {
            exits[shape * kClumpAnswers + answers] = exit_of(kShapes[shape], answers);
        }
    }
    return exits;
}

}  // namespace

alignas(64) constinit const
    std::array<std::uint8_t, kClumpShapes * kClumpAnswers> kClumpExitsByAnswers = all_exits();

std::size_t number_of_shape(ClumpShape shape) {
    return static_cast<std::size_t>(std::lower_bound(kShapes.begin(), kShapes.end(), shape) -
                                    kShapes.begin());
}

}  // namespace spinney
