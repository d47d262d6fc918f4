// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elfutils/libdw.h>
#include <gelf.h>
#include <libelf.h>

#include "base/status.hpp"

// elfutils' libdw and libelf as one typed table. The licence is why: what is linked or injected
// into other people's programs opens theirs at run time, and so does all that a wheel holds, while
// programs that are built where they run link the library.
// Everything that reads ELF and DWARF goes through a table and does not know which it is. Filled
// once, constant afterwards; libdw's own handles are for one thread each.
namespace gpufl::symbols {

#define GPUFL_LIBDW_FUNCTIONS(X) \
  X(elf_version)                 \
  X(elf_begin)                   \
  X(elf_end)                     \
  X(elf_kind)                    \
  X(elf_errmsg)                  \
  X(elf_errno)                   \
  X(elf_getphdrnum)              \
  X(elf_getdata_rawchunk)        \
  X(elf_getshdrstrndx)           \
  X(elf_nextscn)                 \
  X(elf_getscn)                  \
  X(elf_rawdata)                 \
  X(elf_strptr)                  \
  X(gelf_getehdr)                \
  X(gelf_getphdr)                \
  X(gelf_getshdr)                \
  X(gelf_getsym)                 \
  X(gelf_getnote)                \
  X(elf_getdata)                 \
  X(dwarf_begin_elf)             \
  X(dwarf_end)                   \
  X(dwarf_get_units)             \
  X(dwarf_cu_info)               \
  X(dwarf_ranges)                \
  X(dwarf_child)                 \
  X(dwarf_siblingof)             \
  X(dwarf_tag)                   \
  X(dwarf_haspc)                 \
  X(dwarf_diename)               \
  X(dwarf_attr)                  \
  X(dwarf_attr_integrate)        \
  X(dwarf_formstring)            \
  X(dwarf_formudata)             \
  X(dwarf_formref_die)           \
  X(dwarf_diecu)                 \
  X(dwarf_getsrc_die)            \
  X(dwarf_linesrc)               \
  X(dwarf_lineno)                \
  X(dwarf_getsrcfiles)           \
  X(dwarf_filesrc)

struct LibdwApi {
#define GPUFL_DECLARE(name) decltype(&::name) name = nullptr;
  GPUFL_LIBDW_FUNCTIONS(GPUFL_DECLARE)
#undef GPUFL_DECLARE
};

// These two are in the target gpufl_symbols_libdw alone; the first only without
// GPUFL_REDISTRIBUTABLE.
const LibdwApi& linked_libdw();
// What our own programs use: linked_libdw(), or opened_libdw() in a build that links none.
base::Result<const LibdwApi*> program_libdw();

// libdw.so.1, opened at the first call. Unavailable when this machine has none, or one without a
// function that is needed (before 0.171).
base::Result<const LibdwApi*> opened_libdw();

}  // namespace gpufl::symbols
