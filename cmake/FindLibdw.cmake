# elfutils' libdw and libelf: Libdw::headers for everybody who reads ELF and DWARF through the table
# of src/symbols/libdw_api.hpp, Libdw::Libdw for the programs that link it (static where the build
# is portable, empty with GPUFL_REDISTRIBUTABLE). Debian's libdw-dev, Fedora's elfutils-devel.
find_path(LIBDW_INCLUDE_DIR elfutils/libdw.h)
if(GPUFL_REDISTRIBUTABLE)
  set(libdw_names)
elseif(GPUFL_PORTABLE)
  # zlib is libelf's; of libdw nothing is used that would need lzma or bzip2.
  set(libdw_names libdw.a libelf.a libz.a)
else()
  set(libdw_names libdw.so libelf.so)
endif()
set(libdw_variables)
foreach(name IN LISTS libdw_names)
  string(MAKE_C_IDENTIFIER "LIBDW_${name}" variable)
  string(TOUPPER ${variable} variable)
  find_library(${variable} ${name})
  mark_as_advanced(${variable})
  list(APPEND libdw_variables ${variable})
endforeach()
mark_as_advanced(LIBDW_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libdw REQUIRED_VARS LIBDW_INCLUDE_DIR ${libdw_variables})
if(Libdw_FOUND AND NOT TARGET Libdw::headers)
  add_library(Libdw::headers INTERFACE IMPORTED)
  set_target_properties(Libdw::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
                                                  ${LIBDW_INCLUDE_DIR})
  add_library(Libdw::Libdw INTERFACE IMPORTED)
  foreach(variable IN LISTS libdw_variables)
    target_link_libraries(Libdw::Libdw INTERFACE ${${variable}})
  endforeach()
  target_link_libraries(Libdw::Libdw INTERFACE Libdw::headers)
endif()
