# cupti.h, of NVIDIA's tracing library, of CUDA 12.2 or newer, and the CUDA headers it stands on. Only
# headers: the library is opened at run time. Looked for in the hints CUPTI_INCLUDE_DIR and CUPTI_CUDA_INCLUDE_DIR, the
# CUDA toolkit, and NVIDIA's wheels. Gives Cupti_FOUND and the target Cupti::headers.
include(NvidiaWheels)
find_path(
  CUPTI_INCLUDE_DIR cupti_sass_metrics.h
  HINTS $ENV{CUDA_HOME}/extras/CUPTI/include $ENV{CUDA_PATH}/extras/CUPTI/include
        $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include
  PATHS /usr/local/cuda/extras/CUPTI/include /usr/local/cuda/include ${nvidia_wheel_includes})
# Of the same toolkit or wheels, so that both are of one version.
find_path(
  CUPTI_CUDA_INCLUDE_DIR cuda.h
  HINTS ${CUPTI_INCLUDE_DIR} ${CUPTI_INCLUDE_DIR}/../../../include
  PATHS /usr/local/cuda/include ${nvidia_wheel_includes})
mark_as_advanced(CUPTI_INCLUDE_DIR CUPTI_CUDA_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Cupti REQUIRED_VARS CUPTI_INCLUDE_DIR CUPTI_CUDA_INCLUDE_DIR)
if(Cupti_FOUND AND NOT TARGET Cupti::headers)
  add_library(Cupti::headers INTERFACE IMPORTED)
  target_include_directories(Cupti::headers SYSTEM INTERFACE ${CUPTI_INCLUDE_DIR}
                                                             ${CUPTI_CUDA_INCLUDE_DIR})
endif()
