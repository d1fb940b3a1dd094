/// Rows put together by their answers to the conditions of a path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spinney {

/// Bit k of a row's answers says whether it meets the conditions on the path's feature k. Paths of
/// more than 64 features take several words per row.
class AnswerGroups {
  public:
    /// Reads the answers of the rows [first, first + n), and groups those with the same.
    void build(const std::int64_t* const* meets, std::size_t d, std::size_t first, std::size_t n);

    std::size_t size() const { return first_row_.size(); }
    std::size_t n_words() const { return n_words_; }
    std::size_t group(std::size_t row) const { return group_[row]; }

    /// The answers of all rows of a group; groups stand in the order of their first rows.
    std::span<const std::uint64_t> answers(std::size_t group) const {
        return of_row(first_row_[group]);
    }

  private:
    std::span<const std::uint64_t> of_row(std::size_t row) const {
        return {words_.data() + row * n_words_, n_words_};
    }
    std::size_t find(std::size_t row);

    std::size_t n_words_ = 0;
    std::vector<std::uint64_t> words_;
    std::vector<std::size_t> group_;
    std::vector<std::size_t> first_row_;
    std::vector<std::size_t> table_;  ///< open addressing: group + 1, or 0
};

}  // namespace spinney
