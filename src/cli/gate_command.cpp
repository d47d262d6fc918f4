// SPDX-License-Identifier: Apache-2.0
#include "cli/gate_command.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/compare/gate_rules.hpp"
#include "cli/compare_options.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/progress_line.hpp"
#include "workbench/compare.hpp"

namespace gpufl::cli {
namespace {

using analysis::compare::Outcome;
using analysis::compare::Rule;
using analysis::compare::Subject;

constexpr const char* kCommand = "gpufl gate";

struct Options {
  std::vector<std::string> baseline, candidate;
  std::string kernel, scope, metric, rules;
  Output output;
  bool total = false;
  Rule rule;
  workbench::GateRequest request;
};

int exit_code_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Pass: return kExitGood;
    case Outcome::Regression: return kExitNo;
    case Outcome::CannotTell: break;
  }
  return kExitCannotTell;
}

// Those of the file, or the one that the command line itself states.
base::Result<std::vector<Rule>> rules_of(const Options& options) {
  if (!options.rules.empty()) {
    auto rules = workbench::load_rules(options.rules);
    if (rules) return rules;
    return base::Status(rules.status().code(), "--rules: " + rules.status().message());
  }
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

int run_gate(Options& options) {
  Output& output = options.output;
  fit_to_output(output);
  const auto result = with_progress([&](const workbench::Progress& progress) {
    options.request.open.progress = progress;
    return workbench::gate(options.request);
  });
  if (!result) {
    complain(kCommand, result.status().message());
    return kExitCannotTell;
  }
  const std::string text = workbench::write_gate(*result, output.format, output.text);
  return deliver(kCommand, text, output.file) ? exit_code_of(result->outcome) : kExitCannotTell;
}

}  // namespace

void add_gate_command(Command program) {
  auto options = std::make_shared<Options>();
  options->output.text.top = 30;
  Command command =
      program.add_command("gate", "Fail if a program has become slower than the rules allow");
  command
      .add_option("candidate", options->candidate,
                  "Sessions or folders with repeats of the program to judge")
      .required();
  command
      .add_option("-b,--baseline", options->baseline,
                  "A session or a folder with repeats to compare with; can be repeated")
      .required()
      .one_value()  // what follows the one path is a candidate
      .type_name("PATH");
  Option kernel =
      command.add_option("--kernel", options->kernel, "Judge kernels whose name matches")
          .type_name("GLOB");
  Option scope =
      command.add_option("--scope", options->scope, "Judge scopes whose name or path matches")
          .type_name("GLOB");
  Option total = command.add_flag("--total", options->total, "Judge the whole run (the default)");
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
                           "If several match, ignore those with less of the time");
  Option noisy = command.add_flag("--allow-noisy", options->rule.allow_noisy,
                                  "Let figures pass that are too noisy to be judged");
  Option rules = command.add_option("--rules", options->rules, "JSON file with several rules")
                     .type_name("FILE");
  kernel.excludes(scope);
  kernel.excludes(total);
  scope.excludes(total);
  for (Option one : {kernel, scope, total, metric, limit, share, noisy}) rules.excludes(one);
  add_output_options(command, "Matches of a rule to show; 0: all", workbench::kGateFormats,
                     options->output);
  command.set_footer(
      "Exit code: 0 pass; 1 a regression; 2 no verdict (too few repeats, too noisy, no such "
      "kernel, an incomplete trace): the output says why.");
  command.set_action([options]() -> base::Result<int> {
    workbench::GateRequest& request = options->request;
    request.baseline.assign(options->baseline.begin(), options->baseline.end());
    request.candidate.assign(options->candidate.begin(), options->candidate.end());
    auto rules = rules_of(*options);
    if (!rules) return rules.status();
    request.rules = std::move(*rules);
    return run_gate(*options);
  });
}

}  // namespace gpufl::cli
