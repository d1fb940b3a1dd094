// Included inside the anonymous namespace of each bin_search_<isa>.cpp, after its count_below() and
// broadcast(). Inline functions with external linkage must not be called from such a file: the linker
// keeps one copy of them, and it could be the one made for the newest instruction set.

template <class T>
void search(const T* values, std::size_t n, const CutTable<T>& table, int n_groups,
            std::uint8_t* counts) {
    if (n_groups == 1) {
        for (std::size_t i = 0; i < n; ++i) {
            counts[i] = static_cast<std::uint8_t>(count_below(table.cuts, broadcast(values + i)));
        }
        return;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const auto x = broadcast(values + i);
        const unsigned group = 16 * count_below(table.last_of_group, x);
        counts[i] = static_cast<std::uint8_t>(group + count_below(table.cuts + group, x));
    }
}
