# Compiler flags that every target shares, ccache and the sanitizers.

find_program(COLIBRI_CCACHE ccache)
if(COLIBRI_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${COLIBRI_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${COLIBRI_CCACHE}")
endif()

set(COLIBRI_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")

add_library(colibri_flags INTERFACE)
# -ffp-contract=off: every fused multiply-add is written out, so all instruction sets round alike (docs/numerics.md).
target_compile_options(colibri_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlaps in std::string concatenation that are not there (GCC bug 105651).
  target_compile_options(colibri_flags INTERFACE -Wno-restrict)
endif()
target_compile_definitions(colibri_flags INTERFACE
  $<$<CONFIG:Debug>:COLIBRI_DEBUG> _FILE_OFFSET_BITS=64)
if(COLIBRI_SANITIZE)
  add_compile_options(-fsanitize=${COLIBRI_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${COLIBRI_SANITIZE})
  add_compile_definitions(COLIBRI_SANITIZED)
endif()
