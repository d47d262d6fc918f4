// SPDX-License-Identifier: Apache-2.0
#include "cli/gate_command.hpp"

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "analysis/compare/gate_rules.hpp"
#include "cli/compare_options.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/quantity_option.hpp"
#include "cli/terminal.hpp"
#include "report/gate_report.hpp"

namespace gpufl::cli {
namespace {

using analysis::compare::Outcome;
using analysis::compare::Rule;
using analysis::compare::Subject;

struct Options {
  std::vector<std::string> baseline, candidate;
  std::string kernel, scope, metric, rules, output;
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

std::vector<Rule> rules_of_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw CLI::ValidationError("--rules", file + ": it cannot be read");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return value_or_throw<std::vector<Rule>>("--rules", analysis::compare::parse_rules(text, file));
}

// The one rule that the command line itself states.
Rule rule_of_options(const Options& options) {
  Rule rule = options.rule;
  rule.subject = !options.kernel.empty()  ? Subject::Kernel
                 : !options.scope.empty() ? Subject::Scope
                                          : Subject::Total;
  rule.pattern = options.kernel + options.scope;
  rule.metric = options.metric.empty() ? analysis::compare::default_metric(rule.subject)
                                       : *analysis::compare::metric_named(options.metric);
  const base::Status status = check_rule(rule);
  if (!status.is_ok()) throw CLI::ValidationError("gate", status.message());
  return rule;
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

void add_gate_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  GateRequest& request = options->request;
  request.text.top = 30;
  CLI::App* command =
      app.add_subcommand("gate", "Fail when a program has become slower than rules allow");
  command
      ->add_option("candidate", options->candidate,
                   "Sessions or folders with repeats of what is judged")
      ->required();
  command
      ->add_option(
          "-b,--baseline", options->baseline,
          "A session or a folder with repeats to compare with; for several, give it several "
          "times")
      ->required()
      ->allow_extra_args(false)  // what follows the one path is a candidate
      ->type_name("PATH");
  CLI::Option* kernel =
      command->add_option("--kernel", options->kernel, "Judge kernels whose name matches")
          ->type_name("GLOB");
  CLI::Option* scope =
      command->add_option("--scope", options->scope, "Judge scopes whose name or path matches")
          ->type_name("GLOB");
  CLI::Option* total =
      command->add_flag("--total", options->total, "Judge all of it (the default)");
  CLI::Option* metric =
      command
          ->add_option("--metric", options->metric,
                       "median, mean, p90, p99, total, count, busy or time [default: median; of "
                       "--total, busy]")
          ->check(CLI::IsMember({"median", "mean", "p90", "p99", "total", "count", "busy", "time"}))
          ->type_name("METRIC");
  CLI::Option* limit = add_share(*command, "--max-increase", options->rule.max_increase, "5%",
                                 "An increase as large as this is a regression");
  CLI::Option* share = add_share(*command, "--min-share", options->rule.min_share, "1%",
                                 "Where several match, those with less of the time are not judged");
  CLI::Option* noisy = command->add_flag("--allow-noisy", options->rule.allow_noisy,
                                         "What is too noisy to be judged passes");
  CLI::Option* rules =
      command->add_option("--rules", options->rules, "Several rules, from this JSON file")
          ->type_name("FILE");
  for (CLI::Option* one : {kernel, scope, total}) {
    for (CLI::Option* other : {kernel, scope, total}) {
      if (one != other) one->excludes(other);
    }
  }
  for (CLI::Option* one : {kernel, scope, total, metric, limit, share, noisy}) rules->excludes(one);
  command->add_option("--top", request.text.top, "Matches of a rule to show; 0: all")
      ->check(count_check())
      ->capture_default_str();
  command->add_option("--format", request.format, "text, md, json or junit")
      ->check(CLI::IsMember({"text", "md", "json", "junit"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command
      ->add_option("-o,--output", options->output,
                   "Write to this file instead of stdout; one that is there is replaced")
      ->type_name("FILE");
  command->footer(
      "Exit code: 0 pass; 1 a regression; 2 it cannot be told (too few repeats, too noisy, no such "
      "kernel, an incomplete trace): the output says why.");
  command->callback([options, &exit_code] {
    GateRequest& request = options->request;
    request.baseline.assign(options->baseline.begin(), options->baseline.end());
    request.candidate.assign(options->candidate.begin(), options->candidate.end());
    request.rules = options->rules.empty() ? std::vector{rule_of_options(*options)}
                                           : rules_of_file(options->rules);
    request.text.width = page_width();
    request.text.has_color = options->output.empty() && terminal_has_color();
    const GateOutcome outcome = make_gate(request);
    exit_code = outcome.exit_code;
    if (!outcome.error.empty()) {
      complain("gpufl gate", outcome.error);
      return;
    }
    if (!deliver("gpufl gate", outcome.text, options->output)) exit_code = kExitCannotTell;
  });
}

}  // namespace gpufl::cli
