# Kernels for GPUs. With TROUPE_CUDA=AUTO they are compiled where there is an nvcc (CUDA 12 or later); without one everything else
# is built and tested, and the executable says that it has no code for GPUs. Nothing of CUDA is linked: its libraries are opened at
# run time.
set(TROUPE_NVCC "")
if(NOT TROUPE_CUDA STREQUAL "OFF")
  find_program(nvcc nvcc HINTS /usr/local/cuda/bin $ENV{CUDA_HOME}/bin)
  mark_as_advanced(nvcc)
  if(nvcc)
    execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE nvcc_says ERROR_QUIET)
    string(REGEX MATCH "release ([0-9]+)\\." _ "${nvcc_says}")
    if(CMAKE_MATCH_1 GREATER_EQUAL 12)
      set(TROUPE_NVCC ${nvcc})
      set(cuda_major ${CMAKE_MATCH_1})
    endif()
  endif()
  if(NOT TROUPE_NVCC AND TROUPE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TROUPE_CUDA is ON, and there is no nvcc of CUDA 12 or later; install it, or set TROUPE_CUDA to OFF")
  endif()
endif()

# Code for each generation, which its later boards run too, and PTX for those to come. CUDA 13 knows nothing before 7.5. All of it comes
# from the PTX of the oldest: no kernel uses what only newer boards have, registers and spills differ by a twentieth at most, and making PTX for
# each generation takes a third longer.
set(generations 75 80 90)
if(TROUPE_NVCC AND cuda_major LESS 13)
  list(PREPEND generations 70)
endif()
list(GET generations 0 oldest)
list(TRANSFORM generations PREPEND sm_ OUTPUT_VARIABLE boards)
list(JOIN boards "," boards)
set(TROUPE_NVCC_FLAGS -std=c++20 --compress-mode=size)
if(TROUPE_NVCC AND cuda_major LESS 13)
  set(TROUPE_NVCC_FLAGS -std=c++20 -Xfatbin=-compress-all)
endif()
list(APPEND TROUPE_NVCC_FLAGS -gencode "arch=compute_${oldest},code=[compute_${oldest},${boards}]")

# troupe_gpu_code(VARIABLE FAMILY): compiles kernels/FAMILY/*.cu, and sets VARIABLE to the sources that hold the code:
# troupe::gpu::images::FAMILY_FILE for each file.
function(troupe_gpu_code variable family)
  file(GLOB kernels CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${family}/*.cu)
  set_property(GLOBAL APPEND PROPERTY TROUPE_GPU_SOURCES ${kernels})
  set(sources "")
  foreach(kernel IN LISTS kernels)
    get_filename_component(name ${kernel} NAME_WE)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${kernel})
    set(symbol ${family}_${name})
    set(code ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.fatbin)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${symbol}_image.cpp)
    set(declaration "")
    set(data nullptr)
    if(TROUPE_NVCC)
      add_custom_command(OUTPUT ${code}
                         COMMAND ${TROUPE_NVCC} ${TROUPE_NVCC_FLAGS} -I${PROJECT_SOURCE_DIR} -fatbin -MD -MF ${code}.d -o ${code} ${kernel}
                         DEPENDS ${kernel} DEPFILE ${code}.d VERBATIM COMMENT "Compiling ${path} for GPUs")
      set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${code})
      set(declaration "asm(\".pushsection .rodata\\n.balign 16\\ntroupe_code_${symbol}:\\n.incbin \\\"${code}\\\"\\n.popsection\\n\");
extern \"C\" const char troupe_code_${symbol}[] __attribute__((visibility(\"hidden\")));\n")
      set(data troupe_code_${symbol})
    endif()
    file(CONFIGURE OUTPUT ${source} CONTENT
"#include \"devices/cuda/code_image.hpp\"
${declaration}namespace troupe::gpu::images {
extern const cuda::CodeImage ${symbol};
const cuda::CodeImage ${symbol} = {\"${path}\", ${data}};
} // namespace troupe::gpu::images
" @ONLY)
    list(APPEND sources ${source})
  endforeach()
  set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()
