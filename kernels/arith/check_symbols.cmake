# Fails when an object file made for one instruction set defines a weak symbol that another object file may define too: the linker
# would keep one of them for everybody. Usage: cmake -DNM=nm -DOBJECTS=a.o;b.o -P check_symbols.cmake
set(bad "")
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND ${NM} -C --defined-only ${object} OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${NM} cannot read ${object}")
  endif()
  string(REPLACE ";" "," symbols "${symbols}")
  string(REPLACE "\n" ";" symbols "${symbols}")
  foreach(line IN LISTS symbols)
    # Weak (W, V) or unique (u) definitions are fine inside the renamed Eigen and the namespace of the instruction set.
    if(line MATCHES " [WVu] " AND NOT line MATCHES " [WVu] DW\\.ref\\.__gxx_personality_v0$"
       AND NOT line MATCHES "Eigen_(base|avx2|avx512)::|arith::isa_(base|avx2|avx512)::")
      string(APPEND bad "${object}: ${line}\n")
    endif()
  endforeach()
endforeach()
if(bad)
  message(FATAL_ERROR "weak symbols that instruction sets would share:\n${bad}")
endif()
