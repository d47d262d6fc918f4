// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "format/session_reader.hpp"
#include "index/build_index.hpp"
#include "index/tile.hpp"
#include "index/window_source.hpp"

// The index of one session's folder, which is only read: files of indexes are kept in a cache, and
// windows that are still written are followed in memory. update() does the work, one caller at a
// time; everybody else sees the windows as the last update left them. Any thread.
namespace gpufl::index {

struct IndexProgress {
  uint64_t bytes_done = 0, bytes_total = 0;  // of windows
  bool is_complete() const { return bytes_done >= bytes_total; }
};

// What an update left. Constant once SessionIndex has published it.
struct IndexedSession {
  format::SessionHeader header;
  bool is_live = false;
  std::filesystem::path dir;
  std::vector<format::WindowFile> files;  // all that the manifest knows of, or that lie there
  Windows windows;                        // those of them that are indexed, by channel and number
  IndexProgress progress;
  TimeSpan span;
  std::vector<std::string> problems;    // why parts of it are not shown
  std::vector<format::Problem> faults;  // of the log itself
  uint64_t version = 1;                 // another one after every change

  // Where things that have not ended are drawn to.
  int64_t open_until() const { return span.empty() ? 0 : span.last; }
  // How long everything took, of all windows together; made when it is first asked for.
  const Durations& durations() const;

 private:
  friend class SessionIndex;
  struct Made {
    std::once_flag once;
    Durations durations;
  };
  std::shared_ptr<Made> made_ = std::make_shared<Made>();
};

class SessionIndex {
 public:
  // `cache`: a folder of this session's own; it is made when it is needed.
  SessionIndex(std::filesystem::path session, std::filesystem::path cache, ReadLimits limits = {});
  ~SessionIndex();
  SessionIndex(const SessionIndex&) = delete;
  SessionIndex& operator=(const SessionIndex&) = delete;

  // Looks what has changed and indexes it, window after window, until `may_go_on` says no, which is
  // asked often; the window at hand is begun again another time. `may_begin` is asked before each
  // window that has to be read, and may say no without loss: the next update goes on from there.
  // What was complete before is shown until everything is again. Fails as SessionReader::open does;
  // a window that cannot be read is a problem and no failure.
  using Question = std::function<bool()>;
  base::Status update(const Question& may_go_on, const Question& may_begin = nullptr);

  // Null: there was no update yet.
  std::shared_ptr<const IndexedSession> session() const;

 private:
  struct LiveWindow;
  using WindowKey = std::pair<format::Channel, uint64_t>;
  struct Known {
    WindowIdentity identity;
    std::shared_ptr<const WindowSource> source;
  };

  // What a window is begun with, and how long it may take.
  struct Begin {
    CarriedState state;
    bool has_predecessor = false;  // whose state this is
    bool is_distrustful = false;   // a stored index was damaged: others are looked at as a whole
    const Question& may_go_on;
    const Question& may_begin;
  };

  base::Status add_window(const format::WindowFile& file, bool is_written, const Begin& begin,
                          std::vector<std::string>& problems);
  base::Status follow(const format::WindowFile& file, const Begin& begin);
  base::Status index_file(const format::WindowFile& file, const WindowIdentity& identity,
                          const Begin& begin, std::vector<std::string>& problems);
  void publish(IndexedSession session);
  WindowIdentity identity_of(const format::WindowFile& file) const;
  std::filesystem::path path_of(const WindowKey& key) const;

  const std::filesystem::path dir_, cache_;
  const ReadLimits limits_;

  std::mutex update_mutex_;  // of all that follows but the last two
  std::string session_id_;
  std::map<WindowKey, Known> known_;
  std::map<WindowKey, std::unique_ptr<LiveWindow>> live_;
  std::map<WindowKey, int> remade_;  // because what was stored was damaged

  mutable std::mutex mutex_;
  std::shared_ptr<const IndexedSession> session_;
};

}  // namespace gpufl::index
