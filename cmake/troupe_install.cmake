# `cmake --install`: the executable; the library as one file, libtroupe.a, with its headers; what find_package(troupe) reads.
#
# Headers lie under include/troupe/detail as they lie here, and find each other there; include/troupe/session.hpp and its like lead to them.

# Every library of this project that `root` is made of, and what those need from elsewhere.
function(troupe_collect root out_own out_foreign)
  set(queue ${root})
  set(own "")
  set(foreign "")
  while(queue)
    list(POP_FRONT queue name)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" name "${name}")
    if(name IN_LIST own OR name IN_LIST foreign OR name STREQUAL "" OR name MATCHES "^::@")
      continue()
    endif()
    set(is_own FALSE)
    if(TARGET ${name})
      get_target_property(imported ${name} IMPORTED)
      if(NOT imported)
        set(is_own TRUE)
      endif()
    endif()
    if(NOT is_own)
      list(APPEND foreign ${name})
      continue()
    endif()
    list(APPEND own ${name})
    get_target_property(type ${name} TYPE)
    get_target_property(links ${name} INTERFACE_LINK_LIBRARIES)
    if(links)
      list(APPEND queue ${links})
    endif()
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      get_target_property(links ${name} LINK_LIBRARIES)
      if(links)
        list(APPEND queue ${links})
      endif()
    endif()
  endwhile()
  set(${out_own} ${own} PARENT_SCOPE)
  set(${out_foreign} ${foreign} PARENT_SCOPE)
endfunction()

include(GNUInstallDirs)
troupe_collect(api own foreign)
add_library(troupe_merged STATIC)
set_target_properties(troupe_merged PROPERTIES OUTPUT_NAME troupe EXPORT_NAME troupe LINKER_LANGUAGE CXX)
target_compile_features(troupe_merged INTERFACE cxx_std_20)
target_include_directories(troupe_merged INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                                                   $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/troupe/detail>)
foreach(library IN LISTS own)
  get_target_property(type ${library} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    target_sources(troupe_merged PRIVATE $<TARGET_OBJECTS:${library}>)
    # Objects that a library borrows from another target are not its own.
    get_target_property(sources ${library} SOURCES)
    list(FILTER sources INCLUDE REGEX "TARGET_OBJECTS")
    target_sources(troupe_merged PRIVATE ${sources})
  endif()
endforeach()
list(REMOVE_ITEM foreign Eigen3::Eigen) # headers only, and none of ours
target_link_libraries(troupe_merged INTERFACE ${foreign})
if(TROUPE_SANITIZE)
  target_link_options(troupe_merged INTERFACE -fsanitize=${TROUPE_SANITIZE})
endif()

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/troupe)
set(headers_dir ${CMAKE_INSTALL_INCLUDEDIR}/troupe)
install(TARGETS troupe_merged EXPORT troupe-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT troupe-targets NAMESPACE troupe:: DESTINATION ${config_dir} COMPONENT development)
if(TARGET troupe)
  install(TARGETS troupe RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
endif()

foreach(folder core graph devices)
  install(DIRECTORY ${folder} DESTINATION ${headers_dir}/detail COMPONENT development
          FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def" PATTERN internal EXCLUDE PATTERN "test_*" EXCLUDE)
endforeach()
foreach(header session pending_run scope variable op_call)
  install(FILES api/${header}.hpp DESTINATION ${headers_dir}/detail/api COMPONENT development)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/api/ops.hpp DESTINATION ${headers_dir}/detail/api COMPONENT development)
foreach(path api/session.hpp api/scope.hpp api/variable.hpp api/ops.hpp core/tensor/tensor.hpp core/base/status.hpp
             devices/device.hpp)
  get_filename_component(file ${path} NAME)
  file(CONFIGURE OUTPUT include/troupe/${file} CONTENT "#pragma once\n#include \"troupe/detail/${path}\"\n")
  install(FILES ${PROJECT_BINARY_DIR}/include/troupe/${file} DESTINATION ${headers_dir} COMPONENT development)
endforeach()

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/troupe-config.cmake.in troupe-config.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(troupe-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/troupe-config.cmake ${PROJECT_BINARY_DIR}/troupe-config-version.cmake
              cmake/FindCAF.cmake
        DESTINATION ${config_dir} COMPONENT development)

if(TROUPE_TESTS)
  add_test(NAME install_and_use
           COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR}/tests/install
                   -DSCRATCH=${PROJECT_BINARY_DIR}/install_test -DCOMPILER=${CMAKE_CXX_COMPILER}
                   -DREADME=${PROJECT_SOURCE_DIR}/README.md -P ${PROJECT_SOURCE_DIR}/tests/install/run.cmake)
  set_tests_properties(install_and_use PROPERTIES LABELS integration TIMEOUT 600)
endif()
