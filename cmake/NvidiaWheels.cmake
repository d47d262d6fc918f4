# nvidia_wheel_includes: folders with the headers of NVIDIA's Python wheels, as `./dev setup` puts them
# in .deps/, and as pip gives them to a build of the Python package (pyproject.toml names them).
file(GLOB nvidia_wheel_includes LIST_DIRECTORIES true
     ${PROJECT_SOURCE_DIR}/.deps/*/nvidia/cu13/include
     ${PROJECT_SOURCE_DIR}/.deps/*/lib/python*/site-packages/nvidia/cu13/include)
foreach(prefix IN LISTS CMAKE_PREFIX_PATH)
  list(APPEND nvidia_wheel_includes ${prefix}/nvidia/cu13/include)
endforeach()
