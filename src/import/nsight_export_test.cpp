// SPDX-License-Identifier: Apache-2.0
#include "import/nsight_export.hpp"

#include <gtest/gtest.h>
#include "format/test_session.hpp"
#include "sqlite/database.hpp"

namespace gpufl::importing {
namespace {

namespace fs = std::filesystem;
using base::Code;

void run_sql(const fs::path& path, const std::string& sql) {
  auto file = sqlite::Database::open(path, sqlite::Database::Mode::Durable);
  ASSERT_TRUE(file) << file.status().text();
  const base::Status done =
      (*file)->run_script(("PRAGMA synchronous=OFF;BEGIN;" + sql + "COMMIT;").c_str());
  EXPECT_TRUE(done) << done.text();
}

// Global ids of process 145: its thread 7, and itself.
const std::string kThread = std::to_string((int64_t{1} << 48) + (int64_t{145} << 24) + 7);
const std::string kProcess = std::to_string((int64_t{1} << 48) + (int64_t{145} << 24));
const std::string kOtherProcess = std::to_string((int64_t{1} << 48) + (int64_t{146} << 24));

// As the export's documentation has it, of the columns those that matter.
std::string documented_export() {
  const std::string &thread = kThread, &process = kProcess, &other = kOtherProcess;
  return R"(
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1,'_Z4gemmv'),(2,'gemm()'),(3,'cudaLaunchKernel_v7000'),
  (4,'cudaStreamSynchronize_ptsz_v7000'),(5,'pt_autograd_0'),(6,'step'),(7,'cudaMalloc_v3020');
CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0,'','Pageable'),(1,'','Pinned'),(2,'','Device');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1779782330000000000);
CREATE TABLE ANALYSIS_DETAILS (startTime INTEGER, stopTime INTEGER);
INSERT INTO ANALYSIS_DETAILS VALUES (1000, 9000);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname','node1'),('NvDriverVersion','580.95.05');
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER, cuDevice INTEGER,
  totalMemory INTEGER, computeMajor INTEGER, computeMinor INTEGER);
INSERT INTO TARGET_INFO_GPU VALUES (0,'NVIDIA A',1,1,10,9,0),(1,'NVIDIA B',2,0,20,9,0);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
INSERT INTO PROCESSES VALUES ()" +
         process + R"(,145,'python3');
CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);
INSERT INTO ThreadNames VALUES (5,20,)" +
         thread + R"();
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER, shortName INTEGER, mangledName INTEGER, registersPerThread INTEGER,
  gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
  staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, clusterX INTEGER, clusterY INTEGER,
  clusterZ INTEGER, cacheConfig INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (2000,2500,1,2,15,77,)" +
         process + R"(,2,2,1,40,8,1,1,128,1,1,16,32,2,1,1,1),
  (2600,2500,1,2,15,78,)" +
         process + R"(,2,2,1,40,8,1,1,128,1,1,16,32,0,0,0,1),
  (2100,2200,0,1,7,77,)" +
         other + R"(,2,2,NULL,40,8,1,1,128,1,1,16,32,0,0,0,1);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER,
  copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (3000,3100,1,2,15,NULL,)" +
         process + R"(,4096,1,0,2);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER,
  eventId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES
  (3200,3300,0,2,4294967295,79,)" +
         process + R"(,3,4294967295);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1900,1950,)" +
         thread + R"(,77,3,0),
  (3190,3310,)" +
         thread + R"(,79,4,0),(3400,3410,)" + thread + R"(,80,7,2);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER,
  category INTEGER, color INTEGER, text TEXT, textId INTEGER, globalTid INTEGER,
  endGlobalTid INTEGER, domainId INTEGER);
INSERT INTO NVTX_EVENTS VALUES
  (1800,4000,59,NULL,NULL,NULL,NULL,6,)" +
         thread + R"(,NULL,0),
  (1850,2000,59,NULL,NULL,NULL,'aten::mm, seq = 3, op_id = 99',NULL,)" +
         thread + R"(,NULL,0),
  (1000,NULL,75,NULL,NULL,NULL,'NCCL',NULL,)" +
         thread + R"(,NULL,1),
  (1860,1900,59,NULL,4,255,'ncclAllReduce',NULL,)" +
         thread + R"(,NULL,1),
  (1870,3900,60,5,NULL,NULL,'async',NULL,)" +
         thread + R"(,)" + thread + R"(,0),
  (1880,NULL,34,NULL,NULL,NULL,'here',NULL,)" +
         thread + R"(,NULL,0),
  (1890,NULL,59,NULL,NULL,NULL,'open',NULL,)" +
         thread + R"(,NULL,0);
)";
}

class NsightExportTest : public ::testing::Test {
 protected:
  base::Result<std::vector<Trace>> read(const std::string& sql) {
    const fs::path path = temp_.path() / "trace.sqlite";
    run_sql(path, sql);
    return read_nsight_export(path, {});
  }
  format::testing::TempDir temp_;
};

TEST_F(NsightExportTest, TellsProcessesApart) {
  const auto traces = read(documented_export());
  ASSERT_TRUE(traces.is_ok()) << traces.status().text();
  ASSERT_EQ(traces->size(), 2U);
  EXPECT_EQ((*traces)[0].pid, 145);
  EXPECT_EQ((*traces)[1].pid, 146);
  EXPECT_EQ((*traces)[0].process, "python3");
  EXPECT_EQ((*traces)[0].host, "node1");
  EXPECT_EQ((*traces)[0].thread_names.at(7), "pt_autograd_0");
  EXPECT_EQ((*traces)[0].wall_of_zero_ns + 1000, 1779782330000000000);
  ASSERT_EQ((*traces)[1].kernels.size(), 1U);
}

