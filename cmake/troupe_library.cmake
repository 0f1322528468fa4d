# troupe_library(NAME DIR dir [DEPS libs…] [LABEL unit])
#
# Builds every *.cpp of `dir` (not *_test.cpp, not *_bench.cpp) into the static library NAME. Its *_test.cpp files become the
# executable test_NAME and one ctest of that name; its headers join the target `check_headers`, which compiles each alone.
# DEPS are what the library's code may include; they are the layers of docs/architecture.md.
function(troupe_library name)
  cmake_parse_arguments(arg "" "DIR;LABEL" "DEPS;TEST_DEPS;SOURCES" ${ARGN})
  set(dir ${CMAKE_CURRENT_SOURCE_DIR}/${arg_DIR})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cpp)
  file(GLOB tests CONFIGURE_DEPENDS ${dir}/*_test.cpp)
  file(GLOB benches CONFIGURE_DEPENDS ${dir}/*_bench.cpp)
  file(GLOB headers CONFIGURE_DEPENDS ${dir}/*.hpp ${dir}/internal/*.hpp ${dir}/wire/*.hpp ${dir}/local/*.hpp)
  list(REMOVE_ITEM sources ${tests} ${benches} "")
  list(APPEND sources ${arg_SOURCES})
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC troupe_settings ${arg_DEPS})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE troupe_settings ${arg_DEPS})
  endif()
  troupe_check_headers(${name} "${headers}")
  if(TROUPE_TESTS AND tests)
    troupe_test(test_${name} SOURCES ${tests} DEPS ${name} ${arg_TEST_DEPS} LABEL ${arg_LABEL})
  endif()
  troupe_batched(${name})
  troupe_batched(test_${name})
endfunction()

# Compiles a target's files eight, or so many, at a time: most of what a small file costs the compiler are the headers that its neighbours include too.
# They become one unit, so two of them must not give one name to two things in unnamed namespaces. Nothing to do where there is no target.
function(troupe_batched target)
  set(size 8)
  if(ARGC GREATER 1)
    set(size ${ARGV1})
  endif()
  if(TROUPE_BATCHES AND TARGET ${target})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
    # An Impl of types from its file's unnamed namespace is taken for a header's once its file is not the unit itself.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# troupe_test(NAME SOURCES … DEPS … [LABEL unit]): a doctest executable that shares the one compiled main, and its ctest.
#
# A release build compiles a test's own files at -Og, in half of the time of -O2: what a test spends its time in are the libraries.
function(troupe_test name)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;DEPS" ${ARGN})
  if(NOT arg_LABEL)
    set(arg_LABEL unit)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} test_main troupe_settings)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-Og>)
  target_compile_definitions(${name} PRIVATE DOCTEST_CONFIG_NO_TRY_CATCH_IN_ASSERTS) # nothing here throws; less to compile
  # Position-independent as the libraries are, not as programs are, which could not share precompiled headers with them.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF TROUPE_QUICK_LINK ON)
  target_compile_options(${name} PRIVATE -fPIC $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>) # false of optionals at -Og
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT 300)
endfunction()

# Compiles each header alone; part of the target `check_headers`, outside the ordinary build.
function(troupe_check_headers name headers)
  if(NOT TARGET check_headers)
    add_custom_target(check_headers)
  endif()
  set(units "")
  foreach(header IN LISTS headers)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${header})
    string(REPLACE "/" "_" unit ${path})
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/headers/${unit}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${path}\"\n")
    list(APPEND units ${unit})
  endforeach()
  if(units)
    add_library(headers_${name} OBJECT EXCLUDE_FROM_ALL ${units})
    target_link_libraries(headers_${name} PRIVATE ${name})
    add_dependencies(check_headers headers_${name})
  endif()
endfunction()

add_library(test_main STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/support/main.cpp)
target_compile_features(test_main PRIVATE cxx_std_20)
