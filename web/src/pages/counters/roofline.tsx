// SPDX-License-Identifier: Apache-2.0
// Ranges and kernels under the roofs of their GPU: one chart for each GPU and precision.
import type { DeviceRoof, Roofline, RooflinePoint } from "../../api/types";
import { bytesPerSecond, isUnknown, percent, plain, sentence } from "../../base/format";
import { Panel } from "../../widgets/parts";
import { type Column, DataTable } from "../../widgets/table";
import { chartsOf, nearestRoof, plotOf, roofsOf } from "./roofline_plot";

const WIDTH = 640;
const HEIGHT = 260;
const LEFT = 76;
const RIGHT = 16;
const TOP = 14;
const BOTTOM = 38;

function operationsPerSecond(rate: number): string {
  for (const [factor, unit] of [
    [1e12, "Top/s"],
    [1e9, "Gop/s"],
    [1e6, "Mop/s"],
  ] as const) {
    if (rate >= factor) return `${plain(rate / factor, 3)} ${unit}`;
  }
  return `${plain(rate, 3)} op/s`;
}

const COLUMNS: Column<RooflinePoint>[] = [
  { key: "label", title: "Range", value: ({ label }) => label, width: "minmax(180px, 3fr)" },
  { key: "precision", title: "In", value: ({ precision }) => precision },
  {
    key: "operations_per_byte",
    title: "Operations per byte",
    value: ({ operations_per_byte }) => operations_per_byte,
    cell: ({ operations_per_byte }) => plain(operations_per_byte, 3),
    isNumber: true,
  },
  {
    key: "operations_per_s",
    title: "Arithmetic",
    value: ({ operations_per_s }) => operations_per_s,
    cell: ({ operations_per_s }) => operationsPerSecond(operations_per_s),
    isNumber: true,
  },
  {
    key: "of_arithmetic",
    title: "Of its roof",
    value: ({ of_arithmetic }) => of_arithmetic,
    cell: ({ of_arithmetic }) => percent(of_arithmetic),
    isNumber: true,
  },
  {
    key: "bytes_per_s",
    title: "Memory",
    value: ({ bytes_per_s }) => bytes_per_s,
    cell: ({ bytes_per_s }) => bytesPerSecond(bytes_per_s),
    isNumber: true,
  },
  {
    key: "of_memory",
    title: "Of its roof",
    value: ({ of_memory }) => of_memory,
    cell: ({ of_memory }) => percent(of_memory),
    isNumber: true,
  },
];

function describe(point: RooflinePoint): string {
  const near = nearestRoof(point);
  const words = `${point.label}: ${plain(point.operations_per_byte, 3)} operations per byte, ${operationsPerSecond(point.operations_per_s)}`;
  return near === null ? words : `${words}, ${percent(near.share)} of the roof of ${near.roof}`;
}

function RooflineChart(props: { points: RooflinePoint[]; roofs: DeviceRoof[] }) {
  const { points, roofs } = props;
  const { device, precision } = points[0]!;
  const plot = plotOf(points, roofsOf(roofs, device, precision));
  const x = (value: number) => LEFT + plot.x(value) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => HEIGHT - BOTTOM - plot.y(value) * (HEIGHT - TOP - BOTTOM);
  const roof = plot.roof.map(([at, speed]) => `${x(at)} ${y(speed)}`).join("L");
  const bottom = HEIGHT - BOTTOM;
  return (
    <figure className="roofline-chart">
      <figcaption>
        {device < 0 ? "GPU unknown" : `GPU ${device}`}, {precision}
      </figcaption>
      <svg className="roofline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img">
        <title>{points.map(describe).join("; ")}</title>
        {plot.xTicks.map((tick) => (
          <g key={tick}>
            <path d={`M${x(tick)} ${TOP}V${bottom}`} className="roofline-tick" />
            <text x={x(tick)} y={bottom + 15} textAnchor="middle">
              {plain(tick, 3)}
            </text>
          </g>
        ))}
        {plot.yTicks.map((tick) => (
          <g key={tick}>
            <path d={`M${LEFT} ${y(tick)}H${WIDTH - RIGHT}`} className="roofline-tick" />
            <text x={LEFT - 8} y={y(tick) + 4} textAnchor="end">
              {operationsPerSecond(tick)}
            </text>
          </g>
        ))}
        {roof !== "" && <path d={`M${roof}`} className="roofline-roof" />}
        {points.map((point) => (
          <circle
            key={point.name}
            cx={x(point.operations_per_byte)}
            cy={y(point.operations_per_s)}
            r="5"
            className="roofline-point"
          >
            <title>{describe(point)}</title>
          </circle>
        ))}
        <text x={WIDTH - RIGHT} y={HEIGHT - 6} textAnchor="end" className="roofline-name">
          operations per byte
        </text>
      </svg>
    </figure>
  );
}

// Why there is no roof, each reason once.
function missingRoofs(roofs: DeviceRoof[]): string[] {
  const reasons = roofs.flatMap(({ bytes_per_s, fp32_per_s, fp64_per_s }) =>
    [bytes_per_s, fp32_per_s, fp64_per_s].flatMap((roof) =>
      isUnknown(roof) ? [roof.unknown] : [],
    ),
  );
  return [...new Set(reasons)];
}

export function RooflinePanel({ roofline: { roofs, points, left_out } }: { roofline: Roofline }) {
  const charts = chartsOf(points);
  return (
    <Panel title="Roofline" note="as counted; roofs at the GPU's highest clocks">
      <div className="roofline-charts">
        {charts.map((of) => (
          <RooflineChart key={`${of[0]!.device} ${of[0]!.precision}`} points={of} roofs={roofs} />
        ))}
      </div>
      <DataTable
        rows={points}
        columns={COLUMNS}
        rowKey={({ device, name, precision }) => `${device} ${name} ${precision}`}
        name="roofline"
        sortedBy="operations_per_s"
      />
      {points.some(({ uses_tensor_cores }) => uses_tensor_cores) && (
        <p className="roofline-note">
          Operations of tensor cores are not among those counted: where a range has some, it does
          more than is shown.
        </p>
      )}
      {missingRoofs(roofs).map((reason) => (
        <p key={reason} className="roofline-note">
          A roof is unknown: {reason}.
        </p>
      ))}
      {left_out.map(({ label, reason }) => (
        <p key={label} className="roofline-note">
          {label} has no place in it. {sentence(reason)}
        </p>
      ))}
    </Panel>
  );
}
