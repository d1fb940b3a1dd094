#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "native/model/clump_shapes.hpp"
#include "tests/native/check.hpp"

using namespace spinney;

namespace {

/// A tree as its definition has it: a place has a question, or it is an exit.
struct Walker {
    ClumpShape shape;
    std::vector<std::uint32_t> questions;  ///< in the order of their places
    std::vector<std::uint32_t> exits;

    explicit Walker(ClumpShape asked) : shape(asked) {
        for (std::uint32_t place = 1; place < 64; ++place) {
            if (asks(place)) {
                questions.push_back(place);
            } else if (place > 1 && asks(place / 2)) {
                exits.push_back(place);
            }
        }
    }
    bool asks(std::uint32_t place) const { return place < 32 && ((shape >> place) & 1U) != 0; }

    std::uint32_t leave(std::size_t answers) const {
        std::uint32_t place = 1;
        while (asks(place)) {
            std::size_t question = 0;
            while (questions[question] != place) ++question;
            place = 2 * place + static_cast<std::uint32_t>((answers >> question) & 1U);
        }
        return place;
    }
};

/// All sets of seven places of which each but the root has its parent, by trying all.
std::vector<ClumpShape> shapes_by_trying() {
    std::vector<ClumpShape> found;
    std::set<ClumpShape> grown = {2};
    for (int size = 1; size < 7; ++size) {
        std::set<ClumpShape> larger;
        for (const ClumpShape shape : grown) {
            for (std::uint32_t place = 2; place < 32; ++place) {
                const ClumpShape bit = ClumpShape{1} << place;
                if ((shape & bit) == 0 && ((shape >> (place / 2)) & 1U) != 0) {
                    larger.insert(shape | bit);
                }
            }
        }
        grown = larger;
    }
    return {grown.begin(), grown.end()};
}

}  // namespace

TEST(every_shape_has_a_number_of_its_own) {
    const std::vector<ClumpShape> shapes = shapes_by_trying();
    CHECK(shapes.size() == kClumpShapes);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        CHECK(std::popcount(shapes[i]) == static_cast<int>(kClumpQuestions));
        CHECK(number_of_shape(shapes[i]) == i);
    }
}

TEST(answers_lead_to_the_exit_that_a_walk_finds) {
    for (const ClumpShape shape : shapes_by_trying()) {
        const Walker walker(shape);
        CHECK(walker.exits.size() == kClumpExits);
        for (std::size_t answers = 0; answers < kClumpAnswers; ++answers) {
            const std::size_t exit =
                kClumpExitsByAnswers[number_of_shape(shape) * kClumpAnswers + answers];
            CHECK(exit < kClumpExits);
            CHECK(walker.exits[exit] == walker.leave(answers));
        }
    }
}

CHECK_MAIN
