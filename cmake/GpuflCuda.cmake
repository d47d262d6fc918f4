# gpufl_cuda_program(name SOURCES file.cu [DEPS ...] [FOLDER bin] [FLAGS ...] [SYMBOLS]): a program
# with device code, in <FOLDER>/<name> of the build folder. nvcc compiles it, with FLAGS, to an object
# with the runtime linked statically; CMake's own CUDA language is not used, because it insists on a
# complete toolkit, which NVIDIA's wheels are not. SYMBOLS: they stay in it, also where what travels
# is stripped. Does nothing unless GPUFL_CUDA is on.
if(GPUFL_CUDA)
  find_program(GPUFL_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin
                                     ${PROJECT_SOURCE_DIR}/.deps/cuda/bin)
  if(NOT GPUFL_NVCC)
    message(FATAL_ERROR "GPUFL_CUDA is on and there is no nvcc: ./dev setup cuda installs one")
  endif()
  cmake_path(GET GPUFL_NVCC PARENT_PATH cuda_root)
  cmake_path(GET cuda_root PARENT_PATH cuda_root)
  find_library(GPUFL_CUDART_STATIC cudart_static HINTS ${cuda_root} PATH_SUFFIXES lib lib64
                                                                                  REQUIRED)
  set(GPUFL_CUDA_ARCH sm_90 CACHE STRING "Architecture that device code is compiled for")
endif()

function(gpufl_cuda_program name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "SYMBOLS" "FOLDER" "SOURCES;DEPS;FLAGS")
  if(NOT GPUFL_CUDA)
    return()
  endif()
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER bin)
  endif()
  set(objects)
  foreach(source IN LISTS ARG_SOURCES)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}/${source}.o)
    cmake_path(GET object PARENT_PATH folder)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(
      OUTPUT ${object}
      COMMAND
        ${GPUFL_NVCC} -ccbin ${CMAKE_CXX_COMPILER} -std=c++20 -O2 -arch=${GPUFL_CUDA_ARCH}
        --compiler-options=-Wall,-Wextra,-Werror,-fPIE ${ARG_FLAGS} -I${PROJECT_SOURCE_DIR}/include
        -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR} -MD -MF ${object}.d -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o
        ${object}
      DEPENDS ${source}
      DEPFILE ${object}.d
      COMMENT "Compiling ${source} for ${GPUFL_CUDA_ARCH}"
      VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  add_executable(${name} ${objects})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX RUNTIME_OUTPUT_DIRECTORY
                                                               ${PROJECT_BINARY_DIR}/${ARG_FOLDER})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} ${GPUFL_CUDART_STATIC} Threads::Threads rt dl)
  if(NOT ARG_SYMBOLS)
    target_link_libraries(${name} PRIVATE gpufl_flags)
  elseif(GPUFL_PORTABLE)
    target_link_options(${name} PRIVATE -static-libstdc++)
  endif()
endfunction()
