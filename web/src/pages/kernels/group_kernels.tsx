// SPDX-License-Identifier: Apache-2.0
// The kernels of one group: of an operator, a module, a line, a scope or a stream.
import { useApi } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import type { GroupReport, Kernels } from "../../api/types";
import { count, duration, percent, plural } from "../../base/format";
import { Copyable } from "../../widgets/parts";
import { Ready } from "../../widgets/states";
import { sessionHref } from "../session_frame";
import { filterRows, type GroupBy, GROUPINGS, groupParameter, kernelRows } from "./groups";
import { KernelTable } from "./kernel_table";

function Sums({ of, all }: { of: GroupReport; all: number | undefined }) {
  const share = all ? `, ${percent(of.total_ns / all)} of all kernels` : "";
  return (
    <span className="dim num">
      {duration(of.total_ns)} in {plural(of.count, "launch", "launches")}
      {share}
    </span>
  );
}

export function GroupKernels(props: {
  session: string;
  by: GroupBy;
  group: string;
  section: Kernels | undefined;
  filter: string;
  isNarrow: boolean;
}) {
  const { session, by, group, section } = props;
  const { title } = GROUPINGS.find((grouping) => grouping.by === by)!;
  const loaded = useApi(sessionPath(session, "/group"), { by: groupParameter(by) ?? "", group });
  return (
    <>
      <p className="kernels-group">
        <a href={sessionHref(session, `kernels?by=${by}`)}>{title}</a>
        <span className="faint">/</span>
        <Copyable text={group}>
          <b>{group}</b>
        </Copyable>
        {loaded.data && <Sums of={loaded.data} all={section?.total_ns} />}
      </p>
      <Ready of={loaded} rows={6}>
        {({ by_name, more }) => {
          const rows = kernelRows(by_name, section);
          return (
            <>
              <KernelTable
                session={session}
                by="name"
                rows={rows}
                shown={filterRows(rows, props.filter)}
                isNarrow={props.isNarrow}
                whyNone={null}
                shareOf="this group"
              />
              {more.groups > 0 && (
                <p className="panel-foot dim">
                  {count(more.groups)} more with {plural(more.launches, "launch", "launches")},{" "}
                  {duration(more.total_ns)}
                </p>
              )}
            </>
          );
        }}
      </Ready>
    </>
  );
}
