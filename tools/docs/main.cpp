// SPDX-License-Identifier: Apache-2.0
// Writes what pages of the documentation say about kinds, columns, metrics and the HTTP API, from
// the code: `./dev docs`. With --check it writes nothing and says which pages differ.
#include <cstdio>
#include <string_view>
#include <vector>

#include "parts.hpp"

namespace gpufl::docs {
namespace {

std::vector<Page> made_pages(const std::filesystem::path& root) {
  std::vector<Page> pages;
  const auto make = [&](const char* path, const std::vector<Part>& parts, std::string_view level,
                        std::string_view before) {
    Page& page = pages.emplace_back(root / path);
    for (const Part& part : parts) page.put(part, level, before);
  };
  make("format/SPEC.md", kinds(), "### ", "## Codings");
  make("docs/reference/python-dataframes.md", frames(), "## ", "## ledger");
  make("docs/reference/sql.md", queries(), "## ", "## Functions");
  make("docs/reference/prometheus.md", prometheus(), "## ", "## Queries to begin with");
  make("docs/reference/http-api.md", http_api(), "## ", "## Sections");
  pages.emplace_back(root / "web/src/api/openapi.json").replace(openapi());
  return pages;
}

int run(const std::filesystem::path& root, bool only_checks) {
  int differing = 0;
  for (const Page& page : made_pages(root)) {
    if (!page.has_changed()) continue;
    ++differing;
    if (only_checks) {
      std::fprintf(stderr, "%s is not what the code says: run ./dev docs\n", page.path().c_str());
    } else {
      page.write();
      std::printf("written: %s\n", page.path().c_str());
    }
  }
  return only_checks && differing > 0 ? 1 : 0;
}

}  // namespace
}  // namespace gpufl::docs

int main(int argc, char** argv) {
  const bool only_checks = argc == 3 && std::string_view(argv[1]) == "--check";
  if (argc != 2 && !only_checks) {
    std::fprintf(stderr, "usage: %s [--check] ROOT\n", argv[0]);
    return 64;
  }
  return gpufl::docs::run(argv[argc - 1], only_checks);
}
