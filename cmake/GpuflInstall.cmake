# `cmake --install`: headers, libgpufl, the programs, the library that they inject, and the package that
# find_package(gpufl CONFIG) loads.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(gpufl_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gpufl)

# Before 1.0 a minor version may change the API and the ABI.
set_target_properties(gpufl PROPERTIES VERSION ${PROJECT_VERSION}
                                       SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
install(
  TARGETS gpufl
  EXPORT gpufl
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/gpufl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING
        PATTERN "*.hpp")
install(DIRECTORY include/warpscope DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES include/warpscope.cuh include/warpscope_host.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT gpufl NAMESPACE gpufl:: DESTINATION ${gpufl_package_dir} FILE gpufl-targets.cmake)
configure_package_config_file(cmake/gpufl-config.cmake.in gpufl-config.cmake
                              INSTALL_DESTINATION ${gpufl_package_dir})
write_basic_package_version_file(gpufl-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gpufl-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/gpufl-config-version.cmake
        DESTINATION ${gpufl_package_dir})

install(FILES LICENSE THIRD_PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(GPUFL_REDISTRIBUTABLE)
  # What we owe to others whose parts are inside.
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
  set(third_party ${PROJECT_BINARY_DIR}/third_party)
  if(GPUFL_PYTHON)
    set(of_python --python)
  endif()
  execute_process(
    COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/third_party.py
            --version ${PROJECT_VERSION} --output ${third_party} ${of_python}
            COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${third_party}/THIRD_PARTY_NOTICES.txt ${third_party}/gpufl.cdx.json
          DESTINATION ${CMAKE_INSTALL_DOCDIR})
  # Of a wheel, where its own metadata is.
  if(SKBUILD)
    install(FILES ${third_party}/THIRD_PARTY_NOTICES.txt
            DESTINATION ${SKBUILD_METADATA_DIR}/licenses COMPONENT python)
    install(FILES ${third_party}/gpufl.cdx.json DESTINATION ${SKBUILD_METADATA_DIR}/sboms
            COMPONENT python)
  endif()
endif()
get_property(programs GLOBAL PROPERTY GPUFL_PROGRAMS)
if(programs)
  file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(${programs} PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
  install(TARGETS ${programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # `gpufl trace` looks for it from where it lies itself.
  install(TARGETS gpufl_inject LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
