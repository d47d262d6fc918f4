// SPDX-License-Identifier: Apache-2.0
#include <gpufl/version.hpp>
#include <string>
#include <utility>

#include "server/routes.hpp"

namespace gpufl::embedded {
extern const std::string_view kCatalogueJson, kCodeJson, kCommonJson, kCompareJson, kDocumentsJson,
    kEventsJson, kFiguresJson, kReportJson, kScopesJson, kTimelineJson, kWarpsJson, kWorkJson;
}

namespace gpufl::server {
namespace {

using base::Json;

constexpr std::string_view kApi = "/api/";

// The names of a pattern's "{name}" segments.
std::vector<std::string> path_names(std::string_view pattern) {
  std::vector<std::string> names;
  for (size_t begin = 0; (begin = pattern.find('{', begin)) != std::string_view::npos; ++begin) {
    names.emplace_back(pattern.substr(begin + 1, pattern.find('}', begin) - begin - 1));
  }
  return names;
}

// What can be an answer's id; nothing else is found. Of kernels, a part of a name can be asked for.
Json path_schema(std::string_view name) {
  std::string_view pattern = R"(^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$)";
  if (name == "section") pattern = R"(^[a-z_]{1,64}$)";
  if (name == "window") pattern = R"(^[a-z]{1,16}(\.[0-9]{1,19})?\.log(\.zst)?$)";
  if (name == "kernel") pattern = R"(^[^./\x00-\x1f\x7f][^/\x00-\x1f\x7f]{0,4000}$)";
  return Json::object().set("type", "string").set("pattern", pattern);
}

Json schema_of(const Parameter& parameter) {
  Json schema = Json::object();
  if (parameter.type == Parameter::Type::Integer) {
    schema.set("type", "integer").set("minimum", parameter.least).set("maximum", parameter.most);
    if (!parameter.fallback.empty()) schema.set("default", int64_t{std::stoll(parameter.fallback)});
    return schema;
  }
  schema.set("type", "string");
  if (parameter.choices.empty()) {
    schema.set("maxLength", uint64_t{parameter.longest});
    schema.set("pattern", R"(^[^\x00]*$)");
  } else {
    Json choices = Json::array();
    for (const std::string& word : parameter.choices) choices.push(word);
    schema.set("enum", std::move(choices));
  }
  if (!parameter.fallback.empty()) schema.set("default", parameter.fallback);
  return schema;
}

Json described(std::string_view name, std::string_view place, std::string_view description,
               bool is_required, Json schema) {
  Json json = Json::object();
  json.set("name", name).set("in", place).set("description", description);
  return json.set("required", is_required).set("schema", std::move(schema));
}

Json media(const std::string& schema) {
  const auto parsed = Json::parse(schema.empty() ? "{}" : schema);
  return Json::object().set("schema", parsed ? *parsed : Json::object());
}

// Answers of one status differ in their type.
Json responses_of(const Route& route) {
  Json responses = Json::object();
  for (const Answer& answer : route.answers) {
    const std::string status = std::to_string(answer.status);
    Json response = responses[status].is_null() ? Json::object() : responses[status];
    Json content = response["content"].is_null() ? Json::object() : response["content"];
    content.set(answer.content_type, media(answer.schema));
    if (response.find("description") == nullptr) response.set("description", answer.description);
    responses.set(status, response.set("content", std::move(content)));
  }
  const Json problem = Json::object().set("$ref", "#/components/responses/Problem");
  return responses.set("default", problem);
}

Json parameters_of(const Route& route) {
  Json parameters = Json::array();
  for (const std::string& name : path_names(route.pattern)) {
    parameters.push(described(name, "path", "As the lists give it.", true, path_schema(name)));
  }
  for (const Parameter& parameter : route.parameters) {
    parameters.push(described(parameter.name, "query", parameter.description, parameter.is_required,
                              schema_of(parameter)));
  }
  return parameters;
}

Json operation(const Route& route) {
  Json json = Json::object();
  json.set("operationId", route.id).set("summary", route.summary);
  Json parameters = parameters_of(route);
  if (!parameters.items().empty()) json.set("parameters", std::move(parameters));
  if (!route.body_schema.empty()) {
    Json body = Json::object();
    Json content = Json::object().set("application/json", media(route.body_schema));
    body.set("required", true).set("content", std::move(content));
    json.set("requestBody", std::move(body));
  }
  return json.set("responses", responses_of(route));
}

Json components() {
  const auto parsed = Json::parse(R"({
    "securitySchemes": {
      "cookie": {"type": "apiKey", "in": "cookie", "name": "gpufl_PORT",
        "description": "Set by the address that gpufl serve prints; its name ends in the port."},
      "bearer": {"type": "http", "scheme": "bearer",
        "description": "The token of that address."}
    },
    "responses": {
      "Problem": {"description": "What is wrong, as RFC 9457 describes it.",
        "content": {"application/problem+json": {"schema": {"type": "object",
          "required": ["title", "status"],
          "properties": {"title": {"type": "string"}, "status": {"type": "integer"},
            "detail": {"type": "string"}}}}}}
    }
  })");
  Json json = parsed ? *parsed : Json();
  return json.set("schemas", named_schemas());
}

}  // namespace

std::string schema_ref(std::string_view name) {
  return R"({"$ref":"#/components/schemas/)" + std::string(name) + R"("})";
}

Json named_schemas() {
  Json schemas = Json::object();
  for (const std::string_view text :
       {embedded::kCommonJson, embedded::kCatalogueJson, embedded::kTimelineJson,
        embedded::kEventsJson, embedded::kFiguresJson, embedded::kDocumentsJson,
        embedded::kReportJson, embedded::kWorkJson, embedded::kScopesJson, embedded::kCodeJson,
        embedded::kWarpsJson, embedded::kCompareJson}) {
    const auto parsed = Json::parse(text);
    if (!parsed) continue;
    for (const auto& [name, schema] : parsed->members()) schemas.set(name, schema);
  }
  return schemas;
}

Json Routes::openapi() const {
  Json paths = Json::object();
  for (const Route& route : routes_) {
    if (!route.pattern.starts_with(kApi)) continue;
    std::string method = route.method;
    for (char& c : method) c = static_cast<char>(c - 'A' + 'a');
    const Json* found = paths.find(route.pattern);
    Json item = found == nullptr ? Json::object() : *found;
    item.set(method, operation(route));
    paths.set(route.pattern, std::move(item));
  }
  Json document = Json::object();
  document.set("openapi", "3.1.0");
  Json info = Json::object();
  info.set("title", "GPUFlight").set("version", "1");
  info.set("description",
           "Recorded sessions, read-only, as gpufl " GPUFL_VERSION
           " serves them. Version 1; it may change until the dashboard is released.");
  Json license = Json::object();
  license.set("name", "Apache-2.0").set("identifier", "Apache-2.0");
  document.set("info", info.set("license", std::move(license)));
  Json security = Json::array();
  security.push(Json::object().set("cookie", Json::array()));
  security.push(Json::object().set("bearer", Json::array()));
  document.set("security", std::move(security));
  document.set("paths", std::move(paths));
  return document.set("components", components());
}

}  // namespace gpufl::server
