#include "native/resampling/size_search.hpp"

namespace spinney {
namespace {

/// Sums of whole numbers do not depend on how rows are divided: a few parts, so that their tables
/// cost little beside the rows.
constexpr std::size_t kRowsPerPart = 1 << 16;
constexpr int kSumBits = 62;

}  // namespace

SizedRows::SizedRows(const DrawCandidates& candidates, std::vector<float> sizes, int n_threads)
    : candidates_(candidates), sizes_(std::move(sizes)), n_threads_(n_threads) {
    std::uint32_t largest = 0;
    std::int64_t weight = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const std::uint32_t row = candidates.row(i);
        largest = std::max(largest, key(row));
        weight += candidates.weight(row);
    }
    int of_size = 0;
    std::frexp(std::bit_cast<float>(largest), &of_size);  // sizes < 2^of_size
    const auto of_weight = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(weight)));
    step_ = std::ldexp(1.0, of_size + of_weight - kSumBits);
    by_first_bits_ = sums_by_bits(0, 32, kFirstBits);
    for (const SizeSums& some : by_first_bits_) total_ += some;
}

std::vector<SizeSums> SizedRows::sums_by_bits(std::uint32_t prefix, int shift, int bits) const {
    const std::size_t n = candidates_.size();
    const std::size_t n_cells = std::size_t{1} << bits;
    const std::size_t n_parts = std::clamp<std::size_t>(n / kRowsPerPart, 1, 64);
    const std::uint64_t mask = n_cells - 1;
    const double per_step = 1.0 / step_;
    std::vector<SizeSums> cells(n_parts * n_cells);
    parallel_for(n_threads_, n_parts, [&](std::size_t part) {
        SizeSums* own = cells.data() + part * n_cells;
        for (std::size_t i = n * part / n_parts; i < n * (part + 1) / n_parts; ++i) {
            const std::uint32_t row = candidates_.row(i);
            const std::uint64_t bits_of_row = key(row);
            if ((bits_of_row ^ prefix) >> shift != 0) continue;
            const std::int64_t weight = candidates_.weight(row);
            const auto size = static_cast<std::int64_t>(double{sizes_[row]} * per_step);
            own[(bits_of_row >> (shift - bits)) & mask] += {weight, weight * size};
        }
    });
    for (std::size_t i = n_cells; i < cells.size(); ++i) cells[i % n_cells] += cells[i];
    cells.resize(n_cells);
    return cells;
}

}  // namespace spinney
