// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbolizer.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>

#include "format/test_session.hpp"
#include "symbols/test_fixture.hpp"

namespace gpufl::symbols {
namespace {

namespace fs = std::filesystem;
using format::testing::read_text;
using format::testing::TempDir;
using format::testing::write_text;
using testing::kFixtures;
using testing::kFixtureSources;
using testing::line_of;
using testing::run_fixture;
using State = Symbolizer::State;

const fs::path kShop = kFixtureSources / "shop.cpp";

Binary binary_of(const fs::path& file) {
  return {file.string(), testing::build_id_of(linked_libdw(), file)};
}

std::string file_name(const std::string& path) { return fs::path(path).filename(); }

// Functions, files and lines, exactly; `file` is what code of `program` was compiled into.
void expect_lines(const fs::path& program, const fs::path& file, const BinarySearch& search = {}) {
  SCOPED_TRACE(file.string());
  const auto calls = run_fixture(program);
  Symbolizer symbolizer = Symbolizer::open(linked_libdw(), binary_of(file), search);
  ASSERT_EQ(symbolizer.state(), State::DebugInfo) << to_string(symbolizer.state());
  // Compilers have names of their own for lambdas, and some say where a C function stands.
  const std::map<std::string, std::string> ends = {
      {"hidden", "shop::(anonymous namespace)::hidden(int)"},
      {"template", "void shop::(anonymous namespace)::wrap<double, 3>(double const&)"},
      {"method", "shop::Till::open(int)"},
      {"plain", "plain_c"},
      {"lambda", "::operator()(int) const"}};
  for (const auto& [tag, end] : ends) {
    const auto found = symbolizer.resolve(calls.at(tag).offset);
    ASSERT_EQ(found.size(), 1u) << tag;
    EXPECT_TRUE(found[0].function.ends_with(end)) << found[0].function;
    EXPECT_EQ(found[0].file, kShop.string()) << tag;
    EXPECT_EQ(found[0].line, calls.at(tag).line) << tag;
    EXPECT_FALSE(found[0].inlined) << tag;
  }
  const auto inlined = symbolizer.resolve(calls.at("inlined").offset);
  ASSERT_EQ(inlined.size(), 3u);
  // Nobody outside can call these two, so compilers may leave out what they take.
  const std::vector<CodeLocation> expected = {
      {"shop::(anonymous namespace)::inner", kShop, calls.at("inlined").line, true},
      {"shop::(anonymous namespace)::middle", kShop, line_of(kShop, "// call of inner"), true},
      {"shop::outer(int)", kShop, line_of(kShop, "// call of middle"), false}};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(inlined[i].function.starts_with(expected[i].function)) << inlined[i].function;
    EXPECT_EQ(inlined[i].file, expected[i].file);
    EXPECT_EQ(inlined[i].line, expected[i].line);
    EXPECT_EQ(inlined[i].inlined, expected[i].inlined);
  }
}

TEST(SymbolizerTest, EveryKindOfDebugInformation) {
  for (const char* name : {"dwarf5", "dwarf4", "compressed", "split", "no_pie", "no_build_id"}) {
    expect_lines(kFixtures / name, kFixtures / name);
  }
}

TEST(SymbolizerTest, ASharedLibrary) {
  expect_lines(kFixtures / "with_library", kFixtures / "libshop.so");
  const auto calls = run_fixture(kFixtures / "with_library");
  EXPECT_EQ(file_name(calls.at("hidden").module), "libshop.so");
  Symbolizer program = Symbolizer::open(linked_libdw(), binary_of(kFixtures / "with_library"), {});
  const auto found = program.resolve(calls.at("main").offset);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].function, "main");
  EXPECT_EQ(file_name(found[0].file), "main.cpp");
  EXPECT_EQ(found[0].line, calls.at("main").line);
}

// The same code through the library that a program finds on its machine.
TEST(SymbolizerTest, TheOpenedTableReadsTheSame) {
  const auto opened = opened_libdw();
  if (!opened) GTEST_SKIP() << opened.status().text();
  const auto calls = run_fixture(kFixtures / "dwarf5");
  const Binary binary = binary_of(kFixtures / "dwarf5");
  Symbolizer linked = Symbolizer::open(linked_libdw(), binary, {});
  Symbolizer at_run_time = Symbolizer::open(**opened, binary, {});
  for (const auto& [tag, call] : calls) {
    EXPECT_FALSE(linked.resolve(call.offset).empty());
    EXPECT_EQ(linked.resolve(call.offset), at_run_time.resolve(call.offset)) << tag;
  }
}

