#pragma once
// A property that must hold for every input; a fuzz target dies where it does not.

#include <cstdio>
#include <cstdlib>

namespace colibri::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

}  // namespace colibri::fuzz
