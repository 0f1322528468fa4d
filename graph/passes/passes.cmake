# graph/passes: every *.cpp directly in this folder is a pass and defines `Pass pass_<file>()`; the generated file lists them.
file(GLOB pass_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/passes/*.cpp)
list(FILTER pass_files EXCLUDE REGEX "_(test|bench)\\.cpp$")
set(declarations "")
set(entries "")
foreach(path IN LISTS pass_files)
  get_filename_component(pass ${path} NAME_WE)
  string(APPEND declarations "Pass pass_${pass}();\n")
  string(APPEND entries "    pass_${pass}(),\n")
endforeach()
set(generated ${CMAKE_CURRENT_BINARY_DIR}/all_passes.cpp)
file(CONFIGURE OUTPUT ${generated} CONTENT
"#include \"graph/passes/internal/pass_list.hpp\"
namespace troupe {
${declarations}
std::vector<Pass> listed_passes() {
  return {
${entries}  };
}
} // namespace troupe
" @ONLY)
file(GLOB pass_internals CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/passes/internal/*.cpp)
troupe_library(graph_passes DIR passes DEPS graph_ir SOURCES ${pass_internals} ${generated})
