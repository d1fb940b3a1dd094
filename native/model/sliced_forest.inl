// All rows of a slice past all nodes of a tree, included by one file per instruction set with
// NAME(x) = x_<isa> and kWidth = bytes of a register. Comparisons of bytes: nothing is rounded, so
// every width gives the same leaves.

namespace spinney {
namespace {

typedef std::int8_t Bytes __attribute__((vector_size(kWidth), may_alias));

constexpr std::size_t kRegisters = kByteRows / kWidth;
/// Four registers of leaves at a time: their chains of dependent instructions overlap, and with the
/// constants of a node they fit the sixteen that there are.
constexpr std::size_t kTogether = kRegisters < 4 ? kRegisters : 4;

[[gnu::always_inline]] inline Bytes all_equal(std::int8_t byte) { return Bytes{} + byte; }

[[gnu::always_inline]] inline void pass_nodes(const SliceTask& task, std::size_t first) {
    Bytes leaves[kTogether] = {};
    const SlicedNode* const end = task.nodes + task.n_nodes;
    for (const SlicedNode* at = task.nodes; at != end; ++at) {
        const SlicedNode node = *at;
        const Bytes threshold = all_equal(node.threshold);
        const Bytes from = all_equal(static_cast<std::int8_t>(node.from));
        const Bytes to = all_equal(static_cast<std::int8_t>(node.to));
        const Bytes* bytes = reinterpret_cast<const Bytes*>(
            task.bytes + std::size_t{node.column} * kByteRows + first * kWidth);
        for (std::size_t i = 0; i < kTogether; ++i) {
            const Bytes goes_right = (bytes[i] > threshold) & (leaves[i] == from);
            leaves[i] = goes_right ? to : leaves[i];
        }
    }
    Bytes* found = reinterpret_cast<Bytes*>(task.leaves + first * kWidth);
    for (std::size_t i = 0; i < kTogether; ++i) found[i] = leaves[i];
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
    for (std::size_t i = 0; i < task.n_sets; ++i) {
        const SlicedSet& set = task.sets[i];
        answer(set.goes_right, task.bytes + std::size_t{set.column} * kByteRows,
               task.bytes + std::size_t{set.answers} * kByteRows);
    }
    for (std::size_t first = 0; first < kRegisters; first += kTogether) pass_nodes(task, first);
}

void NAME(add_leaves)(const double* values, const std::uint8_t* leaves, double* scores) {
    for (std::size_t i = 0; i < kByteRows; i += 8) add_eight(values, leaves + i, scores + i);
}

}  // namespace spinney
