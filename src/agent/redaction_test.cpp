// SPDX-License-Identifier: Apache-2.0
#include "agent/redaction.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <optional>

#include "agent/test_shipping.hpp"
#include "agent/upload.hpp"
#include "base/eventually.hpp"
#include "format/manifest.hpp"

namespace gpufl::agent {
namespace {

using namespace testing;

class RedactionTest : public ShipperTest {
 protected:
  ~RedactionTest() override {
    usual_ ? ::setenv("TMPDIR", usual_->c_str(), 1) : ::unsetenv("TMPDIR");
  }
  static format::SessionHeader secret_header() {
    format::SessionHeader header = test_header();
    header.command = "train --token=hunter2";
    return header;
  }
  // What is recorded holds two secrets.
  void record() {
    format::LogOptions options = test_options(session_);
    options.window_bytes = 4096;
    auto writer = format::LogWriter::create(options, secret_header());
    ASSERT_TRUE(writer) << writer.status().text();
    for (int row = 0; row < 500; row += 10) {
      (*writer)->write(scope_rows(**writer, 1 + row, 10, 100));
    }
    ASSERT_TRUE((*writer)->close(9000, {}));
    base::Json first = secret_header().to_json();
    first.set("channel", "code").set("window", 1);
    write_text(session_ / "code.1.log", first.dump() + "\n" +
                                            "{\"type\":\"source\",\"time\":1,\"path\":\"a.cu\","
                                            "\"text\":\"hunter2\"}\n"
                                            "{\"type\":\"source\",\"text\":\"hunter2");
    const std::string line = secret_header().to_json().dump() +
                             "\n{\"type\":\"source\",\"path\":\"a\","
                             "\"lines\":[\"hunter2\"]}\n";
    write_text(session_ / "symbols.ndjson", line + "{\"type\":\"end\",\"hash\":\"old\"}\n");
    write_text(session_ / "disassembly.ndjson.zst", "hunter2");
  }
  UploadRequest request(const Redaction& redaction) {
    UploadRequest made;
    made.sessions = {session_};
    made.server.backend_url = server_.url();
    made.server.api_key = make_key();
    made.variables = [](const std::string&) { return std::string(); };
    made.retry_for = std::chrono::milliseconds(0);
    made.redaction = redaction;
    return made;
  }
  // What the server has, as a folder.
  fs::path arrived() {
    const fs::path folder = dir_.path() / "arrived";
    fs::remove_all(folder);
    fs::create_directory(folder);
    const Session sent = there();
    for (const auto& [key, window] : sent.windows) {
      const bool is_sealed = !window.sealed.empty();
      write_text(folder / (key.first + "." + key.second + (is_sealed ? ".log.zst" : ".log")),
                 is_sealed ? window.sealed : window.live);
    }
    for (const auto& [kind, whole] : sent.whole)
      write_text(folder / (kind + ".ndjson"), whole.second);
    return folder;
  }
  static std::string all_text(const fs::path& dir) {
    std::string text;
    for (const std::string& name : file_names(dir)) {
      const auto outcome = format::read_window(dir / name, [&](std::string_view line) {
        text.append(line) += '\n';
        return true;
      });
      text += outcome.tail;
    }
    return text;
  }

