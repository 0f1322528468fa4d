# The driver is opened at run time.
set(device_libraries ${CMAKE_DL_LIBS} Threads::Threads)
