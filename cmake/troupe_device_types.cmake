# troupe_device_types(NAME FUNCTION f TYPES cpu… DEPS libs…)
#
# The library NAME defines `const std::vector<DeviceFactory>& f()`, which lists what device_factory_TYPE() gives for each of TYPES;
# these are defined in DEPS.
function(troupe_device_types name)
  cmake_parse_arguments(arg "" "FUNCTION" "TYPES;DEPS" ${ARGN})
  set(declarations "")
  set(entries "")
  foreach(type IN LISTS arg_TYPES)
    string(APPEND declarations "DeviceFactory device_factory_${type}();\n")
    string(APPEND entries "device_factory_${type}(), ")
  endforeach()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${generated} CONTENT
"#include \"devices/factory.hpp\"
namespace troupe {
${declarations}const std::vector<DeviceFactory>& ${arg_FUNCTION}();
const std::vector<DeviceFactory>& ${arg_FUNCTION}() {
  static const std::vector<DeviceFactory> types = {${entries}};
  return types;
}
} // namespace troupe
" @ONLY)
  add_library(${name} STATIC ${generated})
  target_link_libraries(${name} PUBLIC troupe_settings devices ${arg_DEPS})
endfunction()

# troupe_find_device_types(VARIABLE ROOT): the folders of ROOT that are device types, each with its NAME_device.cpp.
function(troupe_find_device_types variable root)
  file(GLOB found CONFIGURE_DEPENDS ${root}/*/*_device.cpp)
  set(types "")
  foreach(path IN LISTS found)
    get_filename_component(folder ${path} DIRECTORY)
    get_filename_component(type ${folder} NAME)
    get_filename_component(file ${path} NAME)
    if(file STREQUAL "${type}_device.cpp")
      list(APPEND types ${type})
    endif()
  endforeach()
  set(${variable} ${types} PARENT_SCOPE)
endfunction()
