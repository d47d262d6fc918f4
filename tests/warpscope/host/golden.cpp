// SPDX-License-Identifier: Apache-2.0
#include "tests/warpscope/host/golden.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>

namespace gpufl::warp_golden {
namespace {

namespace fs = std::filesystem;
using base::Json;

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The line without its comment, and the rest of it behind the first word.
std::string without_comment(const std::string& line) {
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == '#' && !quoted) {
      return line.substr(0, i);
    }
  }
  return line;
}

bool read_number(const std::string& text, uint64_t& value) {
  char* end = nullptr;
  value = std::strtoull(text.c_str(), &end, 0);
  return !text.empty() && *end == '\0';
}

void add_text(std::vector<uint64_t>& words, const std::string& text) {
  const size_t first = words.size();
  words.resize(first + (text.size() + 7) / 8);
  std::memcpy(words.data() + first, text.data(), text.size());
}

bool read_option(const std::string& name, const std::string& value, Golden& golden) {
  if (name == "@capture") {
    golden.is_capture = true;
    return true;
  }
  if (name == "@dialect") {
    const auto dialect = ws::dialect_named(value);
    if (dialect) golden.options.dialect = *dialect;
    return dialect.has_value();
  }
  uint64_t number = 0;
  if (!read_number(value, number)) return false;
  const auto small = static_cast<uint32_t>(number);
  if (name == "@num_blocks") golden.options.num_blocks = small;
  if (name == "@num_groups") golden.options.num_groups = small;
  if (name == "@max_records") golden.options.max_records = small;
  return name == "@num_blocks" || name == "@num_groups" || name == "@max_records";
}

// One line of words. Fields that are no numbers read as "not there".
bool read_words(const std::string& kind, const std::vector<std::string>& fields, Golden& golden) {
  std::vector<uint64_t> numbers;
  for (const std::string& field : fields) {
    if (!read_number(field, numbers.emplace_back()) && field != "-") return false;
  }
  const auto record = [&](uint64_t type) {
    golden.words.push_back((numbers[2] << 32) | (numbers[0] << 12) | (numbers[1] << 2) | type);
  };
  const auto takes = [&](size_t count) { return numbers.size() == count; };
  uint64_t word = 0;
  if (read_number(kind, word) && takes(0)) {
    golden.words.push_back(word);
  } else if ((kind == "header" || kind == "pair") && takes(2)) {
    golden.words.push_back(numbers[0] | (numbers[1] << 32));
  } else if (kind == "begin" && takes(3)) {
    record(0);
  } else if (kind == "end" && takes(3)) {
    record(1);
  } else if (kind == "instant" && takes(3)) {
    record(2);
  } else if (kind == "finalize" && takes(2)) {
    golden.words.push_back((numbers[1] << 32) | (numbers[0] << 12) | 3);
  } else if (kind == "ext" && takes(2)) {
    word = fields[0] != "-" ? numbers[0] | (uint64_t{1} << 63) : 0;
    if (fields[1] != "-") word |= (numbers[1] << 32) | (uint64_t{1} << 62);
    golden.words.push_back(word);
  } else if (kind == "magic" && takes(0)) {
    golden.words.push_back(0x3250435350524157);
  } else if (kind == "empty" && numbers.size() <= 1) {
    golden.words.resize(golden.words.size() + (numbers.empty() ? 1 : numbers[0]));
  } else {
    return false;
  }
  return true;
}

bool read_line(const std::string& line, Golden& golden) {
  std::istringstream in(line);
  std::string kind, field;
  if (!(in >> kind)) return true;
  if (kind == "text") {
    std::getline(in, field);
    const auto json = Json::parse(field);
    if (!json || !json->is_string()) return false;
    add_text(golden.words, json->as_string());
    return true;
  }
  std::vector<std::string> fields;
  while (in >> field) fields.push_back(field);
  if (kind[0] == '@') return read_option(kind, fields.empty() ? "" : fields[0], golden);
  return read_words(kind, fields, golden);
}

Json picked(const Json& from, std::initializer_list<const char*> keys) {
  Json json = Json::object();
  for (const char* key : keys) {
    if (const Json* value = from.find(key)) json.set(key, *value);
  }
  return json;
}

constexpr auto kRecordKeys = {"block",       "group",   "event",   "start_ns",
                              "duration_ns", "time_ns", "payload", "end_payload",
                              "token",       "cycles",  "sm",      "ending"};
constexpr auto kLaneKeys = {"block",        "group",       "sm",        "warp",
                            "cluster_rank", "initialised", "finalised", "records",
                            "offered",      "dropped",     "first_ns",  "last_ns"};

Json picked_each(const Json& from, std::initializer_list<const char*> keys) {
  Json json = Json::array();
  for (const Json& item : from.items()) json.push(picked(item, keys));
  return json;
}

template <typename Record>
void add_extension(Json& json, const Record& record) {
  if (record.has_payload()) json.set("payload", record.payload);
  if (record.has_token()) json.set("token", record.token);
  if (record.sm != ws::kUnknownSm) json.set("sm", uint32_t{record.sm});
}

