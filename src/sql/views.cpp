// SPDX-License-Identifier: Apache-2.0
#include "sql/views.hpp"

namespace gpufl::sql {
namespace {

constexpr View kViews[] = {
    {"runs", "One row per run: all sessions of one launch.",
     R"(select run, count(*) as sessions, min(started_ns) as started_ns, any_value(app) as app,
       any_value(command) as command, list(distinct host order by host) as hosts
from sessions group by run order by started_ns)"},
    {"kernel_summary", "One row per kernel of a session, those that took most time first.",
     R"(select session, rank, name, count(*) as launches, sum(duration_ns)::bigint as total_ns,
       avg(duration_ns) as mean_ns, quantile_disc(duration_ns, 0.5) as p50_ns,
       quantile_disc(duration_ns, 0.99) as p99_ns, min(duration_ns) as min_ns,
       max(duration_ns) as max_ns
from kernels group by all order by total_ns desc)"},
    {"transfers", "Copies of a session by direction and kinds of memory.",
     R"(select session, rank, device, direction, source_memory, target_memory, count(*) as copies,
       sum(bytes)::bigint as total_bytes, sum(duration_ns)::bigint as total_ns,
       sum(bytes) / nullif(sum(duration_ns), 0) as gb_per_s
from memcpy group by all order by total_ns desc)"},
    {"waits", "What the host waited for the GPU in, by function and line of the program.",
     R"(select session, rank, name, launched_at, count(*) as waits,
       sum(duration_ns)::bigint as total_ns, quantile_disc(duration_ns, 0.5) as p50_ns,
       quantile_disc(duration_ns, 0.99) as p99_ns, max(duration_ns) as max_ns
from sync group by all order by total_ns desc)"},
    {"busy", "For how long each GPU was busy with kernels, copies or memsets, each moment once.",
     R"(with work as (
  select session, rank, device, start_ns, start_ns + duration_ns as end_ns from kernels union all
  select session, rank, device, start_ns, start_ns + duration_ns from memcpy union all
  select session, rank, device, start_ns, start_ns + duration_ns from memset
), seen as (
  select *, max(end_ns) over (
      partition by session, device order by start_ns, end_ns
      rows between unbounded preceding and 1 preceding) as until_ns
  from work
)
select session, rank, device,
       sum(greatest(end_ns - greatest(start_ns, coalesce(until_ns, start_ns)), 0))::bigint as busy_ns,
       min(start_ns) as first_ns, max(end_ns) as last_ns,
       busy_ns / nullif(last_ns - first_ns, 0) as share
from seen group by session, rank, device order by session, device)"},
    {"scope_summary", "One row per path of scopes of a session.",
     R"(select session, rank, path, count(*) as times, sum(duration_ns)::bigint as total_ns,
       avg(duration_ns) as mean_ns, quantile_disc(duration_ns, 0.5) as p50_ns,
       quantile_disc(duration_ns, 0.99) as p99_ns
from scopes group by all order by total_ns desc)"},
    {"metric_summary", "One row per metric of a GPU.",
     R"(select session, rank, device, index, metric, count(*) as samples, min(value) as min,
       avg(value) as mean, max(value) as max
from device_metrics group by all order by session, device, metric, index)"},
};

}  // namespace

std::span<const View> views() { return kViews; }

}  // namespace gpufl::sql
