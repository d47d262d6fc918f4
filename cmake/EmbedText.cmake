# gpufl_embed_text(target name file...): texts as `extern const std::string_view` in namespace
# gpufl::embedded, each called after its file: report.css is kReportCss.
#
# Run with -P it writes one such source: -DOUTPUT=... -DFILES=a;b
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "// Made by cmake/EmbedText.cmake.\n#include <string_view>\n\nnamespace gpufl::embedded {\n")
  foreach(file IN LISTS FILES)
    file(READ ${file} content)
    get_filename_component(name ${file} NAME)
    string(REGEX MATCHALL "[a-z0-9]+" words ${name})
    set(name k)
    foreach(word IN LISTS words)
      string(SUBSTRING ${word} 0 1 first)
      string(SUBSTRING ${word} 1 -1 others)
      string(TOUPPER ${first} first)
      string(APPEND name ${first}${others})
    endforeach()
    string(APPEND text "extern const std::string_view ${name};\n"
                       "const std::string_view ${name} = R\"gpufl(${content})gpufl\";\n")
  endforeach()
  file(WRITE ${OUTPUT} "${text}}  // namespace gpufl::embedded\n")
  return()
endif()

set(gpufl_embed_script ${CMAKE_CURRENT_LIST_FILE})
function(gpufl_embed_text target name)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE files)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DFILES=${files}" -P ${gpufl_embed_script}
    DEPENDS ${files} ${gpufl_embed_script}
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
