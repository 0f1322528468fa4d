# troupe_op_family(NAME [DEPS libs…])
#
# Builds kernels/NAME/*.cpp into kernels_NAME and generates register_NAME(), which calls NAME_FILE::register_ops() for every file:
# adding an op is adding a file. A file that does not define its function is a link error, and the namespace of its own lets
# its neighbours, with which it is compiled in batches, have a compute() and an infer() too. Its *.cu are kernels for GPUs (troupe_cuda). Files ending in _test.cpp hold the
# case tables and become test_kernels_NAME. A folder's internal/*.cpp are built in but register nothing.
function(troupe_op_family family)
  cmake_parse_arguments(arg "" "" "DEPS" ${ARGN})
  set(dir ${CMAKE_CURRENT_SOURCE_DIR}/${family})
  file(GLOB ops CONFIGURE_DEPENDS ${dir}/*.cpp)
  file(GLOB tests CONFIGURE_DEPENDS ${dir}/*_test.cpp)
  file(GLOB internals CONFIGURE_DEPENDS ${dir}/internal/*.cpp)
  list(REMOVE_ITEM ops ${tests} "")
  set(declarations "")
  set(calls "")
  foreach(path IN LISTS ops)
    get_filename_component(op ${path} NAME_WE)
    string(APPEND declarations "namespace ${family}_${op} {\nvoid register_ops(OpLibrary& library);\n}\n")
    string(APPEND calls "  ${family}_${op}::register_ops(library);\n")
  endforeach()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/register_${family}.cpp)
  file(CONFIGURE OUTPUT ${generated} CONTENT
"#include \"kernels/framework/op_library.hpp\"
namespace troupe {
${declarations}
void register_${family}(OpLibrary& library);
void register_${family}([[maybe_unused]] OpLibrary& library) {
${calls}}
} // namespace troupe
" @ONLY)
  troupe_gpu_code(images ${family})
  add_library(kernels_${family} STATIC ${ops} ${internals} ${generated} ${images})
  target_link_libraries(kernels_${family} PUBLIC troupe_settings kernels_framework kernels_gpu ${arg_DEPS})
  troupe_precompile(kernels kernels_${family})
  troupe_batched(kernels_${family} 16)
  set_property(GLOBAL APPEND PROPERTY TROUPE_OP_FAMILIES ${family})
  file(GLOB headers CONFIGURE_DEPENDS ${dir}/*.hpp ${dir}/internal/*.hpp)
  troupe_check_headers(kernels_${family} "${headers}")
  if(TROUPE_TESTS AND tests)
    troupe_test(test_kernels_${family} SOURCES ${tests} DEPS kernels_all kernels_testing)
    troupe_batched(test_kernels_${family} 16)
    troupe_precompile(kernels test_kernels_${family})
  endif()
endfunction()

# kernels_all: every family, behind one function `register_all_ops(OpLibrary&)`.
function(troupe_all_op_families)
  get_property(families GLOBAL PROPERTY TROUPE_OP_FAMILIES)
  set(declarations "")
  set(calls "")
  foreach(family IN LISTS families)
    string(APPEND declarations "void register_${family}(OpLibrary& library);\n")
    string(APPEND calls "  register_${family}(library);\n")
  endforeach()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/register_all.cpp)
  file(CONFIGURE OUTPUT ${generated} CONTENT
"#include \"kernels/framework/op_library.hpp\"
namespace troupe {
${declarations}
void register_all_ops(OpLibrary& library) {
${calls}}
const OpLibrary& op_library() {
  // Never destroyed: graphs point into it until the process ends.
  static const OpLibrary& library = [] () -> OpLibrary& {
    auto* made = new OpLibrary;
    register_all_ops(*made);
    return *made;
  }();
  return library;
}
} // namespace troupe
" @ONLY)
  list(TRANSFORM families PREPEND kernels_ OUTPUT_VARIABLE libraries)
  add_library(kernels_all STATIC ${generated})
  target_link_libraries(kernels_all PUBLIC troupe_settings ${libraries})
endfunction()