 private:
  const std::optional<std::string> usual_ = std::getenv("TMPDIR") == nullptr
                                                ? std::nullopt
                                                : std::optional<std::string>(std::getenv("TMPDIR"));
};

TEST_F(RedactionTest, LeavesOutWhatIsAskedFor) {
  record();
  const std::string before = all_text(session_);
  const UploadOutcome outcome = upload(request({.source = true, .command = true}));
  EXPECT_EQ(outcome.extent, UploadOutcome::Extent::All) << outcome.to_json().dump();
  const std::string sent = all_text(arrived());
  EXPECT_EQ(sent.find("hunter2"), std::string::npos);
  EXPECT_EQ(sent.find("--token"), std::string::npos);
  EXPECT_NE(sent.find("\"source_text\":false"), std::string::npos);
  EXPECT_FALSE(there().whole.contains("disassembly"));
  EXPECT_EQ(all_text(session_), before) << "the session stays as it is";
  EXPECT_EQ(read_all(arrived()).rows, read_all(session_).rows);
  for (const auto& problem : read_all(arrived()).problems) {
    EXPECT_TRUE(problem.kind == format::Problem::Kind::TornLine) << problem.text;
  }
  EXPECT_EQ(upload(request({.source = true, .command = true})).files_processed, 0u)
      << "the same again";
}

TEST_F(RedactionTest, LeavesOutNothingElse) {
  record();
  ASSERT_EQ(upload(request({.source = false, .command = true})).extent, UploadOutcome::Extent::All);
  const std::string code = there().windows[{"code", "1"}].live;
  EXPECT_NE(code.find("\"text\":\"hunter2\""), std::string::npos);
  EXPECT_EQ(code.find("--token"), std::string::npos);
  server_.change(test_header().session_id, [](Session& session) { session = {}; });
  ASSERT_EQ(upload(request({.source = true, .command = false})).extent, UploadOutcome::Extent::All);
  const std::string other = there().windows[{"code", "1"}].live;
  EXPECT_NE(other.find("--token=hunter2"), std::string::npos);
  EXPECT_EQ(other.find("\"text\""), std::string::npos);
}

// A small file may unpack to a terabyte, which is not to fill the disk.
TEST_F(RedactionTest, CopiesNoMoreThanAWindowHolds) {
  record();
  const auto folder = Folder::open(session_);
  ASSERT_TRUE(folder);
  const auto window = folder->open_file("scope.1.log.zst");
  ASSERT_TRUE(window);
  Redactor narrow({.command = true}, 1000);
  const auto copy = narrow.copy_window(*window);
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.status().text(), "LimitReached: it unpacks to more than a window holds");
  Redactor usual({.command = true});
  EXPECT_TRUE(usual.copy_window(*window));
}

// So that nothing of what was to be left out lies about once an upload was killed.
TEST_F(RedactionTest, CopiesHaveNoName) {
  record();
  const fs::path folder = dir_.path() / "temporary";
  fs::create_directory(folder);
  ::setenv("TMPDIR", folder.c_str(), 1);
  const auto opened = Folder::open(session_);
  ASSERT_TRUE(opened);
  const Redactor redactor({.source = true, .command = true});
  const auto window = redactor.copy_window(*opened->open_file("code.1.log"));
  const auto symbols = redactor.copy_symbols(*opened->open_file("symbols.ndjson"));
  const auto manifest = redactor.copy_manifest(*opened->open_file("manifest.ndjson"), {});
  ASSERT_TRUE(window) << window.status().text();
  ASSERT_TRUE(symbols) << symbols.status().text();
  ASSERT_TRUE(manifest) << manifest.status().text();
  for (const OpenFile* copy : {&window->file, &*symbols, &*manifest}) EXPECT_GT(copy->size(), 0U);
  EXPECT_TRUE(fs::is_empty(folder)) << fs::directory_iterator(folder)->path();
}

// As long as copies have no place, and not until the agent is started again.
TEST_F(RedactionTest, CopiesThatHaveNoPlaceAreMadeOnceTheyHaveOne) {
  record();
  const fs::path folder = dir_.path() / "temporary";
  ShipOptions options;
  options.redaction = {.source = true, .command = true};
  options.aside_pause = std::chrono::milliseconds(100);
  Shipper shipper = ship(options);
  ::setenv("TMPDIR", folder.c_str(), 1);
  ASSERT_EQ(run(shipper), Step::Idle);
  const auto aside = shipper.set_aside();
  ASSERT_TRUE(aside.contains("scope.1.log.zst"));
  EXPECT_EQ(aside.at("scope.1.log.zst"), "cannot write a copy in " + folder.string() +
                                             " (see TMPDIR): No such file or directory");
  EXPECT_FALSE(there().windows.contains({"scope", "1"}));
  fs::create_directory(folder);
  EXPECT_TRUE(base::eventually([&] {
    run(shipper);
    return shipper.set_aside().empty();
  }));
  EXPECT_EQ(shipper.confirms(), true);
  EXPECT_FALSE(there().windows.at({"scope", "1"}).sealed.empty());
}

TEST_F(RedactionTest, VariablesLeaveOutForAllPaths) {
  const auto with = [](const std::string& value) {
    return with_variables({}, [&](const std::string& name) {
      return name == "GPUFL_UPLOAD_NO_SOURCE" ? value : std::string();
    });
  };
  for (const char* on : {"1", "true", "yes", "whatever"}) EXPECT_TRUE(with(on).source) << on;
  for (const char* off : {"", "0", "No", "off", "FALSE"}) EXPECT_FALSE(with(off).source) << off;
  EXPECT_FALSE(with("1").command);

  record();
  UploadRequest asked = request({});
  asked.variables = [](const std::string& name) {
    return std::string(name.starts_with("GPUFL_UPLOAD_NO_") ? "1" : "");
  };
  ASSERT_EQ(upload(asked).extent, UploadOutcome::Extent::All);
  EXPECT_EQ(all_text(arrived()).find("hunter2"), std::string::npos);
}

// Whoever goes on with live lines knows only how many bytes have arrived, of which some are left
// out.
TEST_F(RedactionTest, LiveLinesGoOnAcrossSenders) {
  auto writer = format::LogWriter::create(test_options(session_), secret_header());
  ASSERT_TRUE(writer);
  ShipOptions options;
  options.redaction = {.source = true, .command = true};
  for (int part = 0; part < 5; ++part) {
    (*writer)->write(scope_rows(**writer, 1 + part * 10, 10, 100 + part));
    ASSERT_TRUE((*writer)->flush(1000 + part));
    Shipper shipper = ship(options);
    ASSERT_EQ(run(shipper), Step::Idle);
    EXPECT_TRUE(shipper.set_aside().empty());
    const std::string sent = there().windows[{"scope", "1"}].live;
    const std::string text = read_text(session_ / "scope.log");
    EXPECT_EQ(sent.substr(sent.find('\n')), text.substr(text.find('\n')));
    EXPECT_EQ(sent.find("--token"), std::string::npos);
  }
  (*writer)->abandon();
  write_text(session_ / "scope.log",
             read_text(session_ / "scope.log") + "{\"type\":\"source\",\"t");
  Shipper last = ship(options);
  ASSERT_EQ(run(last), Step::Idle);
  EXPECT_EQ(last.confirms(), true);
  EXPECT_TRUE((there().windows[{"scope", "1"}].is_final));
  EXPECT_FALSE((there().windows[{"scope", "1"}].live.ends_with("\"t")));
}

TEST_F(RedactionTest, TheManifestTellsOfWhatWasSent) {
  record();
  ASSERT_EQ(upload(request({.source = true, .command = true})).extent, UploadOutcome::Extent::All);
  const fs::path folder = arrived();
  const format::Manifest manifest = format::read_manifest(folder / "manifest.ndjson");
  size_t told = 0;
  for (const format::ManifestEntry& entry : manifest.entries) {
    const std::string name = format::sealed_file_name(entry.channel, entry.window);
    EXPECT_EQ(entry.sealed.sealed_bytes, fs::file_size(folder / name)) << name;
    ++told;
  }
  EXPECT_GT(told, 1u);
}

TEST_F(RedactionTest, TheSameSessionAsItIsIsAnother) {
  record();
  ASSERT_EQ(upload(request({})).extent, UploadOutcome::Extent::All);
  const UploadOutcome outcome = upload(request({.source = false, .command = true}));
  EXPECT_NE(outcome.extent, UploadOutcome::Extent::All);
  EXPECT_FALSE(outcome.warnings.empty());
}

}  // namespace
}  // namespace gpufl::agent
