# Writes recordings for the stand-in to replay; cupti_recorder.cpp says how. It does not ship. Included
# where tests are built, and where device tests are.
set(recorder_folder ${CMAKE_CURRENT_LIST_DIR})
add_library(gpufl_cupti_recorder SHARED ${recorder_folder}/cupti_recorder.cpp
                                        ${recorder_folder}/recording.cpp)
target_include_directories(gpufl_cupti_recorder PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(gpufl_cupti_recorder PRIVATE gpufl_backend Cupti::headers gpufl_flags)
