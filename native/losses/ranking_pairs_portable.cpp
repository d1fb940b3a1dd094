#include "native/base/elementary.hpp"
#include "native/losses/ranking_pairs.hpp"

#define NAME(x) x##_portable
#include "native/losses/ranking_pairs.inl"
