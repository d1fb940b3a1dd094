// Included inside the anonymous namespace of each bin_search_<isa>.cpp, after its Group,
// load_group(), broadcast() and count_below(). Inline functions with external linkage must not be
// called from such a file: the linker keeps one copy of them, and it could be the one made for the
// newest instruction set. BinTask::value() is therefore not used here.

/// One step suffices when all cuts stand in the first group.
template <bool kOneGroup, class T>
void search_groups(const BinTask<T> task) {  // by value: a store through `bin` cannot change it
    const T* const cuts = task.table->cuts;
    const auto first_step = load_group(kOneGroup ? cuts : task.table->last_of_group);
    const std::byte* value = task.values;
    std::uint8_t* bin = task.bins;
    for (std::size_t i = 0; i < task.n; ++i) {
        const T* number = reinterpret_cast<const T*>(value);
        const auto x = broadcast(number);
        unsigned below = count_below(first_step, x);
        if constexpr (!kOneGroup) {
            const unsigned group = 16 * below;
            below = group + count_below(load_group(cuts + group), x);
        }
        *bin = *number == *number ? static_cast<std::uint8_t>(below) : task.missing_bin;
        value += task.value_stride;
        bin += task.bin_stride;
    }
}

template <class T>
void search(const BinTask<T>& task) {
    task.n_groups == 1 ? search_groups<true>(task) : search_groups<false>(task);
}
