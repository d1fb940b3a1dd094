#include "native/data/bin_search.hpp"

#define NAME(x) x##_portable
#include "native/data/bin_search_grid.inl"