TEST(SymbolizerTest, WithoutDebugInformationTheSymbolTable) {
  const auto calls = run_fixture(kFixtures / "without_debug");
  Symbolizer symbolizer =
      Symbolizer::open(linked_libdw(), binary_of(kFixtures / "without_debug"), {});
  EXPECT_EQ(symbolizer.state(), State::Symbols);
  EXPECT_EQ(
      symbolizer.resolve(calls.at("hidden").offset),
      (std::vector<CodeLocation>{{"shop::(anonymous namespace)::hidden(int)", "", 0, false}}));
  EXPECT_EQ(symbolizer.resolve(calls.at("inlined").offset).at(0).function, "shop::outer(int)");
  EXPECT_EQ(symbolizer.resolve(calls.at("main").offset).at(0).function, "main");
}

// A function that is not exported gets no name rather than its neighbour's.
TEST(SymbolizerTest, OnlyExportedNames) {
  const auto calls = run_fixture(kFixtures / "exported_only");
  Symbolizer symbolizer =
      Symbolizer::open(linked_libdw(), binary_of(kFixtures / "exported_only"), {});
  EXPECT_EQ(symbolizer.state(), State::Symbols);
  EXPECT_EQ(symbolizer.resolve(calls.at("method").offset).at(0).function, "shop::Till::open(int)");
  EXPECT_TRUE(symbolizer.resolve(calls.at("hidden").offset).empty());
}

TEST(SymbolizerTest, NothingAtAll) {
  const auto calls = run_fixture(kFixtures / "nothing");
  Symbolizer symbolizer = Symbolizer::open(linked_libdw(), binary_of(kFixtures / "nothing"), {});
  EXPECT_TRUE(symbolizer.resolve(calls.at("hidden").offset).empty());
  EXPECT_TRUE(symbolizer.resolve(0).empty());
  EXPECT_TRUE(symbolizer.resolve(UINT64_MAX).empty());
}

TEST(SymbolizerTest, DebugInformationBesideTheProgram) {
  expect_lines(kFixtures / "debug_link", kFixtures / "debug_link");
  EXPECT_EQ(binary_of(kFixtures / "debug_link_without_id").build_id, "");
  expect_lines(kFixtures / "debug_link_without_id", kFixtures / "debug_link_without_id");
}

TEST(SymbolizerTest, DebugInformationByBuildId) {
  const TempDir folder;
  const fs::path program = folder.path() / "moved";
  fs::copy_file(kFixtures / "debug_link", program);
  const std::string id = binary_of(program).build_id;
  ASSERT_EQ(id.size(), 40u);
  Symbolizer without = Symbolizer::open(linked_libdw(), binary_of(program), {});
  EXPECT_NE(without.state(), State::DebugInfo);
  const fs::path place = folder.path() / "debug" / ".build-id" / id.substr(0, 2);
  fs::create_directories(place);
  fs::copy_file(kFixtures / "debug_link.debug", place / (id.substr(2) + ".debug"));
  BinarySearch search;
  search.debug_dirs = {folder.path() / "debug"};
  expect_lines(program, program, search);
}

TEST(SymbolizerTest, AForeignDebugFileIsNotUsed) {
  for (const std::string name : {"debug_link", "debug_link_without_id"}) {
    const TempDir folder;
    const fs::path program = folder.path() / name;
    fs::copy_file(kFixtures / name, program);
    fs::copy_file(kFixtures / "dwarf4", folder.path() / (name + ".debug"));
    Symbolizer symbolizer = Symbolizer::open(linked_libdw(), binary_of(program), {});
    EXPECT_NE(symbolizer.state(), State::DebugInfo) << name;
    EXPECT_EQ(symbolizer.debug_file(), "") << name;
  }
}

// Recorded here, looked at elsewhere: the binaries lie below another root, or all in one folder.
TEST(SymbolizerTest, AFileThatWasMoved) {
  const auto calls = run_fixture(kFixtures / "dwarf5");
  const Binary recorded{"/gone/bin/dwarf5", binary_of(kFixtures / "dwarf5").build_id};
  EXPECT_EQ(Symbolizer::open(linked_libdw(), recorded, {}).state(), State::NotFound);
  for (const char* place : {"gone/bin/dwarf5", "dwarf5", "dwarf5.debug"}) {
    const TempDir root;
    fs::create_directories((root.path() / place).parent_path());
    fs::copy_file(kFixtures / "dwarf5", root.path() / place);
    BinarySearch search;
    search.debug_dirs = {root.path()};
    Symbolizer symbolizer = Symbolizer::open(linked_libdw(), recorded, search);
    ASSERT_EQ(symbolizer.state(), State::DebugInfo) << place;
    EXPECT_EQ(symbolizer.file(), root.path() / place);
    EXPECT_EQ(symbolizer.resolve(calls.at("method").offset).at(0).line, calls.at("method").line);
  }
}

