// All rows of a slice past all nodes of a tree, included by one file per instruction set with
// NAME(x) = x_<isa> and kWidth = bytes of a register. Comparisons of bytes: nothing is rounded, so
// every width gives the same leaves.

namespace spinney {
namespace {

typedef std::int8_t Bytes __attribute__((vector_size(kWidth), may_alias));

/// Four registers of leaves at a time: their chains of dependent instructions overlap, and with the
/// constants of a node they fit the sixteen that there are.
constexpr std::size_t kTogether = kByteRows < 4 * kWidth ? kByteRows / kWidth : 4;

[[gnu::always_inline]] inline Bytes all_equal(std::int8_t byte) { return Bytes{} + byte; }

[[gnu::always_inline]] inline void pass_nodes(const SliceTask& task, const std::int8_t* columns,
                                              std::uint8_t* found) {
    Bytes leaves[kTogether] = {};
    const SlicedNode* const end = task.nodes + task.n_nodes;
    for (const SlicedNode* at = task.nodes; at != end; ++at) {
        const SlicedNode node = *at;
        const Bytes threshold = all_equal(node.threshold);
        const Bytes from = all_equal(static_cast<std::int8_t>(node.from));
        const Bytes to = all_equal(static_cast<std::int8_t>(node.to));
        const Bytes* bytes =
            reinterpret_cast<const Bytes*>(columns + std::size_t{node.column} * kByteRows);
        for (std::size_t i = 0; i < kTogether; ++i) {
            const Bytes goes_right = (bytes[i] > threshold) & (leaves[i] == from);
            leaves[i] = goes_right ? to : leaves[i];
        }
    }
    for (std::size_t i = 0; i < kTogether; ++i) reinterpret_cast<Bytes*>(found)[i] = leaves[i];
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
        for (std::size_t i = 0; i < kByteRows; i += kTogether * kWidth) {
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
