# GNU libiberty's demangler: Libiberty::Libiberty. A static library everywhere; Debian's
# libiberty-dev, Fedora's binutils-devel.
find_path(LIBIBERTY_INCLUDE_DIR libiberty/demangle.h)
find_library(LIBIBERTY_LIBRARY libiberty.a)
mark_as_advanced(LIBIBERTY_INCLUDE_DIR LIBIBERTY_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libiberty REQUIRED_VARS LIBIBERTY_INCLUDE_DIR LIBIBERTY_LIBRARY)
if(Libiberty_FOUND AND NOT TARGET Libiberty::Libiberty)
  add_library(Libiberty::Libiberty STATIC IMPORTED)
  set_target_properties(
    Libiberty::Libiberty PROPERTIES IMPORTED_LOCATION ${LIBIBERTY_LIBRARY}
                                    INTERFACE_INCLUDE_DIRECTORIES ${LIBIBERTY_INCLUDE_DIR})
endif()