TEST_F(NsightExportTest, ReadsWorkAndCalls) {
  const auto traces = read(documented_export());
  ASSERT_TRUE(traces.is_ok());
  const Trace& trace = traces->front();
  ASSERT_EQ(trace.kernels.size(), 1U);
  EXPECT_EQ(trace.impossible_times, 1U);
  EXPECT_EQ(trace.kernels[0].duration, 500);
  const Launch& launch = trace.launches[trace.kernels[0].launch];
  EXPECT_EQ(trace.names[launch.name], "_Z4gemmv");
  EXPECT_EQ(launch.shared_static, 16);
  EXPECT_EQ(launch.cluster, (Launch::Size{2, 1, 1}));
  EXPECT_EQ(launch.local_total, kUnknown);  // this version has no such column
  ASSERT_EQ(trace.copies.size(), 1U);
  EXPECT_EQ(trace.copies[0].source_kind, 1);  // pageable, by the log's numbers
  EXPECT_EQ(trace.copies[0].target_kind, 3);
  EXPECT_EQ(trace.copies[0].correlation, kUnknown);
  ASSERT_EQ(trace.calls.size(), 3U);
  EXPECT_EQ(trace.names[trace.calls[0].name], "cudaLaunchKernel");
  EXPECT_EQ(trace.calls[0].thread, 7);
  EXPECT_EQ(trace.calls[2].result, 2);
}

TEST_F(NsightExportTest, TakesTheDeviceOfAWaitFromItsContext) {
  const auto traces = read(documented_export());
  ASSERT_TRUE(traces.is_ok());
  const Trace& trace = traces->front();
  ASSERT_EQ(trace.waits.size(), 1U);
  EXPECT_EQ(trace.lanes[trace.waits[0].lane].device, 1);
  EXPECT_EQ(trace.lanes[trace.waits[0].lane].stream, kUnknown);
  EXPECT_EQ(trace.waits[0].event_id, kUnknown);
  EXPECT_EQ(trace.devices.at(1)["name"].as_string(), "NVIDIA A");
  EXPECT_EQ(trace.devices.at(1)["driver"].as_string(), "580.95.05");
}

TEST_F(NsightExportTest, MakesScopesOfTheProgramsOwnRanges) {
  const auto traces = read(documented_export());
  ASSERT_TRUE(traces.is_ok());
  const Trace& trace = traces->front();
  ASSERT_EQ(trace.scopes.size(), 1U);
  EXPECT_EQ(trace.names[trace.scopes[0].name], "step");
  EXPECT_EQ(trace.scopes[0].duration, 2200);
  ASSERT_EQ(trace.markers.size(), 4U);
  EXPECT_EQ(trace.names[trace.markers[0].name], "aten::mm");
  EXPECT_EQ(trace.names[trace.markers[0].domain], "torch.cpu_op");
  EXPECT_EQ(trace.names[trace.markers[1].domain], "NCCL");
  EXPECT_EQ(trace.markers[1].category, 4);
  EXPECT_EQ(trace.markers[2].shape, 2);
  EXPECT_EQ(trace.markers[2].range_id, 5);
  EXPECT_EQ(trace.markers[3].shape, 0);
  EXPECT_EQ(trace.not_imported.at("ranges without an end"), 1U);
}

TEST_F(NsightExportTest, ReadsAnExportWithoutProcessesOrEnums) {
  const auto traces = read(R"(
CREATE TABLE StringIds (id INTEGER, value TEXT);
INSERT INTO StringIds VALUES (2,'gemm');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
  streamId INTEGER, correlationId INTEGER, shortName INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0,10,0,7,1,2);)");
  ASSERT_TRUE(traces.is_ok()) << traces.status().text();
  ASSERT_EQ(traces->size(), 1U);
  const Trace& trace = traces->front();
  const Launch& launch = trace.launches[trace.kernels.at(0).launch];
  EXPECT_EQ(trace.names[launch.name], "gemm");
  EXPECT_EQ(launch.grid[0], kUnknown);
  EXPECT_EQ(trace.lanes[trace.kernels[0].lane].context, kUnknown);
}

TEST_F(NsightExportTest, LeavesOutTimesAndSizesThatAreNone) {
  const auto traces = read(R"(
CREATE TABLE StringIds (id INTEGER, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, bytes INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (-9223372036854775807,9223372036854775807,1),
  ('soon',10,1),(5,NULL,1),(1,400000000000000000,1),(1,2,-7),(1,2,9223372036854775807),(1,2,8);)");
  ASSERT_TRUE(traces.is_ok()) << traces.status().text();
  const Trace& trace = traces->front();
  EXPECT_EQ(trace.impossible_times, 4U);
  ASSERT_EQ(trace.copies.size(), 3U);
  EXPECT_EQ(trace.copies[0].bytes, kUnknown);
  EXPECT_EQ(trace.copies[1].bytes, kUnknown);
  EXPECT_EQ(trace.copies[2].bytes, 8);
}

TEST_F(NsightExportTest, SaysWhatIsWrongWithOtherFiles) {
  EXPECT_EQ(read("CREATE TABLE a (b INTEGER);").status().code(), Code::Unsupported);
  const fs::path path = temp_.path() / "trace.sqlite";
  fs::remove(path);
  EXPECT_EQ(read("CREATE TABLE StringIds (id INTEGER, value TEXT);").status().code(),
            Code::NotFound);
  const std::string whole = format::testing::read_text(path);
  format::testing::write_text(path, whole.substr(0, whole.size() / 2));
  EXPECT_EQ(read_nsight_export(path, {}).status().code(), Code::Corrupt);
}

}  // namespace
}  // namespace gpufl::importing
