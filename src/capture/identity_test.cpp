// SPDX-License-Identifier: Apache-2.0
#include "capture/identity.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>

namespace gpufl::capture {
namespace {

Environment environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found != variables.end() ? std::optional(found->second) : std::nullopt;
  };
}

format::SessionHeader ranks(std::map<std::string, std::string> variables) {
  format::SessionHeader header;
  fill_ranks(environment(std::move(variables)), header);
  return header;
}

TEST(RunId, OwnVariableWins) {
  EXPECT_EQ(
      launcher_run_id(environment(
          {{"GPUFL_RUN_ID", "mine"}, {"TORCHELASTIC_RUN_ID", "theirs"}, {"SLURM_JOB_ID", "7"}})),
      "mine");
}

TEST(RunId, Torchrun) {
  EXPECT_EQ(launcher_run_id(environment({{"TORCHELASTIC_RUN_ID", "job42"}, {"SLURM_JOB_ID", "7"}})),
            "job42");
}

TEST(RunId, TorchrunWithoutIdIsToldByItsProcess) {
  const auto id = launcher_run_id(environment({{"TORCHELASTIC_RUN_ID", "none"}}));
  ASSERT_TRUE(id);
  EXPECT_EQ(id->rfind("torchrun-" + std::to_string(getppid()) + "-", 0), 0u) << *id;
  EXPECT_NE(id->back(), '-');
  EXPECT_EQ(launcher_run_id(environment({{"TORCHELASTIC_RUN_ID", "none"}})), id);
}

TEST(RunId, Slurm) {
  EXPECT_EQ(launcher_run_id(environment({{"SLURM_JOB_ID", "1234"}})), "slurm-1234");
  EXPECT_EQ(launcher_run_id(environment({{"SLURM_JOB_ID", "1234"}, {"SLURM_STEP_ID", "2"}})),
            "slurm-1234.2");
}

TEST(RunId, NoLauncher) {
  EXPECT_FALSE(launcher_run_id(environment({})));
  EXPECT_FALSE(launcher_run_id(environment({{"GPUFL_RUN_ID", ""}})));
}

TEST(Ranks, Torchrun) {
  const auto header = ranks({{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}});
  EXPECT_EQ(header.rank, 3);
  EXPECT_EQ(header.world_size, 8);
  EXPECT_EQ(header.local_rank, 1);
}

TEST(Ranks, OpenMpi) {
  const auto header = ranks({{"OMPI_COMM_WORLD_RANK", "5"},
                             {"OMPI_COMM_WORLD_SIZE", "16"},
                             {"OMPI_COMM_WORLD_LOCAL_RANK", "2"}});
  EXPECT_EQ(header.rank, 5);
  EXPECT_EQ(header.world_size, 16);
  EXPECT_EQ(header.local_rank, 2);
}

TEST(Ranks, Pmi) {
  const auto header = ranks({{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "0"}});
  EXPECT_EQ(header.rank, 0);
  EXPECT_EQ(header.world_size, 4);
  EXPECT_EQ(header.local_rank, 0);
}

TEST(Ranks, Slurm) {
  const auto header =
      ranks({{"SLURM_PROCID", "9"}, {"SLURM_NTASKS", "32"}, {"SLURM_LOCALID", "1"}});
  EXPECT_EQ(header.rank, 9);
  EXPECT_EQ(header.world_size, 32);
  EXPECT_EQ(header.local_rank, 1);
}

// torchrun under Slurm: Slurm counts the launchers, torchrun the workers.
TEST(Ranks, NearestLauncherWins) {
  const auto header = ranks({{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"SLURM_PROCID", "0"}});
  EXPECT_EQ(header.rank, 3);
  EXPECT_FALSE(header.local_rank);
}

TEST(Ranks, NonsenseIsNone) {
  EXPECT_FALSE(ranks({{"RANK", "three"}}).rank);
  EXPECT_FALSE(ranks({{"RANK", "-1"}}).rank);
  EXPECT_FALSE(ranks({{"RANK", ""}}).rank);
  EXPECT_FALSE(ranks({}).rank);
}

class ContainerTest : public testing::Test {
 protected:
  ContainerTest() {
    char pattern[] = "/tmp/gpufl_identity_XXXXXX";
    root_ = mkdtemp(pattern);
  }
  ~ContainerTest() override { std::filesystem::remove_all(root_); }

  void put(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  std::string detect(std::map<std::string, std::string> variables = {}) {
    return detect_container(root_, environment(std::move(variables)));
  }

  const std::string id_ = std::string(31, 'a') + "0" + std::string(32, '7');
  std::filesystem::path root_;
};

TEST_F(ContainerTest, NoneOnBareMetal) {
  put("proc/self/cgroup", "0::/user.slice/user-1000.slice/session-2.scope\n");
  // A host that runs containers sees their layers among its own mounts.
  put("proc/self/mountinfo",
      "99 25 0:52 / /var/lib/docker/overlay2/" + id_ + "/merged rw - overlay overlay rw\n");
  EXPECT_EQ(detect(), "");
}

TEST_F(ContainerTest, DockerControlGroup) {
  put("proc/self/cgroup", "0::/system.slice/docker-" + id_ + ".scope\n");
  EXPECT_EQ(detect(), id_);
}

TEST_F(ContainerTest, KubernetesControlGroup) {
  put("proc/self/cgroup", "5:memory:/kubepods/burstable/pod1234/" + id_ + "\n");
  EXPECT_EQ(detect(), id_);
}

TEST_F(ContainerTest, PrivateControlGroupIsSeenInMounts) {
  put("proc/self/cgroup", "0::/\n");
  put("proc/self/mountinfo", "512 480 254:1 /var/lib/docker/containers/" + id_ +
                                 "/hostname /etc/hostname rw,relatime - ext4 /dev/vda1 rw\n");
  EXPECT_EQ(detect(), id_);
}

TEST_F(ContainerTest, Podman) {
  put("run/.containerenv", "engine=\"podman-4.3.1\"\nname=\"x\"\nid=\"" + id_ + "\"\n");
  EXPECT_EQ(detect(), id_);
  put("run/.containerenv", "");
  EXPECT_EQ(detect(), "podman");
}

TEST_F(ContainerTest, OnlyTheRuntimeIsKnown) {
  EXPECT_EQ(detect({{"APPTAINER_NAME", "image.sif"}}), "apptainer");
  EXPECT_EQ(detect({{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}}), "kubernetes");
  EXPECT_EQ(detect({{"container", "lxc"}}), "lxc");
  put(".dockerenv", "");
  EXPECT_EQ(detect(), "docker");
}

TEST(DescribeProcess, TellsWhoAndWhere) {
  const format::SessionHeader header = describe_process(1'700'000'000'000'000'000);
  EXPECT_EQ(header.pid, getpid());
  EXPECT_FALSE(header.process.empty());
  EXPECT_NE(header.command.find("capture_test"), std::string::npos);
  EXPECT_FALSE(header.host.empty());
  EXPECT_FALSE(header.boot_id.empty());
  EXPECT_FALSE(header.run_id.empty());
  EXPECT_FALSE(header.session_id.empty());
}

}  // namespace
}  // namespace gpufl::capture
