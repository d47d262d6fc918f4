#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What compilers make of warpscope.cuh, without a GPU: the same machine code with a disabled profiler
as with none; every architecture and both generations of NVRTC take every call, and programs that were
written for the published header."""

import argparse
import ctypes
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ARCHITECTURES = [75, 80, 86, 89, 90, 100, 103, 120]
# Assembled for the first, the last, and the first with a copy engine; PTX for the others.
ASSEMBLED = [70, 75, 90, 120]
DISABLED = [
    "ws::Profiler<false>",
    "ws::Profiler<false,ws::Clock::Cycles>",
    "ws::FastProfiler<false>",
    "ws::FastProfiler<false,ws::Clock::Globaltimer,true>",
    "ws::FastProfiler<false,ws::Clock::Cycles,true,32>",
]
ENABLED = "ws::FastProfiler<true,ws::Clock::Globaltimer,true>"
EVERY_CALL = '#include "every_call.cuh"\n'


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def machine_code(options, folder, profiler):
    """The instructions of disabled.cu and their encoding, and what the kernel needs to run."""
    cubin = folder / "disabled.cubin"
    choice = folder / "profiler.hpp"  # nvcc's -D takes no commas
    choice.write_text(f"#define PROFILER {profiler}\n" if profiler else "")
    run([options.nvcc, "-ccbin", options.compiler, "-std=c++17", "-O3", "-arch=sm_90", "-cubin",
         f"-I{options.include}", "-include", choice, HERE / "disabled.cu", "-o", cubin])  # fmt: skip
    cuobjdump = pathlib.Path(options.nvcc).with_name("cuobjdump")
    return run([cuobjdump, "-sass", cubin]) + run([cuobjdump, "-res-usage", cubin])


def check_disabled(options, folder):
    bare = machine_code(options, folder, None)
    if "EXIT" not in bare:
        sys.exit(f"no machine code:\n{bare}")
    if machine_code(options, folder, ENABLED) == bare:
        sys.exit("an enabled profiler leaves no trace: this check sees nothing")
    for profiler in DISABLED:
        if machine_code(options, folder, profiler) != bare:
            sys.exit(f"{profiler} changes the machine code")


def check_architectures(options, folder):
    source = folder / "every_call.cu"
    source.write_text(EVERY_CALL)
    targets = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in ASSEMBLED[1:]]
    run([options.nvcc, "-ccbin", options.compiler, "-std=c++17", "-Werror=all-warnings", "-fatbin", *targets,
         f"-I{options.include}", f"-I{HERE}", source, "-o", folder / "every_call.fatbin"])  # fmt: skip


def nvrtc_error(library, architecture, include):
    """What NVRTC says to every_call.cuh without any include path but those of the headers."""
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), EVERY_CALL.encode(), b"every_call.cu", 0, None, None)
    kind = "sm" if architecture in ASSEMBLED else "compute"
    options = [f"-arch={kind}_{architecture}", "-std=c++17", f"-I{include}", f"-I{HERE}"]
    texts = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    status = library.nvrtcCompileProgram(program, len(options), texts)
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return None if status == 0 else f"status {status}: {log.value.decode()}"


def check_nvrtc(options):
    root = pathlib.Path(options.nvcc).resolve().parent.parent
    places = [root / "lib", root / "lib64", root.parent / "cuda_nvrtc" / "lib"]
    for version, architectures in ((13, ARCHITECTURES), (12, [70])):
        found = [path for place in places for path in place.glob(f"libnvrtc.so.{version}")]
        if not found:
            print(f"no libnvrtc.so.{version} near {root}: not checked")
            continue
        for part in found[0].parent.glob(f"libnvrtc-builtins.so.{version}*"):
            ctypes.CDLL(str(part), ctypes.RTLD_GLOBAL)  # where the library itself does not look
        library = ctypes.CDLL(str(found[0]))
        for architecture in architectures:
            error = nvrtc_error(library, architecture, options.include)
            if error:
                sys.exit(f"NVRTC {version}, sm_{architecture}: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_disabled(options, folder)
        check_architectures(options, folder)
    check_nvrtc(options)


if __name__ == "__main__":
    main()
