// SPDX-License-Identifier: Apache-2.0
#include "timeline/session_texts.hpp"

#include <algorithm>
#include <memory>

#include "analysis/figures/scope_work.hpp"
#include "analysis/figures/transfers.hpp"
#include "analysis/session/scope_paths.hpp"
#include "analysis/tables/wait_calls.hpp"
#include "base/json.hpp"
#include "format/columns.hpp"
#include "symbols/demangle.hpp"

namespace gpufl::timeline {
namespace {

const std::string kUnknown = "?";

std::vector<std::string> valid_texts(const std::vector<std::string>& texts) {
  std::vector<std::string> valid;
  valid.reserve(texts.size());
  for (const std::string& text : texts) valid.push_back(valid_utf8(text));
  return valid;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  const auto is_ascii = [](char c) { return (c & 0x80) == 0; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return std::string(text);
  std::string quoted;
  base::append_json_string(quoted, text);
  return base::Json::parse(quoted)->as_string();
}

SessionTexts::SessionTexts(const analysis::SessionData& session, size_t stack_depth)
    : session_(session),
      stack_depth_(stack_depth),
      framework_(session),
      names_(valid_texts(session.tables.names)),
      metrics_(valid_texts(session.tables.metrics)) {
  std::unordered_map<uint32_t, std::string> demangled;
  kernels_.reserve(tables().configs.size());
  for (const analysis::LaunchConfig& config : tables().configs) {
    const auto [known, is_new] = demangled.try_emplace(config.name);
    if (is_new) known->second = symbols::demangle(name(config.name));
    kernels_.push_back(known->second);
  }
  find_paths();
}

void SessionTexts::update(const analysis::TablePiece::Ids& fresh) {
  for (auto* texts : {&names_, &metrics_}) {
    if (texts->empty()) texts->emplace_back();  // an id of 0 is none
  }
  names_.resize(tables().names.size(), kUnknown);
  metrics_.resize(tables().metrics.size(), kUnknown);
  kernels_.resize(tables().configs.size(), kUnknown);
  for (const uint32_t id : fresh.names) names_[id] = valid_utf8(tables().names[id]);
  for (const uint32_t id : fresh.metrics) metrics_[id] = valid_utf8(tables().metrics[id]);
  for (const uint32_t config : fresh.configs) {
    kernels_[config] = symbols::demangle(name(tables().configs[config].name));
  }
}

const std::string& SessionTexts::text_at(const std::vector<std::string>& texts, uint32_t id) {
  return id < texts.size() ? texts[id] : kUnknown;
}

const std::string& SessionTexts::kernel(uint32_t config) const { return text_at(kernels_, config); }

std::string SessionTexts::dictionary_text(format::Dict dict, uint32_t id) const {
  if (id == 0) return {};
  switch (dict) {
    case format::Dict::Name: return symbols::demangle(name(id));
    case format::Dict::Metric: return metric(id);
    case format::Dict::Text: return valid_utf8(tables().text(id));
    case format::Dict::Stack: return site(id);
    default: return std::to_string(id);
  }
}

std::string SessionTexts::scope_name(uint32_t name_id, uint32_t tag_id) const {
  return tag_id == 0 ? name(name_id) : name(name_id) + " / " + name(tag_id);
}

std::string SessionTexts::scope(size_t scope_row) const {
  const analysis::Scopes& scopes = tables().scopes;
  return scope_name(scopes.name[scope_row], scopes.tag.empty() ? 0 : scopes.tag[scope_row]);
}

void SessionTexts::find_paths() {
  // kNoRow, which is "none" there, becomes 0.
  const std::shared_ptr<const analysis::ScopePaths> found = session_.scope_paths({});
  for (const analysis::ScopePaths::Path& path : found->paths) {
    paths_.push_back({path.parent + 1, scope_name(path.name, path.tag), valid_utf8(path.text)});
  }
  for (const uint32_t path : found->of_scope) path_of_scope_.push_back(path + 1);
}

std::string SessionTexts::site(uint32_t stack) const {
  if (stack == 0) return "";
  std::string text = session_.code.site(stack).text;
  const std::vector<symbols::CodeFrame>& frames = session_.code.frames(stack);
  const symbols::CodeFrame* frame = symbols::user_frame(frames);
  for (size_t depth = 1; depth < stack_depth_ && frame != nullptr; ++depth) {
    const auto outer =
        std::find_if(frames.begin() + (frame - frames.data()) + 1, frames.end(),
                     [](const symbols::CodeFrame& f) { return f.origin == symbols::Origin::User; });
    frame = outer == frames.end() ? nullptr : &*outer;
    if (frame != nullptr) text += " < " + symbols::site_text(*frame);
  }
  return valid_utf8(text);
}

std::string SessionTexts::call(uint32_t stack, std::string_view what) const {
  std::string function;
  if (stack != 0) function = valid_utf8(session_.code.api_function(stack));
  return function.empty() ? std::string(what) : function;
}

std::string SessionTexts::wait(size_t wait_row) const {
  const analysis::Waits& waits = tables().waits;
  const std::string_view kind =
      analysis::wait_call_name(waits.wait_kind.empty() ? 0 : waits.wait_kind[wait_row]);
  return call(waits.stack.empty() ? 0 : waits.stack[wait_row], kind);
}

std::string SessionTexts::copy(size_t copy_row) const {
  const analysis::Copies& copies = tables().copies;
  if (copies.route.empty()) return "copy";
  const std::string_view direction =
      format::word_of(format::kCopyDirectionWords, copies.route[copy_row]);
  return direction.empty() ? "copy" : "copy " + std::string(direction);
}

std::string SessionTexts::process() const {
  const format::SessionHeader& header = session_.summary.header;
  std::string text;
  if (header.rank) text += "rank " + std::to_string(*header.rank) + ": ";
  text += !header.app_name.empty()  ? header.app_name
          : !header.process.empty() ? header.process
                                    : "process";
  std::string where;
  if (header.pid > 0) where = "pid " + std::to_string(header.pid);
  if (!header.host.empty()) where += (where.empty() ? "on " : " on ") + header.host;
  if (!where.empty()) text += " (" + where + ")";
  return valid_utf8(text);
}

std::string SessionTexts::device(int64_t device) const {
  if (device < 0) return "GPU";
  std::string text = "GPU " + std::to_string(device);
  for (const base::Json& line : session_.summary.devices) {
    if (line["device"].as_integer(-1) != device) continue;
    if (!line["name"].as_string().empty()) text += ": " + line["name"].as_string();
  }
  return valid_utf8(text);
}

std::string SessionTexts::stream(const analysis::Lane& lane) const {
  std::string text = lane.stream < 0 ? "all streams" : "stream " + std::to_string(lane.stream);
  const bool is_shared =
      std::any_of(tables().lanes.begin(), tables().lanes.end(), [&](const analysis::Lane& other) {
        return other.device == lane.device && other.context >= 0 && other.context != lane.context;
      });
  if (is_shared && lane.context >= 0) text += " of context " + std::to_string(lane.context);
  return text;
}

std::string_view scope_ending(int64_t ending) {
  return ending == analysis::Scopes::kOpen ? "open"
                                           : format::word_of(format::kScopeEndingWords, ending);
}

}  // namespace gpufl::timeline
