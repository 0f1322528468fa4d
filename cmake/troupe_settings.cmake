# What holds for every target: language, build type, warnings, sanitizers, compiler cache.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")          # assertions stay on; kernels raise it to -O3 for themselves

find_program(TROUPE_CCACHE ccache)
if(TROUPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers hold no time of day, and macros that change change the headers' own hash.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${TROUPE_CCACHE})
endif()

add_library(troupe_settings INTERFACE)
target_include_directories(troupe_settings INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                                     $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)
target_compile_options(troupe_settings INTERFACE -Wall -Wextra $<$<BOOL:${TROUPE_WERROR}>:-Werror>)
# g++ collects its own garbage from 128 MiB on, which takes a tenth of the time of large units: from 1 GiB on is early enough.
target_compile_options(troupe_settings INTERFACE
                       $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-expand=100$<SEMICOLON>--param=ggc-min-heapsize=1048576>)
# Small programs: code that nobody calls goes, and so do nine tenths of the table of addresses to relocate.
# Tests are many and nobody's to keep: a target whose TROUPE_QUICK_LINK is on is linked by lld where that is installed, in a fifth of the time.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=lld TROUPE_LINKER_HAS_LLD)
set(quick $<BOOL:$<TARGET_PROPERTY:TROUPE_QUICK_LINK>>)
if(TROUPE_LINKER_HAS_LLD)
  target_link_options(troupe_settings INTERFACE $<BUILD_INTERFACE:$<${quick}:-fuse-ld=lld>>)
endif()
foreach(flag IN ITEMS --gc-sections -z,pack-relative-relocs)
  string(MAKE_C_IDENTIFIER "TROUPE_LINKER_HAS_${flag}" known)
  check_linker_flag(CXX -Wl,${flag} ${known})
  if(${known})
    target_link_options(troupe_settings INTERFACE $<BUILD_INTERFACE:$<$<NOT:${quick}>:LINKER:${flag}>>)
  endif()
endforeach()
target_compile_definitions(troupe_settings INTERFACE CAF_ENABLE_TYPE_ID_CHECKS)
if(TROUPE_SANITIZE)
  # g++ 12 reports uninitialised parts of std::optional and std::variant that only the instrumentation makes it see.
  target_compile_options(troupe_settings INTERFACE -fsanitize=${TROUPE_SANITIZE} -O1 -fno-omit-frame-pointer -g1
                                                   -Wno-maybe-uninitialized)
  if(TROUPE_SANITIZE STREQUAL thread)
    # TSan does not model fences, and g++ warns of each. Ours stand beside atomics, which TSan does see.
    target_compile_options(troupe_settings INTERFACE -Wno-tsan)
  endif()
  target_link_options(troupe_settings INTERFACE -fsanitize=${TROUPE_SANITIZE})
endif()
if(TROUPE_FUZZ)
  # Everything is instrumented, also for what the sanitizers see; only the targets get the fuzzer's main.
  set(fuzz_flags -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1)
  target_compile_options(troupe_settings INTERFACE ${fuzz_flags})
  target_link_options(troupe_settings INTERFACE ${fuzz_flags})
endif()
if(TROUPE_TESTS)
  enable_testing()
endif()
