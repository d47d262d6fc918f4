// SPDX-License-Identifier: Apache-2.0
// What a roofline shows and how to read it, where operations and bytes were not counted. A drawing
// without numbers: there are none.

const SKETCH = {
  roof: "M40 134L150 44H330",
  memory: "M40 134L150 44V150H40z",
  compute: "M150 44H330V150H150z",
};
const KERNELS = [
  { x: 84, y: 110, color: "var(--k-elementwise)" },
  { x: 108, y: 88, color: "var(--k-norm)" },
  { x: 236, y: 54, color: "var(--k-matmul)" },
  { x: 196, y: 118, color: "var(--k-gather)" },
];

function Sketch() {
  return (
    <svg className="roofline" viewBox="0 0 340 176" role="img">
      <title>
        A sketch of a roofline: speed over operations per byte, under a slope that memory sets and a
        flat roof that arithmetic sets
      </title>
      <path d={SKETCH.memory} className="roofline-memory" />
      <path d={SKETCH.compute} className="roofline-compute" />
      <path d="M40 20V150H330" className="roofline-axis" />
      <path d={SKETCH.roof} className="roofline-roof" />
      {KERNELS.map(({ x, y, color }) => (
        <circle key={x} cx={x} cy={y} r="4.5" style={{ fill: color }} />
      ))}
      <text x="92" y="76" transform="rotate(-39 92 76)" textAnchor="middle">
        memory
      </text>
      <text x="330" y="12" textAnchor="end" className="roofline-name">
        example, not this session
      </text>
      <text x="240" y="36" textAnchor="middle">
        arithmetic
      </text>
      <text x="330" y="166" textAnchor="end" className="roofline-name">
        operations per byte
      </text>
      <text x="40" y="12" className="roofline-name">
        operations a second
      </text>
    </svg>
  );
}

// `why`: what is missing in this session.
export function RooflineLesson({ why }: { why: string }) {
  return (
    <div className="roofline-lesson">
      <Sketch />
      <div>
        <h3>No roofline: {why}</h3>
        <p>
          With both, each kernel is a dot under the roof, and the roof above it is what limits it:
        </p>
        <dl>
          <dt>Under the slope</dt>
          <dd>It waits for memory. Move fewer bytes: fuse kernels, reuse tiles, narrower types.</dd>
          <dt>Under the flat roof</dt>
          <dd>Arithmetic limits it. Use tensor cores, or fewer operations.</dd>
          <dt>Far below both</dt>
          <dd>Neither does: too few warps, or they wait for each other.</dd>
        </dl>
        <p>
          What a kernel waits for can be sampled:{" "}
          <code>gpufl trace --engine PcSampling -- python train.py</code>. The page of a kernel
          shows its stalls and its occupancy.
        </p>
      </div>
    </div>
  );
}
