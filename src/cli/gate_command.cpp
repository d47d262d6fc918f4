// SPDX-License-Identifier: Apache-2.0
#include "cli/gate_command.hpp"

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "analysis/compare/gate_rules.hpp"
#include "cli/compare_options.hpp"
#include "cli/exit_codes.hpp"
#include "report/gate_report.hpp"

namespace gpufl::cli {
namespace {

using analysis::compare::Outcome;
using analysis::compare::Rule;
using analysis::compare::Subject;

struct Options {
  std::vector<std::string> baseline, candidate;
  std::string kernel, scope, metric, rules;
  Output output;
  bool total = false;
  Rule rule;
  GateRequest request;
};

std::string written(const analysis::compare::GateResult& result, const GateRequest& request) {
  if (request.format == "json") return report::gate_json(result);
  if (request.format == "md") return report::gate_markdown(result, request.text.top);
  if (request.format == "junit") return report::gate_junit(result);
  return report::gate_text(result, request.text);
}

int exit_code_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Pass: return kExitGood;
    case Outcome::Regression: return kExitNo;
    case Outcome::CannotTell: break;
  }
  return kExitCannotTell;
}

base::Result<std::vector<Rule>> rules_of_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return base::Status(base::Code::NotFound, "--rules: " + file + ": it cannot be read");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  auto rules = analysis::compare::parse_rules(text, file);
  if (rules) return rules;
  return base::Status(rules.status().code(), "--rules: " + rules.status().message());
}

// Those of the file, or the one that the command line itself states.
base::Result<std::vector<Rule>> rules_of(const Options& options) {
  if (!options.rules.empty()) return rules_of_file(options.rules);
  Rule rule = options.rule;
  rule.subject = !options.kernel.empty()  ? Subject::Kernel
                 : !options.scope.empty() ? Subject::Scope
                                          : Subject::Total;
  rule.pattern = options.kernel + options.scope;
  rule.metric = options.metric.empty() ? analysis::compare::default_metric(rule.subject)
                                       : *analysis::compare::metric_named(options.metric);
  if (const base::Status status = check_rule(rule); !status) return status;
  return std::vector{rule};
}

}  // namespace

GateOutcome make_gate(const GateRequest& request) {
  const auto baseline = read_group(request.baseline);
  if (!baseline) return {"", baseline.status().message(), kExitCannotTell};
  const auto candidate = read_group(request.candidate);
  if (!candidate) return {"", candidate.status().message(), kExitCannotTell};
  const auto result = run_gate(*baseline, *candidate, request.rules);
  return {written(result, request), "", exit_code_of(result.outcome)};
}

void add_gate_command(Command program) {
  auto options = std::make_shared<Options>();
  options->output.text.top = 30;
  Command command =
      program.add_command("gate", "Fail when a program has become slower than rules allow");
  command
      .add_option("candidate", options->candidate,
                  "Sessions or folders with repeats of what is judged")
      .required();
  command
      .add_option(
          "-b,--baseline", options->baseline,
          "A session or a folder with repeats to compare with; for several, give it several "
          "times")
      .required()
      .one_value()  // what follows the one path is a candidate
      .type_name("PATH");
  Option kernel =
      command.add_option("--kernel", options->kernel, "Judge kernels whose name matches")
          .type_name("GLOB");
  Option scope =
      command.add_option("--scope", options->scope, "Judge scopes whose name or path matches")
          .type_name("GLOB");
  Option total = command.add_flag("--total", options->total, "Judge all of it (the default)");
  Option metric =
      command
          .add_option("--metric", options->metric,
                      "median, mean, p90, p99, total, count, busy or time [default: median; of "
                      "--total, busy]")
          .choices({"median", "mean", "p90", "p99", "total", "count", "busy", "time"})
          .type_name("METRIC");
  Option limit = add_share(command, "--max-increase", options->rule.max_increase, "5%",
                           "An increase as large as this is a regression");
  Option share = add_share(command, "--min-share", options->rule.min_share, "1%",
                           "Where several match, those with less of the time are not judged");
  Option noisy = command.add_flag("--allow-noisy", options->rule.allow_noisy,
                                  "What is too noisy to be judged passes");
  Option rules = command.add_option("--rules", options->rules, "Several rules, from this JSON file")
                     .type_name("FILE");
  kernel.excludes(scope);
  kernel.excludes(total);
  scope.excludes(total);
  for (Option one : {kernel, scope, total, metric, limit, share, noisy}) rules.excludes(one);
  add_output_options(command, "Matches of a rule to show; 0: all", {"text", "md", "json", "junit"},
                     options->output);
  command.set_footer(
      "Exit code: 0 pass; 1 a regression; 2 it cannot be told (too few repeats, too noisy, no such "
      "kernel, an incomplete trace): the output says why.");
  command.set_action([options]() -> base::Result<int> {
    GateRequest& request = options->request;
    request.baseline.assign(options->baseline.begin(), options->baseline.end());
    request.candidate.assign(options->candidate.begin(), options->candidate.end());
    auto rules = rules_of(*options);
    if (!rules) return rules.status();
    request.rules = std::move(*rules);
    fit_to_output(options->output);
    request.format = options->output.format;
    request.text = options->output.text;
    const GateOutcome outcome = make_gate(request);
    return deliver_answer("gpufl gate", outcome.text, outcome.error, outcome.exit_code,
                          options->output);
  });
}

}  // namespace gpufl::cli
