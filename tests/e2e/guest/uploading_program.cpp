// SPDX-License-Identifier: Apache-2.0
// A program as the examples of uploads show it: `uploading_program FOLDER ADDRESS KEY_VARIABLE`.
// Prints what it was told, and ends with 7 whatever that is.
#include <cstdio>
#include <cstdlib>
#include <gpufl/core/common.hpp>
#include <gpufl/core/monitor.hpp>
#include <gpufl/upload/upload_logs.hpp>

int main(int argc, char** argv) {
  if (argc < 4) return 1;
  gpufl::InitOptions options;
  options.app_name = "uploading";
  options.log_path = argv[1];
  options.backend = gpufl::BackendKind::None;
  gpufl::init(options);
  {
    const gpufl::ScopedMonitor scope("work");
  }
  gpufl::shutdown();

  gpufl::UploadOptions upload;
  upload.log_path = options.log_path;
  upload.backend_url = argv[2];
  const char* const key = std::getenv(argv[3]);
  upload.api_key = key == nullptr ? "" : key;
  upload.max_retries = 0;
  const gpufl::UploadResult result = gpufl::uploadLogs(upload);
  std::printf("%d %lld %lld\n", result.success, static_cast<long long>(result.files_processed),
              static_cast<long long>(result.events_uploaded));
  for (const std::string& warning : result.warnings) std::printf("%s\n", warning.c_str());
  return 7;
}
