# Installs BUILD's library into a prefix of its own below SCRATCH, then configures, builds and runs against it the program in SOURCE
# and the one that README shows.
file(REMOVE_RECURSE ${SCRATCH})
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${result}): ${command}\n${output}")
  endif()
  message(STATUS "${output}")
endfunction()
# The program of the project's README, in one process.
file(READ ${README} program)
string(FIND "${program}" "```cpp" begin)
math(EXPR begin "${begin} + 6")
string(SUBSTRING "${program}" ${begin} -1 program)
string(FIND "${program}" "```" end)
string(SUBSTRING "${program}" 0 ${end} program)
string(REPLACE "caf://127.0.0.1:7271" "local" program "${program}")
string(REPLACE "/job:ps/task:0" "/job:localhost/task:0" program "${program}")
file(WRITE ${SCRATCH}/readme.cpp "${program}
#include <cstdio>
int main() {
  Status status = train();
  std::puts(status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
")

step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix --component development)
step(${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${SCRATCH}/build -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
     -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Release -DREADME_PROGRAM=${SCRATCH}/readme.cpp)
step(${CMAKE_COMMAND} --build ${SCRATCH}/build)
step(${SCRATCH}/build/outside)
step(${SCRATCH}/build/readme)

# The same through pkg-config.
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  file(GLOB_RECURSE pc ${SCRATCH}/prefix/troupe.pc)
  get_filename_component(pc_dir ${pc} DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${pc_dir})
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs troupe OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  step(${COMPILER} -O1 ${SCRATCH}/readme.cpp -o ${SCRATCH}/by_pkg_config ${flags})
  get_filename_component(lib_dir ${pc_dir} DIRECTORY)
  set(ENV{LD_LIBRARY_PATH} ${lib_dir}) # where it is a shared one
  step(${SCRATCH}/by_pkg_config)
endif()
