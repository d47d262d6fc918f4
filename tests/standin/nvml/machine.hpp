// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
#include <nvml.h>
#pragma GCC visibility pop

// The machine that the stand-in pretends to be, as GPUFL_NVML_STANDIN describes it (README.md).
// Any thread; calls() and begin() take a lock, as short as a counter.
struct nvmlDevice_st {
  unsigned gpu = 0;
  int instance = -1;  // of MIG; -1: the GPU itself
};

namespace standin {

class Machine {
 public:
  explicit Machine(const std::string& description);

  // What every entry point does first: counts, waits, and answers how the call is to fail.
  nvmlReturn_t begin(std::string_view function, nvmlDevice_t device);
  bool is_unsupported(std::string_view what) const { return contains(unsupported_, what); }
  bool is_unavailable(std::string_view what) const { return contains(unavailable_, what); }
  uint64_t calls(std::string_view function);
  bool next_xid(nvmlEventData_t& event);
  nvmlDevice_t find(unsigned gpu, int instance);

  unsigned gpus = 2, links = 4, fans = 0, processes = 1;
  nvmlReturn_t init = NVML_SUCCESS;
  std::map<unsigned, unsigned> mig;  // GPU -> instances
  unsigned mig_slices = 1;           // of the GPU instance, of which each has one
  std::atomic<unsigned long long> energy_reads{0};

 private:
  static constexpr unsigned kEveryGpu = ~0u;
  struct Failure {
    std::string function;
    unsigned gpu;
    nvmlReturn_t code;
    bool once;
  };
  struct Loss {
    uint64_t after, until;  // calls to this GPU
    uint64_t calls = 0;
  };

  static bool contains(const std::vector<std::string>& all, std::string_view what);
  void read_word(const std::string& key, const std::string& value);

  std::vector<std::string> unsupported_, unavailable_;
  std::map<std::string, unsigned, std::less<>> slow_us_;
  std::deque<nvmlDevice_st> devices_;
  std::mutex mutex_;  // guards what follows
  std::vector<Failure> failures_;
  std::map<unsigned, Loss> losses_;
  std::deque<std::pair<unsigned, unsigned>> xids_;
  std::map<std::string, uint64_t, std::less<>> calls_;
};

}  // namespace standin
