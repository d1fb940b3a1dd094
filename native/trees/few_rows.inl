// The loops of few_rows.hpp, included by one file per instruction set with NAME(x) = x_<isa>.

namespace spinney {
namespace {

/// Calls with every feature and every set that a cut of it may put left.
template <class Use>
void each_set(const RowsByRank& rows, const FewCuts& cuts, Use use) {
    for (std::size_t r = 0; r < rows.n_rows; ++r) {
        const RowSet* left = cuts.left + r * rows.n_lanes;
        for (std::size_t f = 0; f < rows.n_lanes; ++f) use(f, left[f]);
        if (!rows.any_missing) continue;
        for (std::size_t f = 0; f < rows.n_lanes; ++f) {
            use(f, static_cast<RowSet>(left[f] | cuts.missing[f]));
        }
    }
}

void find_sets(const RowsByRank& rows, const FewCuts& cuts) {
    const std::size_t n_lanes = rows.n_lanes;
    for (std::size_t f = 0; f < n_lanes && rows.any_missing; ++f) cuts.missing[f] = 0;
    for (std::size_t r = 0; r < rows.n_rows; ++r) {
        const std::uint16_t* own = rows.ranks[r];
        RowSet* left = cuts.left + r * n_lanes;
        const auto own_bit = static_cast<RowSet>(1U << r);
        for (std::size_t f = 0; f < n_lanes; ++f) left[f] = own_bit;
        for (std::size_t j = 0; j < rows.n_rows; ++j) {
            const std::uint16_t* other = rows.ranks[j];
            const auto bit = static_cast<RowSet>(1U << j);
            for (std::size_t f = 0; f < n_lanes; ++f) {
                left[f] |= other[f] <= own[f] ? bit : RowSet{0};
            }
        }
        for (std::size_t f = 0; f < n_lanes && rows.any_missing; ++f) {
            cuts.missing[f] |= own[f] == kNoRank ? own_bit : RowSet{0};
        }
    }
}

}  // namespace

void NAME(find_few_cuts)(const RowsByRank& rows, const std::uint16_t* worths, FewCuts& cuts) {
    find_sets(rows, cuts);
    std::uint16_t* best = cuts.room;
    for (std::size_t f = 0; f < rows.n_lanes; ++f) best[f] = 0;
    each_set(rows, cuts, [&](std::size_t f, RowSet set) {
        best[f] = worths[set] > best[f] ? worths[set] : best[f];
    });
    cuts.most = 0;
    for (std::size_t f = 0; f < rows.n_lanes; ++f) {
        cuts.most = best[f] > cuts.most ? best[f] : cuts.most;
    }
    cuts.is_one_parting = true;
    if (cuts.most == 0) return;
    const auto least = static_cast<std::uint16_t>(cuts.most - (cuts.most > 1 ? 1 : 0));
    for (std::size_t f = 0; f < rows.n_lanes; ++f) {
        std::uint32_t& tied = cuts.tied[f / kRankLanes];
        if (f % kRankLanes == 0) tied = 0;
        tied |= (best[f] >= least ? 1U : 0U) << f % kRankLanes;
    }
    const auto all = static_cast<RowSet>((1U << rows.n_rows) - 1U);
    RowSet first = 0;
    each_set(rows, cuts, [&](std::size_t /*f*/, RowSet set) {
        if (worths[set] < least) return;
        if (first == 0) first = set;
        if (set != first && set != (all ^ first)) cuts.is_one_parting = false;
    });
}

}  // namespace spinney
