// SPDX-License-Identifier: Apache-2.0
#include "agent/upload.hpp"

#include <algorithm>
#include <utility>

#include "agent/shipper.hpp"

namespace gpufl::agent {
namespace {

namespace fs = std::filesystem;
using base::Json;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using Step = Shipper::Step;

class Upload {
 public:
  explicit Upload(const UploadRequest& request)
      : request_(request),
        throttle_(request.bytes_per_s),
        backoff_(Backoff::random_seed(), request.retry_delay) {}

  UploadOutcome run() {
    const auto address = choose_server(request_.server, request_.variables, request_.credentials);
    if (!address) {
      warn(address.status().message());
      return finish();
    }
    if (std::string text = warning_of(*address); !text.empty()) warn(std::move(text));
    auto ingest =
        make_ingest(*address, request_.server, request_.variables, [this] { return is_stopped(); });
    if (!ingest) {
      warn(ingest.status().message());
      return finish();
    }
    for (const fs::path& session : request_.sessions) {
      if (!goes_on_) break;
      send_session(session, **ingest);
    }
    return finish();
  }

 private:
  void warn(std::string text) { outcome_.warnings.push_back(std::move(text)); }
  bool is_late() const { return request_.timeout && Clock::now() - began_ > *request_.timeout; }
  bool is_stopped() const { return is_late() || (request_.is_stopped && request_.is_stopped()); }

  void send_session(const fs::path& session, Ingest& ingest) {
    auto opened = SessionFolder::open(session);
    if (!opened) return warn(opened.status().message());
    ShipOptions options;
    options.throttle = &throttle_;
    options.is_stopped = [this] { return is_stopped(); };
    options.sends_all_again = request_.sends_all_again;
    options.redaction = with_variables(request_.redaction, request_.variables);
    Shipper shipper(std::move(*opened), ingest, options);
    const bool has_arrived = send_all(shipper, session) && is_confirmed(shipper, session);
    for (const auto& [name, why] : shipper.set_aside()) {
      warn((session / name).string() + ": not taken: " + why);
    }
    const std::map<std::string, std::string> unread = shipper.unreadable();
    for (const auto& [name, why] : unread) warn((session / name).string() + ": not sent: " + why);
    outcome_.files_processed += shipper.counts().files;
    outcome_.files_known += shipper.counts().known;
    outcome_.rows += shipper.counts().rows;
    outcome_.bytes += shipper.counts().bytes;
    if (!has_arrived || shipper.has_set_aside() || !unread.empty()) return;
    outcome_.session_ids.push_back(shipper.session_id());
    if (!shipper.page().empty()) outcome_.pages.push_back(shipper.page());
  }

  // By the server itself, which also says where people see it.
  bool is_confirmed(Shipper& shipper, const fs::path& session) {
    const std::optional<bool> has_all = shipper.confirms();
    if (has_all.value_or(true) || shipper.is_live() || shipper.has_set_aside() ||
        !shipper.unreadable().empty()) {
      return true;
    }
    warn(session.string() + ": the server has lost a part of it meanwhile; upload it again");
    return false;
  }

  // True: the server has all that is there now.
  bool send_all(Shipper& shipper, const fs::path& named) {
    std::optional<uint64_t> total;
    Clock::time_point succeeded = Clock::now();
    int failures = 0;
    while (true) {
      const Step step = shipper.step();
      switch (step) {
        case Step::Idle: return shipper.counts().files + shipper.counts().known > 0;
        case Step::Sent:
          succeeded = Clock::now();
          failures = 0;
          waits_for_.clear();
          backoff_.succeed();
          if (!total) total = shipper.bytes_left();
          tell(shipper, *total);
          break;
        case Step::Later:
        case Step::Wait: {
          const milliseconds pause = backoff_.next(shipper.wait());
          if (!may_try_again(++failures, Clock::now() + pause - succeeded, pause)) {
            return give_up(named.string() + ": " + shipper.reason());
          }
          tell_wait(shipper.reason());
          if (!sleep_for(pause, [this] { return is_stopped(); })) return give_up(stopped());
          break;
        }
        case Step::Gone: warn(named.string() + ": " + shipper.reason()); return false;
        case Step::Denied: return give_up(shipper.reason());
        case Step::Cancelled: return give_up(stopped());
      }
    }
  }

  // To wait longer than it may be tried for would help nobody.
  bool may_try_again(int failures, Clock::duration lasting, milliseconds pause) const {
    if (request_.timeout && Clock::now() + pause - began_ > *request_.timeout) return false;
    return request_.retries ? failures <= *request_.retries : lasting <= request_.retry_for;
  }

  std::string stopped() const {
    return is_late() ? "it took longer than it may; what is left goes with the next upload"
                     : "it was stopped; what is left goes with the next upload";
  }
  // Nothing of other sessions would arrive either.
  bool give_up(std::string why) {
    warn(std::move(why));
    goes_on_ = false;
    return false;
  }

  void tell(const Shipper& shipper, uint64_t total) const {
    if (!request_.on_progress) return;
    const uint64_t bytes = outcome_.bytes + shipper.counts().bytes;
    request_.on_progress({bytes, std::max(bytes, outcome_.bytes + total)});
  }

  void tell_wait(const std::string& why) {
    if (!request_.on_wait || waits_for_ == why) return;
    waits_for_ = why;
    request_.on_wait(why);
  }

  UploadOutcome finish() {
    using Extent = UploadOutcome::Extent;
    const bool has_some = outcome_.files_processed + outcome_.files_known > 0;
    const bool has_all = outcome_.session_ids.size() == request_.sessions.size();
    outcome_.extent = has_all ? Extent::All : has_some ? Extent::Part : Extent::None;
    outcome_.elapsed = std::chrono::duration_cast<milliseconds>(Clock::now() - began_);
    return std::move(outcome_);
  }

  const UploadRequest& request_;
  const Clock::time_point began_ = Clock::now();
  Throttle throttle_;
  Backoff backoff_;
  UploadOutcome outcome_;
  std::string waits_for_;  // as was told
  bool goes_on_ = true;
};

Json list_of(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

}  // namespace

Json UploadOutcome::to_json() const {
  Json document = Json::object();
  document.set("success", extent == Extent::All).set("files_processed", files_processed);
  document.set("files_skipped_by_cursor", files_known).set("events_uploaded", rows);
  document.set("bytes_uploaded", bytes).set("elapsed_ms", int64_t{elapsed.count()});
  document.set("warnings", list_of(warnings)).set("spool_ids", list_of(session_ids));
  return document.set("pages", list_of(pages));
}

UploadOutcome upload(const UploadRequest& request) { return Upload(request).run(); }

}  // namespace gpufl::agent
