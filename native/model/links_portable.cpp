#include "native/base/elementary.hpp"
#include "native/model/links.hpp"

#define NAME(x) x##_portable
#include "native/model/links.inl"
