// All rows of a slice past all nodes of a tree, included by one file per instruction set with
// NAME(x) = x_<isa>, behind its Bytes, a register of them, and what it does with them: all_equal(),
// store(), answer(), and advance(), which moves the rows that go right from one leaf to another.
// Comparisons of bytes: nothing is rounded, so every width gives the same leaves.

namespace spinney {
namespace {

/// Six registers of leaves at a time: their chains of dependent instructions overlap, and with the
/// constants of a node they fit the sixteen that there are. Eight do not, and four leave the
/// processor waiting.
constexpr std::size_t kTogether = kByteRows < 6 * sizeof(Bytes) ? kByteRows / sizeof(Bytes) : 6;

[[gnu::always_inline]] inline void pass_nodes(const SliceTask& task, const std::int8_t* columns,
                                              std::uint8_t* found) {
    Bytes leaves[kTogether] = {};
    const SlicedNode* const end = task.nodes + task.n_nodes;
    for (const SlicedNode* node = task.nodes; node != end; ++node) {
        const Bytes limit = all_equal(node->limit);
        const Bytes from = all_equal(static_cast<std::int8_t>(node->from));
        const Bytes to = all_equal(static_cast<std::int8_t>(node->to));
        const std::int8_t* bytes = columns + std::size_t{node->column} * kByteRows;
        for (std::size_t i = 0; i < kTogether; ++i) {
            leaves[i] = advance(leaves[i], bytes + i * sizeof(Bytes), limit, from, to);
        }
    }
    for (std::size_t i = 0; i < kTogether; ++i) store(leaves[i], found + i * sizeof(Bytes));
}

typedef double Doubles __attribute__((vector_size(32), may_alias));

/// Eight leaves in one load: a load for each would be half of all loads here.
[[gnu::always_inline]] inline void add_eight(const double* values, const std::uint8_t* leaves,
                                             double* scores) {
    std::uint64_t eight;
    __builtin_memcpy(&eight, leaves, sizeof eight);
    const auto value = [&](int i) { return values[(eight >> (8 * i)) & 255U]; };
    Doubles* sums = reinterpret_cast<Doubles*>(scores);
    sums[0] += Doubles{value(0), value(1), value(2), value(3)};
    sums[1] += Doubles{value(4), value(5), value(6), value(7)};
}

}  // namespace

void NAME(find_leaves)(const SliceTask& task) {
    for (std::size_t slice = 0; slice < task.n_slices; ++slice) {
        std::int8_t* bytes = task.bytes + slice * task.slice_size;
        std::uint8_t* leaves = task.leaves + slice * kByteRows;
        for (std::size_t i = 0; i < task.n_sets; ++i) {
            const SlicedSet& set = task.sets[i];
            answer(set.goes_right, bytes + std::size_t{set.column} * kByteRows,
                   bytes + std::size_t{set.answers} * kByteRows);
        }
        for (std::size_t i = 0; i < kByteRows; i += kTogether * sizeof(Bytes)) {
            pass_nodes(task, bytes + i, leaves + i);
        }
    }
}

void NAME(add_leaves)(const AddTask& task) {
    for (std::size_t slice = 0; slice < task.n_slices; ++slice) {
        const std::uint8_t* leaves = task.leaves + slice * kByteRows;
        double* scores = task.scores + slice * task.stride;
        for (std::size_t i = 0; i < kByteRows; i += 8) {
            add_eight(task.values, leaves + i, scores + i);
        }
    }
}

}  // namespace spinney
