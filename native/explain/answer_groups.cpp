#include "native/explain/answer_groups.hpp"

#include <algorithm>
#include <bit>

namespace spinney {
namespace {

/// Multiplication spreads low bits upwards, and the top bits choose the place.
std::size_t place_of(std::span<const std::uint64_t> words, std::size_t table_size) {
    std::uint64_t mixed = 0;
    for (const std::uint64_t word : words)
        mixed = (std::rotl(mixed, 23) ^ word) * 0x9E3779B97F4A7C15U;
    return static_cast<std::size_t>(mixed >> 32) & (table_size - 1);
}

}  // namespace

void AnswerGroups::build(const std::int64_t* const* meets, std::size_t d, std::size_t first,
                         std::size_t n) {
    n_words_ = std::max<std::size_t>(1, (d + 63) / 64);
    words_.assign(n * n_words_, 0);
    for (std::size_t k = 0; k < d; ++k) {
        const std::int64_t* of_feature = meets[k] + first;
        for (std::size_t i = 0; i < n; ++i) {
            const auto answer = static_cast<std::uint64_t>(of_feature[i] & 1);
            words_[i * n_words_ + k / 64] |= answer << (k % 64);
        }
    }
    const std::size_t most_groups = d < 20 ? std::min(n, std::size_t{1} << d) : n;
    table_.assign(std::bit_ceil(2 * most_groups + 1), 0);
    group_.resize(n);
    first_row_.clear();
    for (std::size_t row = 0; row < n; ++row) group_[row] = find(row);
}

std::size_t AnswerGroups::find(std::size_t row) {
    const auto answers = of_row(row);
    std::size_t place = place_of(answers, table_.size());
    while (table_[place] != 0) {
        const std::size_t group = table_[place] - 1;
        const auto known = of_row(first_row_[group]);
        if (std::equal(answers.begin(), answers.end(), known.begin())) return group;
        place = (place + 1) & (table_.size() - 1);
    }
    first_row_.push_back(row);
    table_[place] = first_row_.size();
    return first_row_.size() - 1;
}

}  // namespace spinney
