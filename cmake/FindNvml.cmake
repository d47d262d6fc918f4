# nvml.h, of NVIDIA's driver management library. Only the header: the library is opened at run time.
# Looked for in the hint NVML_INCLUDE_DIR, the CUDA toolkit, and NVIDIA's wheels. Gives Nvml_FOUND and
# the target Nvml::headers.
include(NvidiaWheels)
find_path(
  NVML_INCLUDE_DIR nvml.h
  HINTS $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include
  PATHS /usr/local/cuda/include ${nvidia_wheel_includes})
mark_as_advanced(NVML_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Nvml REQUIRED_VARS NVML_INCLUDE_DIR)
if(Nvml_FOUND AND NOT TARGET Nvml::headers)
  add_library(Nvml::headers INTERFACE IMPORTED)
  target_include_directories(Nvml::headers SYSTEM INTERFACE ${NVML_INCLUDE_DIR})
endif()
