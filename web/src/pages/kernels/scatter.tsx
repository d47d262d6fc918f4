// SPDX-License-Identifier: Apache-2.0
// Launches as dots: when each began and how long it took.
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { useWidth } from "../../base/element_width";
import { duration, exactTime } from "../../base/format";
import { useIsDark } from "../../base/media";
import { type Launch, nearest, plotOf } from "./launches";

const HEIGHT = 190;
const LEFT = 64;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 24;

export function Scatter(props: {
  launches: Launch[];
  // Times at the ends; null: those of the first and the last launch.
  reach: [number, number] | null;
  // Longer ones stand out.
  p99: number | undefined;
  onOpen: (launch: Launch) => void;
}) {
  const { launches, reach, p99, onOpen } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const ratio = window.devicePixelRatio || 1;
  const isDark = useIsDark();
  const [chosen, setChosen] = useState<number | null>(null);
  const plot = useMemo(
    () => plotOf(launches, Math.max(width - LEFT - RIGHT, 1), HEIGHT - TOP - BOTTOM, reach),
    [launches, width, reach],
  );

  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(name).trim();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, HEIGHT);
    context.font = `11px ${color("--font")}`;
    context.textAlign = "right";
    for (const tick of plot.ticks) {
      const y = Math.round(TOP + plot.y(tick));
      context.fillStyle = color("--line");
      context.fillRect(LEFT, y, width - LEFT - RIGHT, 1);
      context.fillStyle = color("--ink3");
      context.fillText(duration(tick), LEFT - 8, y + 4);
    }
    if (launches.length > 0) {
      context.textAlign = "left";
      context.fillText(duration(plot.first), LEFT, HEIGHT - 6);
      context.textAlign = "right";
      if (plot.last !== plot.first) {
        context.fillText(duration(plot.last), width - RIGHT, HEIGHT - 6);
      }
    }
    const dot = ({ start, duration: time }: Launch, radius: number) => {
      context.beginPath();
      context.arc(LEFT + plot.x(start), TOP + plot.y(time), radius, 0, 7);
      context.fill();
    };
    const isLong = (launch: Launch) => p99 !== undefined && launch.duration > p99;
    context.fillStyle = color("--accent");
    context.globalAlpha = launches.length > 1000 ? 0.35 : 0.6;
    for (const launch of launches) if (!isLong(launch)) dot(launch, 2.1);
    context.globalAlpha = 1;
    context.fillStyle = color("--warn");
    for (const launch of launches) if (isLong(launch)) dot(launch, 2.6);
    const at = chosen === null ? undefined : launches[chosen];
    if (at) {
      context.fillStyle = color("--ink");
      dot(at, 4);
    }
  }, [launches, plot, width, ratio, chosen, p99, isDark]);

  const onMove = (event: PointerEvent) => {
    const bounds = event.currentTarget.getBoundingClientRect();
    const x = event.clientX - bounds.left - LEFT;
    setChosen(nearest(launches, plot, x, event.clientY - bounds.top - TOP));
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setChosen(Math.min(Math.max((chosen ?? -1) + step, 0), launches.length - 1));
    }
    const at = chosen === null ? undefined : launches[chosen];
    if (event.key === "Enter" && at) onOpen(at);
  };
  const at = chosen === null ? undefined : launches[chosen];
  return (
    <div ref={box} className="scatter">
      <canvas
        ref={canvas}
        role="application"
        aria-label="Duration of launches over time; arrow keys choose one, Enter shows it on the timeline"
        tabIndex={0}
        width={Math.round(width * ratio)}
        height={Math.round(HEIGHT * ratio)}
        style={{ width, height: HEIGHT, cursor: at ? "pointer" : "default" }}
        onPointerMove={onMove}
        onPointerLeave={() => setChosen(null)}
        onClick={() => at && onOpen(at)}
        onKeyDown={onKey}
      />
      <p className="scatter-at num" aria-live="polite">
        {at ? (
          <>
            <b>{exactTime(at.duration)}</b> <span className="dim">at {exactTime(at.start)}</span>
          </>
        ) : (
          <span className="faint">Each dot is a launch; click one to see it on the timeline.</span>
        )}
      </p>
    </div>
  );
}
