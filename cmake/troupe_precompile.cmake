# Precompiled headers: what half of the compiler's time went into is parsing the headers that neighbours have in common.
#
# A set of headers is compiled once and shared by every target that troupe_precompile names it for. Sets are shared only between
# targets with the flags of troupe_settings: the library's own optimisation may differ (-O1, -O2), -Os, -fPIE and an instruction
# set may not. A source still includes what it uses; TROUPE_PRECOMPILE=OFF shows an include that is missing.

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(TROUPE_PRECOMPILE OFF) # clang shares less between targets, and builds the fuzz targets alone
endif()

# troupe_precompiled_set(NAME [DEPS libs…] HEADERS headers…): declares a set. DEPS are libraries of others whose headers it names; ours all lie
# under one root, and none of them is linked, since it begins with the set itself.
function(troupe_precompiled_set name)
  cmake_parse_arguments(arg "" "" "DEPS;HEADERS" ${ARGN})
  if(NOT TROUPE_PRECOMPILE)
    return()
  endif()
  set(unit ${CMAKE_CURRENT_BINARY_DIR}/precompiled_${name}.cpp)
  file(CONFIGURE OUTPUT ${unit} CONTENT "// Only for its precompiled headers.\n")
  add_library(precompiled_${name} OBJECT ${unit})
  target_link_libraries(precompiled_${name} PRIVATE troupe_settings ${arg_DEPS})
  target_precompile_headers(precompiled_${name} PRIVATE ${arg_HEADERS})
endfunction()

# troupe_precompile(SET targets…): the targets begin with that set's headers. Targets that do not exist are passed over.
function(troupe_precompile name)
  foreach(target IN LISTS ARGN)
    if(TROUPE_PRECOMPILE AND TARGET ${target})
      get_target_property(type ${target} TYPE)
      if(NOT type STREQUAL INTERFACE_LIBRARY)
        target_precompile_headers(${target} REUSE_FROM precompiled_${name})
      endif()
    endif()
  endforeach()
endfunction()
