// SPDX-License-Identifier: Apache-2.0
#include "format/verify.hpp"

#include <gtest/gtest.h>

#include "format/manifest.hpp"
#include "format/session_files.hpp"
#include "format/test_session.hpp"

namespace gpufl::format {
namespace {

namespace fs = std::filesystem;
using base::Json;
using testing::TempDir;

// A session of one line of rows, written and closed.
VerifyResult verify_rows(const std::function<void(LogWriter&, Batch&)>& change,
                         const Ledger& ledger = {}) {
  const TempDir dir;
  auto writer = testing::make_writer(testing::test_options(dir.path()));
  Batch rows = testing::scope_rows(*writer, 1, 4, 100);
  change(*writer, rows);
  writer->write(rows);
  EXPECT_TRUE(writer->close(1000, ledger).is_ok());
  return verify_session(dir.path());
}

TEST(VerifyTest, FindsNothingWrongWithWhatIsRight) {
  const VerifyResult result = verify_rows([](LogWriter&, Batch&) {});
  EXPECT_EQ(result.verdict, Verdict::Complete) << result.to_json().dump();
  EXPECT_TRUE(result.reasons.empty());
  EXPECT_EQ(result.rows.at("scope"), 4u);
}

TEST(VerifyTest, FindsUndefinedIds) {
  const VerifyResult result = verify_rows(
      [](LogWriter&, Batch& rows) { rows.mutable_column(scope_column::kName)[2] = 77; });
  EXPECT_EQ(result.verdict, Verdict::Losses);
  EXPECT_EQ(result.problems.at("unknown_id"), 1u);
  EXPECT_EQ(result.first_problems[0].file, "scope.1.log.zst");
  EXPECT_GT(result.first_problems[0].line, 0u);
}

TEST(VerifyTest, TakesZeroForNoneOnlyWhereThereMayBeNone) {
  EXPECT_EQ(verify_rows([](LogWriter&, Batch& rows) {
              rows.mutable_column(scope_column::kTag).assign(4, 0);
            }).verdict,
            Verdict::Complete);
  EXPECT_EQ(verify_rows([](LogWriter&, Batch& rows) {
              rows.mutable_column(scope_column::kName)[0] = 0;
            }).problems.at("unknown_id"),
            1u);
}

TEST(VerifyTest, FindsReferencesInsideValues) {
  const TempDir dir;
  auto writer = testing::make_writer(testing::test_options(dir.path()));
  Batch kernels(Kind::Kernel);
  for (const size_t column : {kernel_column::kStart, kernel_column::kDuration}) {
    kernels.mutable_column(column).push_back(5);
  }
  kernels.mutable_column(kernel_column::kConfig)
      .push_back(writer->intern(Dict::Config, R"({"name":99,"grid":[1,1,1]})"));
  kernels.set_rows(1);
  writer->write(kernels);
  EXPECT_TRUE(writer->close(1000, Ledger()).is_ok());
  EXPECT_EQ(verify_session(dir.path()).problems.at("unknown_id"), 1u);
}

TEST(VerifyTest, FindsTimesOutsideTheSession) {
  const auto set = [](size_t column, int64_t value) {
    return verify_rows([=](LogWriter&, Batch& rows) { rows.mutable_column(column)[1] = value; });
  };
  EXPECT_EQ(set(scope_column::kStart, -5).problems.at("time_out_of_range"), 1u);
  EXPECT_EQ(set(scope_column::kDuration, -1).problems.at("time_out_of_range"), 1u);
  EXPECT_EQ(set(scope_column::kStart, 1001).problems.at("time_out_of_range"), 1u);
  EXPECT_EQ(set(scope_column::kDuration, 950).problems.at("time_out_of_range"), 1u);
  EXPECT_EQ(set(scope_column::kDuration, INT64_MAX).problems.at("time_out_of_range"), 1u);
  EXPECT_EQ(set(scope_column::kDuration, 800).verdict, Verdict::Complete);
}

TEST(VerifyTest, FindsEventsBeforeTheSession) {
  const VerifyResult result = verify_rows([](LogWriter& writer, Batch&) {
    Json event = Json::object();
    event.set("time", -1).set("name", "x");
    writer.write(Kind::Event, event);
  });
  EXPECT_EQ(result.problems.at("time_out_of_range"), 1u);
}

TEST(VerifyTest, BelievesALedgerThatTellsOfLosses) {
  Ledger ledger;
  ledger.vendor_dropped = 3;
  const VerifyResult result = verify_rows([](LogWriter&, Batch&) {}, ledger);
  EXPECT_EQ(result.verdict, Verdict::Losses);
  EXPECT_EQ(result.reasons, std::vector<std::string>{"its ledger lists losses: vendor_dropped 3"});
}

// Whatever makes the verdict is told.
TEST(VerifyTest, NamesEveryLoss) {
  Ledger ledger;
  ledger.launches_seen = 7, ledger.kernel_records = 5;
  ledger.notes_dropped = 1, ledger.markers_dropped = 2, ledger.stacks_dropped = 3;
  ledger.scopes_forgotten = 4;
  const VerifyResult result = verify_rows([](LogWriter&, Batch&) {}, ledger);
  EXPECT_EQ(result.reasons,
            std::vector<std::string>{
                "its ledger lists losses: launches without record 2, markers_dropped 2, "
                "notes_dropped 1, scopes_forgotten 4, stacks_dropped 3"});
}

TEST(VerifyTest, NamesAllThatIsNotProven) {
  Ledger ledger;
  ledger.kernel_records = 5;
  ledger.uncounted = {"full_warp_lanes"};
  const VerifyResult result = verify_rows([](LogWriter&, Batch&) {}, ledger);
  EXPECT_EQ(result.verdict, Verdict::NotProven);
  ASSERT_EQ(result.reasons.size(), 2u);
  EXPECT_TRUE(result.reasons[0].starts_with("launches were not counted, "));
  EXPECT_TRUE(result.reasons[1].starts_with("lanes of warpscope are full "));
}

class VerifyFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    LogOptions options = testing::test_options(temp_.path());
    options.window_bytes = 1;
    auto writer = testing::make_writer(options);
    for (int64_t i = 0; i < 3; ++i) {
      writer->write(testing::scope_rows(*writer, i * 10 + 1, 4, 100));
      ASSERT_TRUE(writer->flush(200 + i).is_ok());
    }
    ASSERT_TRUE(writer->close(1000, Ledger()).is_ok());
    ASSERT_EQ(verify_session(dir()).verdict, Verdict::Complete);
  }
  const fs::path& dir() const { return temp_.path(); }
  void edit_manifest(const std::string& from, const std::string& to) const {
    std::string text = testing::read_text(dir() / kManifestName);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, from.size(), to);
    testing::write_text(dir() / kManifestName, text);
  }

 private:
  TempDir temp_;
};

