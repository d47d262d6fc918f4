// SPDX-License-Identifier: Apache-2.0
#include "disassembly/nvdisasm.hpp"

#include <gtest/gtest.h>

#include "disassembly/test_modules.hpp"

namespace gpufl::disassembly {
namespace {

namespace fs = std::filesystem;
using format::testing::TempDir;
using testing::write_script;

class NvdisasmTest : public ::testing::Test {
 protected:
  fs::path place(const fs::path& folder, const std::string& body = "") {
    fs::create_directories(dir_.path() / folder);
    return write_script(dir_.path() / folder / "nvdisasm", body);
  }
  NvdisasmSearch search() const {
    NvdisasmSearch search;
    search.toolkits = {dir_.path() / "cuda"};
    search.python_packages = {dir_.path() / "site-packages"};
    search.path = {dir_.path() / "none", dir_.path() / "bin"};
    return search;
  }
  TempDir dir_;
};

TEST_F(NvdisasmTest, ToolkitComesBeforeWheelBeforePath) {
  const fs::path in_path = place("bin");
  EXPECT_EQ(*find_nvdisasm(search()), in_path);
  const fs::path in_wheel = place("site-packages/nvidia/cu13/bin");
  EXPECT_EQ(*find_nvdisasm(search()), in_wheel);
  const fs::path in_toolkit = place("cuda/bin");
  EXPECT_EQ(*find_nvdisasm(search()), in_toolkit);
}

TEST_F(NvdisasmTest, TheOneThatWasAskedForIsTheOnlyOne) {
  place("bin");
  const fs::path mine = place("mine");
  NvdisasmSearch asked = search();
  asked.asked = mine;
  EXPECT_EQ(*find_nvdisasm(asked), mine);
  asked.asked = dir_.path() / "gone";
  EXPECT_EQ(find_nvdisasm(asked).status().code(), base::Code::NotFound);
}

TEST_F(NvdisasmTest, WhereThereIsNoneTheMessageSaysHowToGetIt) {
  const auto found = find_nvdisasm(search());
  ASSERT_FALSE(found.is_ok());
  EXPECT_NE(found.status().message().find("pip install nvidia-cuda-nvdisasm"), std::string::npos);
  EXPECT_NE(found.status().message().find("GPUFL_NVDISASM"), std::string::npos);
}

TEST_F(NvdisasmTest, AFileThatIsNoProgramIsPassedOver) {
  fs::permissions(place("cuda/bin"), fs::perms::owner_read);
  const fs::path in_path = place("bin");
  if (::access((dir_.path() / "cuda/bin/nvdisasm").c_str(), X_OK) == 0) GTEST_SKIP();
  EXPECT_EQ(*find_nvdisasm(search()), in_path);
}

TEST_F(NvdisasmTest, AFailureHasTheToolsOwnWords) {
  const Nvdisasm tool(place("bin", "echo 'nvdisasm fatal : no such machine' >&2; exit 1\n"));
  const auto listing = tool.list("image", {});
  ASSERT_FALSE(listing.is_ok());
  EXPECT_EQ(listing.status().code(), base::Code::Corrupt);
  EXPECT_NE(listing.status().message().find("no such machine"), std::string::npos);
}

TEST_F(NvdisasmTest, AnOlderOneIsAskedForLess) {
  const Nvdisasm tool(place("bin", "case \"$*\" in *-gp*) exit 1;; esac; echo \"$*\"\n"));
  const uint32_t symbols[] = {7, 9};
  const auto listing = tool.list("image", symbols);
  ASSERT_TRUE(listing.is_ok());
  EXPECT_EQ(*listing, "-c -g -fun 7,9 /proc/self/fd/3\n");
}

TEST_F(NvdisasmTest, TheRealOneHasAVersionAndReadsTheImage) {
  GPUFL_NEEDS_NVDISASM();
  const Nvdisasm tool(testing::real_nvdisasm());
  EXPECT_FALSE(tool.version().empty());
  const auto listing = tool.list(testing::image_of("saxpy"), {});
  ASSERT_TRUE(listing.is_ok()) << listing.status().text();
  EXPECT_NE(listing->find("FFMA"), std::string::npos);
  std::string damaged = testing::image_of("saxpy");
  damaged.resize(damaged.size() / 2);
  EXPECT_EQ(tool.list(damaged, {}).status().code(), base::Code::Corrupt);
}

}  // namespace
}  // namespace gpufl::disassembly
