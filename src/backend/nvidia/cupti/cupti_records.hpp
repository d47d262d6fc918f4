// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

// The activity records that we read, as CUPTI 12.0 lays them out. Later versions only append to
// them (13.0's kernel record is 8 bytes longer, 13.1's 16), and cuptiActivityGetNextRecord knows
// the sizes of its own version, so one decoder serves 12.0 to 13.x. The offsets below were compared
// with the headers of 12.0, 12.9, 13.0 and 13.1; with other headers they are checked here.
namespace gpufl::backend {

using KernelRecord = CUpti_ActivityKernel9;
using MemcpyRecord = CUpti_ActivityMemcpy5;
using PeerMemcpyRecord = CUpti_ActivityMemcpyPtoP4;
using MemsetRecord = CUpti_ActivityMemset4;
using SyncRecord = CUpti_ActivitySynchronization;
using ApiRecord = CUpti_ActivityAPI;
using MemoryRecord = CUpti_ActivityMemory3;
using ExternalRecord = CUpti_ActivityExternalCorrelation;
using OverheadRecord = CUpti_ActivityOverhead;
using DeviceRecord = CUpti_ActivityDevice4;
using ContextRecord = CUpti_ActivityContext;

// Of the kernel record since 13.0, behind what all versions have: 1 where a kernel on the GPU
// launched it.
inline constexpr uint32_t kDeviceLaunchedSince = 130'000;
inline constexpr size_t kDeviceLaunchedOffset = 208;

#define GPUFL_AT(record, field, offset) \
  static_assert(offsetof(record, field) == (offset), #record " has another layout")
#define GPUFL_TRANSFER_AT(record)  \
  GPUFL_AT(record, bytes, 8);      \
  GPUFL_AT(record, start, 16);     \
  GPUFL_AT(record, end, 24);       \
  GPUFL_AT(record, deviceId, 32);  \
  GPUFL_AT(record, contextId, 36); \
  GPUFL_AT(record, streamId, 40)
#define GPUFL_KERNEL_AT(record)               \
  GPUFL_AT(record, cacheConfig, 4);           \
  GPUFL_AT(record, registersPerThread, 6);    \
  GPUFL_AT(record, start, 16);                \
  GPUFL_AT(record, end, 24);                  \
  GPUFL_AT(record, deviceId, 40);             \
  GPUFL_AT(record, contextId, 44);            \
  GPUFL_AT(record, streamId, 48);             \
  GPUFL_AT(record, gridX, 52);                \
  GPUFL_AT(record, blockX, 64);               \
  GPUFL_AT(record, staticSharedMemory, 76);   \
  GPUFL_AT(record, dynamicSharedMemory, 80);  \
  GPUFL_AT(record, localMemoryPerThread, 84); \
  GPUFL_AT(record, correlationId, 92);        \
  GPUFL_AT(record, name, 104);                \
  GPUFL_AT(record, queued, 120);              \
  GPUFL_AT(record, submitted, 128);           \
  GPUFL_AT(record, graphNodeId, 144);         \
  GPUFL_AT(record, graphId, 156);             \
  GPUFL_AT(record, clusterX, 176);            \
  GPUFL_AT(record, clusterZ, 184);            \
  GPUFL_AT(record, localMemoryTotal_v2, 192)
#define GPUFL_MEMORY_AT(record)             \
  GPUFL_AT(record, memoryOperationType, 4); \
  GPUFL_AT(record, memoryKind, 8);          \
  GPUFL_AT(record, correlationId, 12);      \
  GPUFL_AT(record, address, 16);            \
  GPUFL_AT(record, bytes, 24);              \
  GPUFL_AT(record, timestamp, 32);          \
  GPUFL_AT(record, deviceId, 52);           \
  GPUFL_AT(record, contextId, 56);          \
  GPUFL_AT(record, streamId, 60);           \
  GPUFL_AT(record, isAsync, 72);            \
  GPUFL_AT(record, memoryPoolConfig, 80)

GPUFL_KERNEL_AT(CUpti_ActivityKernel9);
#if CUPTI_API_VERSION >= 130000
GPUFL_KERNEL_AT(CUpti_ActivityKernel10);
GPUFL_AT(CUpti_ActivityKernel10, isDeviceLaunched, kDeviceLaunchedOffset);
GPUFL_TRANSFER_AT(CUpti_ActivityMemcpy6);
GPUFL_AT(CUpti_ActivityMemcpy6, correlationId, 44);
GPUFL_AT(CUpti_ActivitySynchronization2, cudaEventId, 36);
GPUFL_MEMORY_AT(CUpti_ActivityMemory4);
GPUFL_AT(CUpti_ActivityOverhead3, start, 24);
GPUFL_AT(CUpti_ActivityDevice5, migUuid, 160);
GPUFL_AT(CUpti_ActivityContext3, computeApiKind, 12);
#endif
#if CUPTI_API_VERSION >= 130100
GPUFL_KERNEL_AT(CUpti_ActivityKernel11);
#endif
GPUFL_TRANSFER_AT(MemcpyRecord);
GPUFL_AT(MemcpyRecord, copyKind, 4);
GPUFL_AT(MemcpyRecord, flags, 7);
GPUFL_AT(MemcpyRecord, correlationId, 44);
GPUFL_AT(MemcpyRecord, graphNodeId, 64);
GPUFL_AT(MemcpyRecord, graphId, 72);
GPUFL_TRANSFER_AT(PeerMemcpyRecord);
GPUFL_AT(PeerMemcpyRecord, srcDeviceId, 44);
GPUFL_AT(PeerMemcpyRecord, dstDeviceId, 52);
GPUFL_AT(PeerMemcpyRecord, correlationId, 60);
GPUFL_AT(PeerMemcpyRecord, graphNodeId, 72);
GPUFL_AT(PeerMemcpyRecord, graphId, 80);
GPUFL_TRANSFER_AT(MemsetRecord);
GPUFL_AT(MemsetRecord, value, 4);
GPUFL_AT(MemsetRecord, correlationId, 44);
GPUFL_AT(MemsetRecord, memoryKind, 50);
GPUFL_AT(MemsetRecord, graphNodeId, 64);
GPUFL_AT(MemsetRecord, graphId, 72);
GPUFL_AT(SyncRecord, type, 4);
GPUFL_AT(SyncRecord, start, 8);
GPUFL_AT(SyncRecord, correlationId, 24);
GPUFL_AT(SyncRecord, contextId, 28);
GPUFL_AT(SyncRecord, streamId, 32);
GPUFL_AT(SyncRecord, cudaEventId, 36);
GPUFL_AT(ApiRecord, cbid, 4);
GPUFL_AT(ApiRecord, start, 8);
GPUFL_AT(ApiRecord, threadId, 28);
GPUFL_AT(ApiRecord, correlationId, 32);
GPUFL_AT(ApiRecord, returnValue, 36);
GPUFL_MEMORY_AT(MemoryRecord);
GPUFL_AT(ExternalRecord, externalKind, 4);
GPUFL_AT(ExternalRecord, externalId, 8);
GPUFL_AT(ExternalRecord, correlationId, 16);
GPUFL_AT(OverheadRecord, overheadKind, 4);
GPUFL_AT(OverheadRecord, start, 24);
GPUFL_AT(OverheadRecord, end, 32);
GPUFL_AT(DeviceRecord, id, 112);
GPUFL_AT(DeviceRecord, isMigEnabled, 145);
GPUFL_AT(DeviceRecord, gpuInstanceId, 152);
GPUFL_AT(DeviceRecord, migUuid, 160);
GPUFL_AT(ContextRecord, contextId, 4);
GPUFL_AT(ContextRecord, deviceId, 8);
GPUFL_AT(ContextRecord, computeApiKind, 12);

#undef GPUFL_MEMORY_AT
#undef GPUFL_KERNEL_AT
#undef GPUFL_TRANSFER_AT
#undef GPUFL_AT

}  // namespace gpufl::backend
