# Flags that every target shares, the third-party targets, and the functions that rooms, tests and
# benchmarks are declared with.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/archive)
# A build folder may be carried to another machine and path, so nothing in it names its own.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
  endif()
endif()

add_library(gpufl_flags INTERFACE)
target_compile_options(gpufl_flags INTERFACE -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # gcc 12 sees overlaps in every std::string operator+ (its bug 105651).
  target_compile_options(gpufl_flags INTERFACE -Wno-restrict)
endif()
if(GPUFL_SANITIZE)
  target_compile_options(
    gpufl_flags INTERFACE -fsanitize=${GPUFL_SANITIZE} -fno-sanitize-recover=all
                          -fno-omit-frame-pointer)
  target_link_options(gpufl_flags INTERFACE -fsanitize=${GPUFL_SANITIZE})
  # Instrumented programs are large, and binutils takes four times as long to link them.
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld GPUFL_HAS_LLD)
  if(GPUFL_HAS_LLD)
    target_link_options(gpufl_flags INTERFACE -fuse-ld=lld)
  endif()
endif()
if(GPUFL_FUZZ AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "GPUFL_FUZZ needs clang++: libFuzzer is part of it")
endif()
if(GPUFL_PORTABLE)
  # libgcc_s stays dynamic: a static one wants glibc 2.35. Unused sections go, because libstdc++'s
  # old strings drag in its random_device, which wants 2.36. Stripped, because it travels.
  target_link_options(gpufl_flags INTERFACE -static-libstdc++ -Wl,--gc-sections -s)
endif()
if(GPUFL_REDISTRIBUTABLE)
  # tools/check_wheel.py reads what was linked.
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/maps)
  target_link_options(
    gpufl_flags INTERFACE LINKER:-Map=${PROJECT_BINARY_DIR}/maps/$<TARGET_PROPERTY:NAME>.map)
endif()