TEST_F(VerifyFilesTest, FindsRowsThatTheLedgerMisses) {
  fs::remove(dir() / "scope.2.log.zst");
  const VerifyResult result = verify_session(dir());
  EXPECT_EQ(result.verdict, Verdict::Losses);
  EXPECT_EQ(result.windows.missing, 1u);
  EXPECT_EQ(result.reasons,
            (std::vector<std::string>{"the ledger lists 12 scope rows, but 8 were read",
                                      "1 problem found while reading"}));
}

TEST_F(VerifyFilesTest, FindsChangedBytesThatStillRead) {
  fs::copy_file(dir() / "scope.1.log.zst", dir() / "scope.2.log.zst",
                fs::copy_options::overwrite_existing);
  const VerifyResult result = verify_session(dir());
  EXPECT_EQ(result.problems.at("hash_mismatch"), 1u);
}

TEST_F(VerifyFilesTest, ComparesWithTheManifest) {
  edit_manifest(R"("rows":4)", R"("rows":5)");
  EXPECT_EQ(verify_session(dir()).problems.at("manifest_mismatch"), 1u);
}

TEST_F(VerifyFilesTest, ComparesTheSumWhenWindowsWereDeleted) {
  fs::remove(dir() / "scope.1.log.zst");
  const std::string manifest = testing::read_text(dir() / kManifestName);
  const auto with_deleted = [&](int rows) {
    testing::write_text(
        dir() / kManifestName,
        manifest +
            R"({"type":"deleted","channel":"scope","window":1,"reason":"keep_last","rows":)" +
            std::to_string(rows) + "}\n");
    return verify_session(dir());
  };
  EXPECT_EQ(with_deleted(4).reasons.size(), 1u) << with_deleted(4).to_json().dump();
  const VerifyResult wrong = with_deleted(3);
  ASSERT_EQ(wrong.reasons.size(), 2u);
  EXPECT_EQ(wrong.reasons[1], "the ledger lists 9 remaining rows, but 8 were read");
}

TEST_F(VerifyFilesTest, ComparesSessionLines) {
  edit_manifest(R"("host":"node1")", R"("host":"node2")");
  const VerifyResult result = verify_session(dir());
  EXPECT_EQ(result.verdict, Verdict::Losses);
  EXPECT_GE(result.problems.at("bad_line"), 4u);  // three windows of `scope`, and `system`
  EXPECT_EQ(result.first_problems[0].text,
            R"(host of its session line is "node1", in manifest.ndjson "node2")");
  EXPECT_EQ(result.first_problems[0].line, 1u);
}

TEST_F(VerifyFilesTest, FindsAManifestWithoutASessionLine) {
  const std::string text = testing::read_text(dir() / kManifestName);
  testing::write_text(dir() / kManifestName, text.substr(text.find('\n') + 1));
  const VerifyResult gone = verify_session(dir());
  EXPECT_EQ(gone.verdict, Verdict::Losses);
  EXPECT_EQ(gone.first_problems.at(0).text, "it has no session line");
  testing::write_text(dir() / kManifestName, text);
  edit_manifest(R"("start_wall_ns")", R"("start_wall_xx")");
  EXPECT_EQ(verify_session(dir()).first_problems.at(0).file, kManifestName);
}

TEST_F(VerifyFilesTest, FindsAFileUnderAnotherName) {
  Json line = testing::test_header().to_json();
  line.set("channel", "scope").set("window", 3);
  testing::write_text(dir() / "scope.4.log", line.dump() + '\n');
  const VerifyResult result = verify_session(dir());
  EXPECT_EQ(result.problems.at("bad_line"), 1u) << result.to_json().dump();
  EXPECT_EQ(result.first_problems.at(0).text,
            R"(its session line says that it is window 3 of "scope")");
}

TEST_F(VerifyFilesTest, TellsEverythingAsJson) {
  fs::remove(dir() / "scope.2.log.zst");
  const auto json = Json::parse(verify_session(dir()).to_json().dump());
  ASSERT_TRUE(json.is_ok());
  EXPECT_EQ((*json)["verdict"].as_string(), "losses");
  EXPECT_EQ((*json)["windows"]["missing"].as_integer(), 1);
  EXPECT_EQ((*json)["rows"]["scope"].as_integer(), 8);
  EXPECT_EQ((*json)["ledger"]["rows"]["scope"].as_integer(), 12);
  EXPECT_EQ((*json)["problems"].items().size(), 1u);
}

}  // namespace
}  // namespace gpufl::format
