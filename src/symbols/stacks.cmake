# Tests of stacks, and the libraries that they walk through. Those are built as the programs that we
# meet: never with sanitizers, with and without frame pointers.
if(NOT GPUFL_TESTS)
  return()
endif()
set(stack_fixtures ${CMAKE_CURRENT_BINARY_DIR}/stack_fixture)
function(gpufl_stack_fixture name source)
  add_library(${name} SHARED stack_fixture/${source})
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${stack_fixtures})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${name} PRIVATE -O2 ${ARGN})
endfunction()
gpufl_stack_fixture(frameless call_shapes.cpp -fomit-frame-pointer)
gpufl_stack_fixture(framed call_shapes.cpp -fno-omit-frame-pointer)
gpufl_stack_fixture(replaced_small replaced.cpp -DFRAME_BYTES=64)
gpufl_stack_fixture(replaced_large replaced.cpp -DFRAME_BYTES=120)
gpufl_stack_fixture(late_choice late_choice.cpp)
# Known by construction: what a log must say of it.
target_link_options(replaced_small PRIVATE -Wl,--build-id=0x0123456789abcdef)
target_link_options(replaced_large PRIVATE -Wl,--build-id=0xfedcba9876543210)

gpufl_test(unwinder_test SOURCES unwinder_test.cpp DEPS gpufl_symbols late_choice)
target_compile_options(unwinder_test PRIVATE -fomit-frame-pointer)
target_link_options(unwinder_test PRIVATE -Wl,-z,lazy)
target_compile_definitions(unwinder_test PRIVATE GPUFL_STACK_FIXTURES="${stack_fixtures}")
add_dependencies(unwinder_test frameless framed)

gpufl_test(stack_parts_test
  SOURCES python_lines_test.cpp stack_store_test.cpp unwind_cfi_test.cpp
  DEPS gpufl_symbols)

gpufl_test(stack_table_test SOURCES stack_table_test.cpp DEPS gpufl_symbols ${CMAKE_DL_LIBS})
target_compile_definitions(stack_table_test PRIVATE GPUFL_STACK_FIXTURES="${stack_fixtures}")
add_dependencies(stack_table_test replaced_small replaced_large)

# An interpreter is not built with sanitizers, so it cannot load what is.
if(NOT GPUFL_SANITIZE)
  gpufl_stack_fixture(stack_probe stack_probe.cpp)
  target_link_libraries(stack_probe PRIVATE gpufl_symbols gpufl_flags)
  gpufl_test(python_stacks_test SOURCES python_stacks_test.cpp DEPS gpufl_symbols)
  target_compile_definitions(python_stacks_test PRIVATE
    GPUFL_STACK_FIXTURES="${stack_fixtures}"
    GPUFL_STACK_FIXTURE_SOURCES="${CMAKE_CURRENT_SOURCE_DIR}/stack_fixture")
  add_dependencies(python_stacks_test stack_probe)
endif()
