// SPDX-License-Identifier: Apache-2.0
#include "backend/synthetic/synthetic_backend.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace gpufl::backend {
namespace {

template <typename T>
void read_variable(const char* name, T low, T high, T& value) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return;
  T parsed{};
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, parsed);
  if (error == std::errc{} && rest == end) value = std::clamp(parsed, low, high);
}

class SyntheticBackend : public Backend {
 public:
  explicit SyntheticBackend(SyntheticOptions options) : options_(options) {}

  std::string_view name() const override { return "synthetic"; }
  Availability health_available() override { return availability(); }
  Availability trace_available() override { return availability(); }
  Availability sampling_available() override { return availability(); }
  base::Result<std::unique_ptr<HealthSource>> make_health_source() override {
    return make_synthetic_health(numbered());
  }
  base::Result<std::unique_ptr<Tracer>> make_tracer(const TraceOptions& trace) override {
    return make_synthetic_tracer(numbered(), trace);
  }

 private:
  SyntheticOptions numbered() const {
    SyntheticOptions options = options_;
    options.first_device = first_device();
    return options;
  }
  Availability availability() const {
    return {true, "",
            "synthetic: " + std::to_string(options_.devices) + " device(s), " +
                std::to_string(options_.kernels_per_s) + " kernels/s, seed " +
                std::to_string(options_.seed),
            ""};
  }

  SyntheticOptions options_;
};

}  // namespace

SyntheticOptions SyntheticOptions::from_environment() {
  SyntheticOptions options;
  read_variable<int64_t>("GPUFL_SYNTHETIC_DEVICES", 1, 64, options.devices);
  read_variable<int64_t>("GPUFL_SYNTHETIC_KERNELS_PER_S", 0, 20'000'000, options.kernels_per_s);
  read_variable<uint64_t>("GPUFL_SYNTHETIC_SEED", 0, UINT64_MAX, options.seed);
  return options;
}

std::unique_ptr<Backend> make_synthetic_backend(SyntheticOptions options) {
  return std::make_unique<SyntheticBackend>(options);
}

}  // namespace gpufl::backend