# Where `./dev setup` puts NVIDIA's headers and compiler; a system toolkit is found before it.
list(APPEND CMAKE_PREFIX_PATH ${PROJECT_SOURCE_DIR}/.deps/cuda)

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(zstd REQUIRED)
# Static in every build: what is linked or injected into people's programs brings no library along.
add_library(gpufl_zstd INTERFACE)
target_link_libraries(gpufl_zstd INTERFACE zstd::libzstd_static)
# Debian's is not compiled for shared libraries whose symbols others may replace.
target_link_options(gpufl_zstd INTERFACE -Wl,--exclude-libs,libzstd.a)
# {fmt} likewise, of which Debian has no static library: gpufl_fmt is fmt 9's, made of its headers. As
# headers alone each file would compile it for itself, which takes longer than the file.
if(fmt_VERSION VERSION_LESS 10)
  set(fmt_source ${PROJECT_BINARY_DIR}/fmt/format.cpp)
  file(CONFIGURE OUTPUT ${fmt_source} CONTENT
"#include <fmt/format-inl.h>
FMT_BEGIN_NAMESPACE
namespace detail {
template FMT_API auto dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template FMT_API auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
template FMT_API auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;
}
FMT_END_NAMESPACE
")
  add_library(gpufl_fmt STATIC ${fmt_source})
  target_include_directories(
    gpufl_fmt SYSTEM PUBLIC $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(gpufl_fmt PRIVATE gpufl_flags)
else()
  add_library(gpufl_fmt INTERFACE)
  target_link_libraries(gpufl_fmt INTERFACE fmt::fmt-header-only)
endif()
if(GPUFL_TOOLS)
  find_package(CLI11 REQUIRED)
endif()
if(GPUFL_TESTS OR GPUFL_DEVICE_TESTS)
  find_package(GTest REQUIRED)
endif()

# Reading the standard library is a third of the time to compile a room, and half of a test's. What a
# file forgets to include shows where clang-tidy reads it, which knows nothing of these. What few rooms
# include is not worth what loading it costs all of them.
set(precompiled_room
    <algorithm> <array> <chrono> <cstdint> <cstring> <filesystem> <functional> <map> <memory>
    <optional> <set> <span> <string> <string_view> <tuple> <unordered_map> <utility> <variant> <vector>)
set(precompiled_test ${precompiled_room} <atomic> <fstream> <mutex> <sstream> <thread> <gtest/gtest.h>)
# So that ccache can tell when a precompiled header is the same.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(precompiled_options "SHELL:-Xclang -fno-pch-timestamp")
else()
  # The warnings are gcc's about std::string's own code, once that comes precompiled; all are false.
  set(precompiled_options -fpch-preprocess -Wno-array-bounds -Wno-stringop-overflow
                          -Wno-stringop-overread)
endif()
set(empty_source ${PROJECT_BINARY_DIR}/precompiled/empty.cpp)
file(CONFIGURE OUTPUT ${empty_source} CONTENT "")
add_library(gpufl_precompiled_room OBJECT ${empty_source})
target_precompile_headers(gpufl_precompiled_room PRIVATE ${precompiled_room})
target_compile_options(gpufl_precompiled_room PRIVATE ${precompiled_options})
target_link_libraries(gpufl_precompiled_room PRIVATE gpufl_flags)
if(GPUFL_TESTS)
  add_library(gpufl_precompiled_test OBJECT ${empty_source})
  target_precompile_headers(gpufl_precompiled_test PRIVATE ${precompiled_test})
  target_compile_options(
    gpufl_precompiled_test PRIVATE ${precompiled_options} -O0 -fPIE) # as programs are
  target_link_libraries(gpufl_precompiled_test PRIVATE GTest::gtest gpufl_flags)
endif()

# gpufl_precompile(target room|test): lets it use the headers that are read once for all its kind.
function(gpufl_precompile target kind)
  if(TARGET gpufl_precompiled_${kind})
    target_precompile_headers(${target} REUSE_FROM gpufl_precompiled_${kind})
    target_compile_options(${target} PRIVATE ${precompiled_options})
  endif()
endfunction()

# Sources of rooms and tests are compiled several at once, which takes a third of the time. A source whose
# local names clash with a neighbour's is listed in CompiledAlone.cmake.
option(GPUFL_TOGETHER "Compile several sources of a room or test at once" ON)
include(CompiledAlone)

# gpufl_compile_together(target)
function(gpufl_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${GPUFL_TOGETHER} UNITY_BUILD_BATCH_SIZE 6)
  # At the end of the folder, because sources are added to a target later, too.
  cmake_language(EVAL CODE "cmake_language(DEFER CALL gpufl_leave_alone ${target})")
endfunction()

# gpufl_leave_alone(target): takes those of its sources out that are listed.
function(gpufl_leave_alone target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    if(path IN_LIST gpufl_compiled_alone)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# What `./dev bench` builds.
add_custom_target(gpufl_benchmarks)

# gpufl_room(name SOURCES ... [DEPS ...] [HOT | COLD]): one room of src/ as the static library
# gpufl_<name>. HOT: tests spend their time in it, so it is optimised also where sanitizers leave the
# rest as it is. COLD: no program spends time in it, so it is optimised less, which compiles sooner.
function(gpufl_room name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "HOT;COLD" "" "SOURCES;DEPS")
  add_library(gpufl_${name} STATIC ${ARG_SOURCES})
  gpufl_compile_together(gpufl_${name})
  target_include_directories(gpufl_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(gpufl_${name} PUBLIC ${ARG_DEPS} PRIVATE gpufl_flags)
  if(ARG_HOT AND GPUFL_SANITIZE)
    target_compile_options(gpufl_${name} PRIVATE -O1)  # for which no precompiled header is made
    return()
  endif()
  if(ARG_COLD AND CMAKE_BUILD_TYPE STREQUAL Release)
    target_compile_options(gpufl_${name} PRIVATE -O1)
  endif()
  gpufl_precompile(gpufl_${name} room)
endfunction()

# gpufl_program(name SOURCES ... [DEPS ...]): one installed program, bin/<name>. Its target is
# program_<name>, because `gpufl` itself is the library's.
function(gpufl_program name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;DEPS")
  add_executable(program_${name} ${ARG_SOURCES})
  set_target_properties(program_${name} PROPERTIES OUTPUT_NAME ${name})
  target_link_libraries(program_${name} PRIVATE ${ARG_DEPS} gpufl_flags)
  set_property(GLOBAL APPEND PROPERTY GPUFL_PROGRAMS program_${name})
endfunction()

# gpufl_test(name SOURCES ... [DEPS ...] [LABELS ...] [TIMEOUT seconds]): one GoogleTest program,
# <name>, and the ctest test of that name. Tests labelled device need a GPU and are built with
# GPUFL_DEVICE_TESTS only. The others' own sources are not optimised, whatever the rooms are that
# they test.
function(gpufl_test name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS")
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
    if(GPUFL_SANITIZE)
      set(ARG_TIMEOUT 600)
    endif()
  endif()
  if("device" IN_LIST ARG_LABELS)
    set(wanted ${GPUFL_DEVICE_TESTS})
  else()
    set(wanted ${GPUFL_TESTS})
  endif()
  if(NOT wanted)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  gpufl_compile_together(${name})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest_main gpufl_flags)
  if(NOT "device" IN_LIST ARG_LABELS)
    target_compile_options(${name} PRIVATE -O0)
    gpufl_precompile(${name} test)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()

# gpufl_header_test(name HEADERS ... [STANDARD 17] [DEFINITIONS ...] [INCLUDES ...]): compiles each
# header alone, included twice, as an object library that is part of the build.
function(gpufl_header_test name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "STANDARD" "HEADERS;DEFINITIONS;INCLUDES")
  if(NOT ARG_STANDARD)
    set(ARG_STANDARD 17)
  endif()
  set(sources)
  foreach(header IN LISTS ARG_HEADERS)
    string(MAKE_C_IDENTIFIER "${header}" unit)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}/${unit}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include <${header}>\n#include <${header}>\n")
    list(APPEND sources ${source})
  endforeach()
  add_library(${name} OBJECT ${sources})
  set_target_properties(${name} PROPERTIES CXX_STANDARD ${ARG_STANDARD})
  target_include_directories(${name} PRIVATE ${ARG_INCLUDES})
  target_compile_definitions(${name} PRIVATE ${ARG_DEFINITIONS})
  target_link_libraries(${name} PRIVATE gpufl_flags)
endfunction()

# gpufl_bench(name SOURCES ... [DEPS ...]): one benchmark program, benchmarks/<name> in the build
# folder. `./dev bench` runs each as `<name> --json FILE`; bench/report.hpp does what that promises.
function(gpufl_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;DEPS")
  if(NOT GPUFL_BENCH)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                           ${PROJECT_BINARY_DIR}/benchmarks)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} gpufl_bench_report gpufl_flags)
  add_dependencies(gpufl_benchmarks ${name})
endfunction()

# gpufl_fuzzer(name SOURCES ... DEPS room ... CORPUS folder): one libFuzzer program, fuzzers/<name> in
# the build folder, whose seeds are copied beside it as <name>.corpus. It is led by what it reaches in
# DEPS; other rooms are not instrumented, which would double the time to compile everything.
function(gpufl_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "CORPUS" "SOURCES;DEPS")
  if(NOT GPUFL_FUZZ)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzzers)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} gpufl_flags)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  # What -fsanitize=fuzzer-no-link turns on; with that itself no precompiled header would fit.
  foreach(target IN LISTS name ARG_DEPS)
    target_compile_options(
      ${target} PRIVATE
      -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table,stack-depth)
  endforeach()
  add_custom_command(
    TARGET ${name} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_CORPUS}
            ${PROJECT_BINARY_DIR}/fuzzers/${name}.corpus)
endfunction()
