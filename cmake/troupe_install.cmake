# `cmake --install`: the executable; the library as one file, libtroupe.a, or libtroupe.so with TROUPE_SHARED, with its headers; what
# find_package(troupe) and pkg-config read.
#
# Headers lie under include/troupe/detail as they lie here; include/troupe/session.hpp and its like lead to them. Their includes are written
# anew on the way, as "troupe/detail/core/base/status.hpp": include/ is the only folder that a user's compiler is told, so that neither a
# user's own api/scope.hpp is taken for ours nor ours for the user's.

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
if(TROUPE_SHARED)
  add_library(troupe_merged SHARED)
  set_target_properties(troupe_merged PROPERTIES VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}) # below 1.0 a minor version may change an interface
else()
  add_library(troupe_merged STATIC)
endif()
set_target_properties(troupe_merged PROPERTIES OUTPUT_NAME troupe EXPORT_NAME troupe LINKER_LANGUAGE CXX)
target_compile_features(troupe_merged INTERFACE cxx_std_20)
target_include_directories(troupe_merged INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
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
if(TROUPE_SHARED) # our headers name nothing foreign, so users link none of it
  target_link_libraries(troupe_merged PRIVATE ${foreign})
else()
  target_link_libraries(troupe_merged INTERFACE ${foreign})
endif()
if(TROUPE_SANITIZE)
  target_link_options(troupe_merged INTERFACE -fsanitize=${TROUPE_SANITIZE})
endif()

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/troupe)
set(headers_dir ${CMAKE_INSTALL_INCLUDEDIR}/troupe)
install(TARGETS troupe_merged EXPORT troupe-targets 
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
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

install(CODE "set(headers_dir ${headers_dir})" COMPONENT development)
install(SCRIPT cmake/rewrite_installed_includes.cmake COMPONENT development)

# For builds without CMake: `c++ program.cpp $(pkg-config --cflags --libs troupe)`. What libtroupe.a needs stands among its own flags, since
# none of it has a .pc file but protobuf.
file(RELATIVE_PATH to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
set(needed "")
foreach(library IN LISTS foreign)
  if(TROUPE_SHARED)
    break()
  elseif(library STREQUAL "Threads::Threads")
    string(APPEND needed " -pthread")
  elseif(TARGET ${library})
    string(APPEND needed " $<TARGET_FILE:${library}>")
  elseif(library MATCHES "^[/-]")
    string(APPEND needed " ${library}")
  else()
    string(APPEND needed " -l${library}")
  endif()
endforeach()
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/troupe.pc CONTENT "prefix=\${pcfiledir}/${to_prefix}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: troupe
Description: TensorFlow graphs on a cluster of actors
Version: ${PROJECT_VERSION}
Cflags: -std=c++20 -I\${includedir}
Libs: -L\${libdir} -ltroupe${needed}
")
install(FILES ${PROJECT_BINARY_DIR}/troupe.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# Completion and manual pages, from what the executable says of its commands.
if(TARGET troupe)
  set(shell_bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions/troupe)
  set(shell_zsh ${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_troupe)
  set(shell_fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/troupe.fish)
  set(pages ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_MANDIR}/man1)
  set(commands "")
  foreach(shell bash zsh fish)
    get_filename_component(folder ${PROJECT_BINARY_DIR}/${shell_${shell}} DIRECTORY)
    list(APPEND commands COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
                         COMMAND troupe completion ${shell} > ${PROJECT_BINARY_DIR}/${shell_${shell}})
    get_filename_component(folder ${shell_${shell}} DIRECTORY)
    install(FILES ${PROJECT_BINARY_DIR}/${shell_${shell}} DESTINATION ${folder} COMPONENT runtime)
  endforeach()
  list(APPEND commands COMMAND ${CMAKE_COMMAND} -E make_directory ${pages} COMMAND troupe man > ${pages}/troupe.1)
  get_property(names TARGET troupe PROPERTY TROUPE_COMMANDS)
  foreach(name IN LISTS names)
    list(APPEND commands COMMAND troupe man ${name} > ${pages}/troupe-${name}.1)
  endforeach()
  add_custom_command(OUTPUT ${pages}/troupe.1 ${commands} DEPENDS troupe VERBATIM
                     COMMENT "Writing completion scripts and manual pages")
  add_custom_target(troupe_pages ALL DEPENDS ${pages}/troupe.1)
  install(DIRECTORY ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT runtime)
endif()

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
