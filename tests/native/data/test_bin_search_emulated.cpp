// The AVX-512 kernel from its own source, with the intrinsics replaced by plain loops: a mistake in
// its logic shows on machines that cannot run it. What the compiler makes of the real intrinsics is
// tested by test_bin_search.cpp, on machines that can.

#include "tests/native/data/bin_search_cases.hpp"

// The kernel is compiled only where the compiler may use AVX-512. All other headers are in by now,
// so none of them can take this for the truth.
#if !defined(__AVX512F__)
#define __AVX512F__ 1
#endif
// Another name, as the library has the real one.
#define bin_search_avx512 bin_search_emulated
#include "native/data/bin_search_avx512.cpp"
#undef bin_search_avx512

// The intrinsics are the emulated ones: the compiler's registers are not structs with lanes.
static_assert(sizeof(__m512{}.lane) == 64 && sizeof(__m512d{}.lane) == 64);

TEST(the_emulated_kernel_counts_as_a_plain_loop_does_for_every_number_of_cuts) {
    cases::check_all_cut_counts<float>(spinney::bin_search_emulated, 300);
    cases::check_all_cut_counts<double>(spinney::bin_search_emulated, 300);
}

TEST(the_emulated_kernel_handles_every_length_and_alignment) {
    cases::check_all_lengths<float>(spinney::bin_search_emulated);
    cases::check_all_lengths<double>(spinney::bin_search_emulated);
}

TEST(the_emulated_kernel_agrees_on_zeros_infinities_and_nan) {
    cases::check_special_values<float>(spinney::bin_search_emulated);
    cases::check_special_values<double>(spinney::bin_search_emulated);
}

TEST(the_emulated_kernel_follows_strides) {
    cases::check_strides<float>(spinney::bin_search_emulated);
    cases::check_strides<double>(spinney::bin_search_emulated);
}

TEST(the_emulation_faults_where_the_instruction_would) {
    alignas(64) float numbers[32] = {};
    CHECK(_mm512_load_ps(numbers).lane[15] == 0);
    CHECK_THROWS(std::logic_error, _mm512_load_ps(numbers + 1));
}

CHECK_MAIN
