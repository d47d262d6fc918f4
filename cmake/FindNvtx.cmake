# nvtx3/nvToolsExt.h, of NVIDIA's annotation API, which is headers alone. Looked for in the hint
# NVTX_INCLUDE_DIR, the CUDA toolkit, and NVIDIA's wheels. Gives Nvtx_FOUND and the target
# Nvtx::headers.
include(NvidiaWheels)
find_path(
  NVTX_INCLUDE_DIR nvtx3/nvToolsExt.h
  HINTS $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include
  PATHS /usr/local/cuda/include ${nvidia_wheel_includes})
mark_as_advanced(NVTX_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Nvtx REQUIRED_VARS NVTX_INCLUDE_DIR)
if(Nvtx_FOUND AND NOT TARGET Nvtx::headers)
  add_library(Nvtx::headers INTERFACE IMPORTED)
  target_include_directories(Nvtx::headers SYSTEM INTERFACE ${NVTX_INCLUDE_DIR})
endif()