Json show(const ws::Span& span, bool cycles) {
  Json json = Json::object();
  json.set("block", span.block).set("group", span.group).set("event", span.event_id);
  json.set("start_ns", span.start_ns).set("duration_ns", span.duration_ns);
  add_extension(json, span);
  if (span.has_end_payload()) json.set("end_payload", span.end_payload);
  if (cycles) json.set("cycles", span.cycles);
  if (span.ending == ws::Ending::NoEnd) json.set("ending", "no_end");
  if (span.ending == ws::Ending::NoBegin) json.set("ending", "no_begin");
  return picked(json, kRecordKeys);
}

Json show(const ws::Instant& instant) {
  Json json = Json::object();
  json.set("block", instant.block).set("group", instant.group).set("event", instant.event_id);
  json.set("time_ns", instant.time_ns);
  add_extension(json, instant);
  return picked(json, kRecordKeys);
}

Json show(const ws::Lane& lane) {
  Json json = Json::object();
  json.set("block", lane.block).set("group", lane.group).set("sm", uint32_t{lane.sm});
  json.set("warp", uint32_t{lane.warp}).set("cluster_rank", uint32_t{lane.cluster_rank});
  json.set("initialised", lane.initialised).set("finalised", lane.finalised);
  json.set("records", lane.records).set("offered", lane.offered).set("dropped", lane.dropped);
  json.set("first_ns", lane.first_ns).set("last_ns", lane.last_ns);
  return json;
}

// Only the members that the file names; a lane that it does not list shows whole.
Json show_lanes(const std::vector<ws::Lane>& lanes, const Json& expected) {
  Json json = Json::array();
  for (size_t i = 0; i < lanes.size(); ++i) {
    const Json whole = show(lanes[i]);
    Json part = Json::object();
    for (const auto& [key, value] : whole.members()) {
      if (i >= expected.items().size() || expected.items()[i].find(key) != nullptr)
        part.set(key, value);
    }
    json.push(std::move(part));
  }
  return json;
}

}  // namespace

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(WARPSCOPE_GOLDEN_DIR)) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Golden load(const std::string& name) {
  Golden golden;
  std::ifstream file(fs::path(WARPSCOPE_GOLDEN_DIR) / (name + ".txt"));
  std::string line;
  while (std::getline(file, line)) {
    if (!read_line(without_comment(line), golden)) golden.error += line + '\n';
  }
  return golden;
}

ws::Trace decode(const Golden& golden) {
  return golden.is_capture ? ws::decode_capture(golden.words, golden.options)
                           : ws::decode(golden.words, golden.options);
}

Json expected(const std::string& name) {
  const auto file = Json::parse(read_text(fs::path(WARPSCOPE_GOLDEN_DIR) / (name + ".json")));
  if (!file) return file.status().message();
  Json json = picked(*file, {"num_blocks", "num_groups", "origin_ns", "event_cost_ps"});
  json.set("names", picked((*file)["names"], {"kernel", "events", "groups", "waits", "flows"}));
  for (const char* records : {"spans", "unmatched", "instants"}) {
    json.set(records, picked_each((*file)[records], kRecordKeys));
  }
  Json problems = Json::object();
  for (int kind = 0; kind <= static_cast<int>(ws::ProblemKind::UnknownFrequency); ++kind) {
    const char* const problem = ws::problem_name(static_cast<ws::ProblemKind>(kind));
    if (const Json* count = (*file)["problems"].find(problem)) problems.set(problem, *count);
  }
  if (problems.members().size() != (*file)["problems"].members().size()) {
    problems.set("unknown kind in the file", true);
  }
  json.set("problems", problems);
  if (const Json* lanes = file->find("lanes")) json.set("lanes", picked_each(*lanes, kLaneKeys));
  return json;
}

Json shown(const ws::Trace& trace, const Json& expected) {
  Json json = Json::object();
  json.set("num_blocks", trace.num_blocks).set("num_groups", trace.num_groups);
  if (trace.has_origin) json.set("origin_ns", trace.origin_ns);
  if (trace.layout.event_cost_ps != 0) json.set("event_cost_ps", trace.layout.event_cost_ps);
  const auto names = Json::parse(ws::names_to_json(trace.names));
  json.set("names", names ? *names : Json("not JSON"));
  const bool cycles =
      trace.has_side_block && trace.layout.clock == ws::CaptureLayout::Clock::Cycles;
  Json spans = Json::array(), unmatched = Json::array(), instants = Json::array();
  for (const ws::Span& span : trace.spans) spans.push(show(span, cycles));
  for (const ws::Span& span : trace.unmatched) unmatched.push(show(span, false));
  for (const ws::Instant& instant : trace.instants) instants.push(show(instant));
  json.set("spans", spans).set("unmatched", unmatched).set("instants", instants);
  Json problems = Json::object();
  for (const ws::Problem& problem : trace.problems) {
    problems.set(ws::problem_name(problem.kind), problem.count);
  }
  json.set("problems", problems);
  if (const Json* lanes = expected.find("lanes"))
    json.set("lanes", show_lanes(trace.lanes, *lanes));
  return json;
}

}  // namespace gpufl::warp_golden