TEST(SymbolizerTest, AFileThatWasBuiltAnewIsNotUsed) {
  Binary binary = binary_of(kFixtures / "dwarf5");
  binary.build_id[0] = binary.build_id[0] == '0' ? '1' : '0';
  Symbolizer symbolizer = Symbolizer::open(linked_libdw(), binary, {});
  EXPECT_EQ(symbolizer.state(), State::BuildIdMismatch);
  EXPECT_EQ(symbolizer.file(), "");
  EXPECT_TRUE(symbolizer.resolve(0x1200).empty());
  // One without any is another one as well.
  binary.path = kFixtures / "no_build_id";
  EXPECT_EQ(Symbolizer::open(linked_libdw(), binary, {}).state(), State::BuildIdMismatch);
}

TEST(SymbolizerTest, WithoutABuildIdTheFilesAgeDecides) {
  const Binary binary = binary_of(kFixtures / "no_build_id");
  ASSERT_EQ(binary.build_id, "");
  BinarySearch search;
  search.recorded_wall_ns = 1'000'000'000;  // long before it was built
  EXPECT_EQ(Symbolizer::open(linked_libdw(), binary, search).state(), State::NewerThanRecording);
  search.recorded_wall_ns = INT64_MAX;
  EXPECT_EQ(Symbolizer::open(linked_libdw(), binary, search).state(), State::DebugInfo);
}

TEST(SymbolizerTest, WhatIsNoFileOfCode) {
  const TempDir folder;
  const auto state_of = [&](const fs::path& path) {
    return Symbolizer::open(linked_libdw(), {path.string(), ""}, {}).state();
  };
  EXPECT_EQ(state_of(folder.path() / "none"), State::NotFound);
  EXPECT_EQ(state_of(folder.path()), State::NotElf);
  EXPECT_EQ(state_of(""), State::NotFound);
  EXPECT_EQ(state_of("[vdso]"), State::NotFound);
  EXPECT_EQ(state_of("/dev/null"), State::NotElf);
  write_text(folder.path() / "text", "#!/bin/sh\n");
  EXPECT_EQ(state_of(folder.path() / "text"), State::NotElf);
  ASSERT_EQ(mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(state_of(folder.path() / "pipe"), State::NotElf);
  if (geteuid() == 0) return;  // root may read anything
  fs::permissions(folder.path() / "text", fs::perms::none);
  EXPECT_EQ(state_of(folder.path() / "text"), State::Unreadable);
}

// Whatever is in it, reading a file ends and says something. Sanitizers watch.
void read_everything(const fs::path& file, const std::vector<uint64_t>& offsets) {
  auto opened = ElfFile::open(linked_libdw(), file);
  Symbolizer symbolizer =
      Symbolizer::open(linked_libdw(), {file.string(), opened ? (*opened)->build_id() : ""}, {});
  for (const uint64_t offset : offsets) {
    for (const CodeLocation& place : symbolizer.resolve(offset)) EXPECT_GE(place.line, 0);
  }
}

std::vector<uint64_t> offsets_of(const fs::path& program) {
  std::vector<uint64_t> offsets;
  for (const auto& [tag, call] : run_fixture(program)) offsets.push_back(call.offset);
  return offsets;
}

TEST(SymbolizerTest, ATruncatedFile) {
  const TempDir folder;
  const fs::path file = folder.path() / "cut";
  for (const char* name : {"dwarf5", "dwarf4", "debug_link"}) {
    const std::string whole = read_text(kFixtures / name);
    const auto offsets = offsets_of(kFixtures / name);
    for (size_t part = 0; part < 40; ++part) {
      write_text(file, whole.substr(0, whole.size() * part / 40));
      read_everything(file, offsets);
    }
  }
}

TEST(SymbolizerTest, DamagedFiles) {
  const TempDir folder;
  const fs::path file = folder.path() / "damaged";
  std::mt19937_64 random(4711);
  for (const char* name : {"dwarf5", "dwarf4", "compressed", "without_debug"}) {
    const std::string whole = read_text(kFixtures / name);
    const auto offsets = offsets_of(kFixtures / name);
    for (int round = 0; round < 60; ++round) {
      std::string bytes = whole;
      // A few bytes anywhere; then also headers, whose sizes and places are then absurd.
      for (int i = 0; i < 64; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
      const size_t header = round % 3 == 0 ? 64 : 0;
      for (size_t i = 16; i < header; ++i) {
        if (random() % 4 == 0) bytes[i] = static_cast<char>(random());
      }
      const size_t sections = bytes.size() - std::min<size_t>(bytes.size(), 64 * 36);
      for (int i = 0; i < (round % 2) * 32; ++i) {
        bytes[sections + random() % (bytes.size() - sections)] = static_cast<char>(0xFF);
      }
      write_text(file, bytes);
      read_everything(file, offsets);
    }
  }
}

}  // namespace
}  // namespace gpufl::symbols
