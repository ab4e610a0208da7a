# What every target shares: warnings, sanitizers, the compiler cache, and how folders become source lists. Nothing here reaches an
# installed package: scantling_options is linked for building only.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()

# Only the loops that carry numbers gain from -O3 (scantling_vector_loops); elsewhere it costs build time.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(scantling_vector_loops nn/kernels/norm nn/kernels/elementwise nn/kernels/softmax_nll optim/adamw optim/sgd optim/gradient_norm
    comm/reduce_kernels core/dtype)
list(TRANSFORM scantling_vector_loops REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/scantling/\\1.cpp")
if(NOT SCANTLING_SANITIZE)  # g++ 12 crashes on some of them when it instruments and optimizes this far
  set_source_files_properties(${scantling_vector_loops} PROPERTIES COMPILE_OPTIONS "-O3")
endif()

# ccache serves the precompiled header and its users only when told that its defines and time macros do not matter.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND (NOT CMAKE_CXX_COMPILER_LAUNCHER OR CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache$"))
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()

add_library(scantling_options INTERFACE)
target_compile_options(scantling_options INTERFACE -Wall -Wextra -Werror -Wno-missing-field-initializers -fopenmp-simd)
# Every operation of a kernel is rounded by itself, so its bits do not depend on the instruction set; square roots need no errno.
target_compile_options(scantling_options INTERFACE -ffp-contract=off -fno-math-errno)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ 12 warns falsely of `"text" + string` when it optimizes (GCC bug 105651).
  target_compile_options(scantling_options INTERFACE -fpch-preprocess -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
endif()
if(SCANTLING_SANITIZE)
  # g++ 12 warns of uninitialized values inside the standard library when it instruments.
  target_compile_options(scantling_options INTERFACE -fsanitize=${SCANTLING_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
                         -Wno-maybe-uninitialized)
  target_link_options(scantling_options INTERFACE -fsanitize=${SCANTLING_SANITIZE})
endif()

# Puts the .cpp files of the named folders of scantling/ into `out`.
function(scantling_sources out)
  set(found "")
  foreach(folder ${ARGN})
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scantling/${folder}/*.cpp)
    list(APPEND found ${files})
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()
