// SPDX-License-Identifier: Apache-2.0
// Compiled by python_layout_test against the headers of an interpreter: prints "name value" lines.
#define Py_BUILD_CORE 1
#include <Python.h>
#include <frameobject.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#if PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_frame.h>
#endif

#define SAY(name, type, field) printf(name " %zu\n", offsetof(type, field))

int main(void) {
#if PY_VERSION_HEX < 0x030d0000
  SAY("thread_cframe", PyThreadState, cframe);
#else
  SAY("thread_frame", PyThreadState, current_frame);
#endif
#if PY_VERSION_HEX < 0x030b0000
  SAY("thread_frame", PyThreadState, frame);
  SAY("cframe_previous", CFrame, previous);
  SAY("frame_previous", PyFrameObject, f_back);
  SAY("frame_code", PyFrameObject, f_code);
  SAY("frame_instruction", PyFrameObject, f_lasti);
  SAY("code_name", PyCodeObject, co_name);
#else
#if PY_VERSION_HEX < 0x030d0000
  SAY("cframe_frame", _PyCFrame, current_frame);
  SAY("cframe_previous", _PyCFrame, previous);
  SAY("frame_code", _PyInterpreterFrame, f_code);
  SAY("frame_instruction", _PyInterpreterFrame, prev_instr);
#else
  SAY("frame_code", _PyInterpreterFrame, f_executable);
  SAY("frame_instruction", _PyInterpreterFrame, instr_ptr);
#endif
#if PY_VERSION_HEX < 0x030c0000
  SAY("frame_entry", _PyInterpreterFrame, is_entry);
#else
  SAY("frame_entry", _PyInterpreterFrame, owner);
  printf("owned_by_c_stack %d\n", FRAME_OWNED_BY_CSTACK);
#endif
  SAY("frame_previous", _PyInterpreterFrame, previous);
  SAY("code_name", PyCodeObject, co_qualname);
  SAY("code_instructions", PyCodeObject, co_code_adaptive);
#endif
  SAY("code_filename", PyCodeObject, co_filename);
  SAY("code_first_line", PyCodeObject, co_firstlineno);
  SAY("code_line_table", PyCodeObject, co_linetable);
#if PY_VERSION_HEX >= 0x030c0000
  SAY("code_version", PyCodeObject, co_version);
#endif
  SAY("object_type", PyObject, ob_type);
  SAY("bytes_size", PyVarObject, ob_size);
  SAY("bytes_data", PyBytesObject, ob_sval);
  SAY("text_length", PyASCIIObject, length);
  SAY("text_state", PyASCIIObject, state);
  printf("ascii_data %zu\n", sizeof(PyASCIIObject));
  printf("compact_data %zu\n", sizeof(PyCompactUnicodeObject));

  PyASCIIObject text;
  unsigned state;
  memset(&text, 0, sizeof(text));
  text.state.kind = 7;
  memcpy(&state, &text.state, sizeof(state));
  printf("kind_bits %u\n", state);
  memset(&text, 0, sizeof(text));
  text.state.compact = 1;
  memcpy(&state, &text.state, sizeof(state));
  printf("compact_bit %u\n", state);
  memset(&text, 0, sizeof(text));
  text.state.ascii = 1;
  memcpy(&state, &text.state, sizeof(state));
  printf("ascii_bit %u\n", state);
  return 0;
}
