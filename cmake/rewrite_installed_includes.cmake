# Run by `cmake --install`, with `headers_dir` below the prefix: our headers name each other from include/ on.
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE OUTPUT_VARIABLE prefix)
file(GLOB_RECURSE headers "$ENV{DESTDIR}${prefix}/${headers_dir}/detail/*.hpp" "$ENV{DESTDIR}${prefix}/${headers_dir}/detail/*.def")
foreach(header IN LISTS headers)
  file(READ "${header}" text)
  string(REGEX REPLACE "#include \"(core|graph|devices|api)/" "#include \"troupe/detail/\\1/" text "${text}")
  file(WRITE "${header}" "${text}")
endforeach()
