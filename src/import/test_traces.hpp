// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "format/test_session.hpp"

// Traces as other tools write them, small enough to count by hand. For tests only.
namespace gpufl::importing::testing {

// Two steps on the main thread (100), each with an operator that launches a kernel from a Python
// function; a kernel that the backward thread (200) launches, a copy, a fill and a wait.
inline const std::string kTorchHead = R"json({"schemaVersion":1,"deviceProperties":[
{"id":0,"name":"NVIDIA H200","totalGlobalMem":150109880320,"computeMajor":9,"numSms":132},
{"id":1,"name":"NVIDIA H200","numSms":132}],"cuda_runtime_version":13000,
"distributedInfo":{"backend":"nccl","rank":3,"world_size":8},
"baseTimeNanoseconds":1790857026000000000,"displayTimeUnit":"ms","traceEvents":[)json";

inline const std::string kTorchEvents = R"json(
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#7","pid":42,"tid":100,
 "ts":1000.001,"dur":50.5,"args":{"External id":1}},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#8","pid":42,"tid":100,
 "ts":1060.000,"dur":40,"args":{}},
{"ph":"X","cat":"user_annotation","name":"forward","pid":42,"tid":100,"ts":1005,"dur":20},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":42,"tid":100,"ts":1006,"dur":10,
 "args":{"Input Dims":[[2,3],[3,4]],"External id":5}},
{"ph":"X","cat":"python_function","name":"train.py(12): main","pid":42,"tid":100,
 "ts":999,"dur":200},
{"ph":"X","cat":"python_function","name":"/home/me/net.py(90): forward","pid":42,"tid":100,
 "ts":1004,"dur":30},
{"ph":"X","cat":"kernel","name":"gemm \"a\"","pid":0,"tid":7,"ts":1030.123,"dur":4.16,
 "args":{"queued":0,"device":0,"context":1,"stream":7,"correlation":21,"External id":5,
 "registers per thread":32,"shared memory":1024,"grid":[2048,1,1],"block":[192,1,1],
 "est. achieved occupancy %":94,"memory bandwidth (GB/s)":inf}},
{"ph":"f","id":21,"pid":0,"tid":7,"ts":1030.123,"cat":"ac2g","name":"ac2g","bp":"e"},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":42,"tid":100,
 "ts":1007.5,"dur":3.25,"args":{"cbid":211,"correlation":21}},
{"ph":"X","cat":"kernel","name":"relu","pid":0,"tid":7,"ts":1040,"dur":2,
 "args":{"device":0,"context":1,"stream":7,"correlation":22,"shared memory":0,
 "grid":[1,1,1],"block":[32,1,1]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":42,"tid":200,
 "ts":1020,"dur":2,"args":{"correlation":22}},
{"ph":"X","cat":"kernel","name":"orphan","pid":0,"tid":7,"ts":1043,"dur":1,
 "args":{"device":0,"context":1,"stream":7}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pinned -> Device)","pid":0,"tid":7,
 "ts":1050,"dur":5,"args":{"device":0,"context":1,"stream":7,"correlation":23,"bytes":4096}},
{"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":42,"tid":100,
 "ts":1045,"dur":2,"args":{"correlation":23}},
{"ph":"X","cat":"gpu_memset","name":"Memset (Device)","pid":0,"tid":7,"ts":1056,"dur":1,
 "args":{"device":0,"context":1,"stream":7,"correlation":24,"bytes":64}},
{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":42,"tid":100,
 "ts":1070,"dur":20,"args":{"correlation":25}},
{"ph":"X","cat":"cuda_runtime","name":"cudaMalloc","pid":42,"tid":100,
 "ts":1092,"dur":3,"args":{"correlation":26}},
{"ph":"X","cat":"gpu_user_annotation","name":"forward","pid":0,"tid":7,"ts":1030,"dur":5},
{"ph":"X","cat":"overhead","name":"Activity Buffer Request","pid":-1,"tid":0,"ts":900,"dur":1.5},
{"ph":"X","cat":"Trace","ts":100,"dur":900000,"pid":"Spans","tid":"PyTorch Profiler",
 "name":"PyTorch Profiler (0)"},
{"name":"process_name","ph":"M","ts":900,"pid":42,"tid":0,"args":{"name":"python3"}},
{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":42,"tid":100,"ts":1001,
 "args":{"Bytes":512}})json";

inline std::string torch_trace() { return kTorchHead + kTorchEvents + "]}"; }

inline std::string gzip(std::string_view text) {
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS;
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace gpufl::importing::testing
