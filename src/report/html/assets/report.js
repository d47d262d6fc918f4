// SPDX-License-Identifier: Apache-2.0
// The timeline and the tables of the HTML report. Reads #picture, which html_report.cpp writes.
"use strict";

const LABEL_WIDTH = 190;
const AXIS_HEIGHT = 24;
const GROUP_HEIGHT = 22;
const ROW_HEIGHT = 18;
const ROW_GAP = 2;
const TRACK_GAP = 6;
const MIN_SPAN_NS = 50;
const MIN_TEXT_WIDTH = 36;
const MIN_ALPHA = 0.15;
const MAX_NARROW = 4; // a part of a view smaller than this has no room for lanes
const UNITS_OF_TIME = [["s", 1e9], ["ms", 1e6], ["us", 1e3]];

function formatTime(ns) {
  const size = Math.abs(ns);
  for (const [unit, factor] of UNITS_OF_TIME) {
    if (size >= factor) return `${+(ns / factor).toPrecision(6)} ${unit}`;
  }
  return `${Math.round(ns)} ns`;
}

// As many digits as tell it from what is `step` away: far from 0 and zoomed in, these are many.
function formatAxis(ns, step) {
  for (const [unit, factor] of UNITS_OF_TIME) {
    if (Math.abs(ns) < factor) continue;
    const digits = Math.max(0, Math.ceil(Math.log10(factor / step) - 1e-9));
    return `${(ns / factor).toFixed(Math.min(digits, 9))} ${unit}`;
  }
  return `${Math.round(ns)} ns`;
}

// Starts are told as differences, ends as durations.
function decodeRow(row) {
  const count = row.s.length;
  const start = new Float64Array(count);
  const end = new Float64Array(count);
  let time = 0;
  for (let i = 0; i < count; i++) {
    time += row.s[i];
    start[i] = time;
    end[i] = time + row.d[i];
  }
  return { start, end, text: row.t, count: row.c, busy: row.b };
}

// The first block that ends after `time`.
function firstAfter(row, time) {
  let low = 0;
  let high = row.end.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row.end[middle] > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

class Timeline {
  constructor(root, data) {
    this.canvas = root.querySelector("canvas");
    this.tip = document.getElementById("tip");
    this.viewText = root.querySelector(".view");
    this.scroll = root.querySelector("#scroll");
    this.insideButton = root.querySelector("#inside");
    this.context = this.canvas.getContext("2d");
    this.texts = data.texts;
    this.first = data.start;
    this.last = Math.max(data.end, data.start + MIN_SPAN_NS);
    this.from = this.first;
    this.to = this.last;
    this.found = null;
    this.marked = null;
    this.readTracks(data.tracks);
    this.layOut();
    this.colors = new Array(this.texts.length);
    this.listen(root);
    this.showInside();
    new ResizeObserver(() => this.resize()).observe(this.scroll);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.readStyle());
    // Paper is white, whatever the screen is.
    matchMedia("print").addEventListener("change", () => {
      this.readStyle();
      this.drawNow();
    });
    this.readStyle();
  }

  readTracks(tracks) {
    this.groups = [];
    for (const track of tracks) {
      if (this.groups.at(-1)?.title !== track.group) {
        this.groups.push({ title: track.group, kernel: track.inside, tracks: [] });
      }
      this.groups.at(-1).tracks.push({ name: track.name, rows: track.rows.map(decodeRow) });
    }
    // What is inside of kernels is opened on demand, unless there is nothing else.
    const isAlone = this.groups.every((group) => group.kernel);
    for (const group of this.groups) group.isOpen = isAlone || !group.kernel;
  }

  layOut() {
    this.lines = [];
    let y = AXIS_HEIGHT;
    for (const group of this.groups) {
      this.lines.push({ y, group });
      y += GROUP_HEIGHT;
      if (!group.isOpen) {
        y += TRACK_GAP;
        continue;
      }
      for (const track of group.tracks) {
        track.rows.forEach((row, i) => {
          this.lines.push({ y, name: i === 0 ? track.name : "", row });
          y += ROW_HEIGHT + ROW_GAP;
        });
        y += TRACK_GAP;
      }
    }
    this.height = y;
  }

  setOpen(groups, isOpen) {
    if (groups.every((group) => group.isOpen === isOpen)) return;
    for (const group of groups) group.isOpen = isOpen;
    this.layOut();
    this.resize();
    this.showInside();
  }

  // Where what is opened would be too narrow to be seen, it is zoomed to.
  toggle(groups) {
    const isOpen = !groups.some((group) => group.isOpen);
    this.setOpen(groups, isOpen);
    const rows = groups.flatMap((group) => group.tracks.flatMap((track) => track.rows));
    const from = Math.min(...rows.map((row) => row.start[0]));
    const to = Math.max(...rows.map((row) => row.end.at(-1)));
    const isSeen = (to - from) * MAX_NARROW > this.to - this.from;
    if (isOpen && !isSeen) this.setView(from - (to - from) * 0.1, to + (to - from) * 0.1);
  }

  insideGroups() {
    return this.groups.filter((group) => group.kernel);
  }

  // Those that recorded something between two times, of one kernel where it is named.
  insideDuring(from, to, kernel) {
    const isIn = (row) => {
      const i = firstAfter(row, from);
      return i < row.start.length && row.start[i] < to;
    };
    return this.insideGroups().filter(
      (group) =>
        (!kernel || group.kernel === kernel) &&
        group.tracks.some((track) => track.rows.some(isIn)),
    );
  }

  insideOf(row, i) {
    const [label] = this.texts[row.text[i]];
    return this.insideDuring(row.start[i], row.end[i], label);
  }

  showInside() {
    const inside = this.insideGroups();
    this.insideButton.hidden = inside.length === 0;
    const isOpen = inside.some((group) => group.isOpen);
    this.insideButton.setAttribute("aria-pressed", String(isOpen));
  }

  readStyle() {
    const style = getComputedStyle(document.documentElement);
    this.style = (name) => style.getPropertyValue(name).trim();
    this.colors.fill(undefined);
    this.draw();
  }

  // The same text has the same colour in every report; waits have none.
  color(text) {
    if (this.texts[text][2]) return this.style("--wait");
    if (!this.colors[text]) {
      let hash = 2166136261;
      for (const c of this.texts[text][0]) hash = Math.imul(hash ^ c.codePointAt(0), 16777619);
      const hue = (hash >>> 0) % 360;
      const saturation = 45 + ((hash >>> 9) % 25);
      this.colors[text] = `hsl(${hue} ${saturation}% ${this.style("--block-light")})`;
    }
    return this.colors[text];
  }

  resize() {
    const ratio = devicePixelRatio || 1;
    this.width = this.scroll.clientWidth;
    this.canvas.style.height = `${this.height}px`;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawNow(); // at once: a new size has cleared it
  }

  x(time) {
    return LABEL_WIDTH + ((time - this.from) / (this.to - this.from)) * (this.width - LABEL_WIDTH);
  }

  time(x) {
    return this.from + ((x - LABEL_WIDTH) / (this.width - LABEL_WIDTH)) * (this.to - this.from);
  }

  setView(from, to) {
    const span = Math.min(Math.max(to - from, MIN_SPAN_NS), this.last - this.first);
    const start = Math.min(Math.max(from, this.first), this.last - span);
    this.from = start;
    this.to = start + span;
    this.draw();
  }

  // Shows a span of time, with some of what is around it.
  mark(from, to) {
    this.marked = { from, to: Math.max(to, from + MIN_SPAN_NS) };
    this.setOpen(this.insideDuring(from, this.marked.to), true);
    const margin = Math.max((this.marked.to - from) * 0.25, MIN_SPAN_NS);
    this.setView(from - margin, this.marked.to + margin);
  }

  drawMark() {
    if (!this.marked) return;
    const left = Math.max(this.x(this.marked.from), LABEL_WIDTH);
    const right = Math.min(this.x(this.marked.to), this.width);
    if (right <= left) return;
    this.context.fillStyle = this.style("--accent");
    this.context.globalAlpha = 0.1;
    this.context.fillRect(left, AXIS_HEIGHT, right - left, this.height - AXIS_HEIGHT);
    this.context.globalAlpha = 1;
    this.context.fillRect(left, AXIS_HEIGHT - 3, right - left, 3);
  }

  zoom(factor, at) {
    this.setView(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  draw() {
    if (this.isDrawing || !this.width) return;
    this.isDrawing = true;
    requestAnimationFrame(() => {
      this.isDrawing = false;
      this.drawNow();
    });
  }

  drawNow() {
    const context = this.context;
    context.clearRect(0, 0, this.width, this.height);
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    this.drawAxis();
    for (const line of this.lines) {
      if (line.group) this.drawGroup(line);
      else this.drawRow(line);
    }
    this.drawMark();
    const span = formatTime(this.to - this.from);
    const from = formatAxis(this.from - this.first, (this.to - this.from) / 1000);
    this.viewText.textContent = `${from} + ${span}`;
  }

  drawAxis() {
    const context = this.context;
    const wanted = ((this.to - this.from) / Math.max(1, this.width - LABEL_WIDTH)) * 110;
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= wanted);
    const origin = this.first;
    context.strokeStyle = this.style("--line");
    context.fillStyle = this.style("--soft");
    for (let n = Math.ceil((this.from - origin) / step); origin + n * step <= this.to; n++) {
      const x = Math.round(this.x(origin + n * step)) + 0.5;
      context.beginPath();
      context.moveTo(x, AXIS_HEIGHT - 4);
      context.lineTo(x, this.height);
      context.stroke();
      const label = formatAxis(n * step, step);
      if (x + 3 + context.measureText(label).width <= this.width) {
        context.fillText(label, x + 3, AXIS_HEIGHT / 2);
      }
    }
  }

  drawGroup(line) {
    this.context.fillStyle = this.style("--raised");
    this.context.fillRect(0, line.y, this.width, GROUP_HEIGHT);
    this.context.fillStyle = this.style("--ink");
    this.context.font = "600 12px system-ui, sans-serif";
    const { kernel, isOpen, title } = line.group;
    const text = kernel ? `${isOpen ? "\u25BE" : "\u25B8"} ${title}` : title;
    this.context.fillText(text, 10, line.y + GROUP_HEIGHT / 2);
    this.context.font = "12px system-ui, sans-serif";
  }

  // Blocks narrower than a pixel are gathered: the fainter the pixel, the less of it they cover.
  drawRow(line) {
    const { context } = this;
    const { row, y } = line;
    const ink = this.style("--block-ink");
    let pixel = -1;
    let covered = 0;
    let longest = 0;
    let text = 0;
    const paint = (left, width, name, share) => {
      const isDimmed = this.found && !this.found.has(name);
      context.globalAlpha = isDimmed ? 0.12 : MIN_ALPHA + (1 - MIN_ALPHA) * Math.min(share, 1);
      context.fillStyle = this.color(name);
      context.fillRect(left, y, width, ROW_HEIGHT);
    };
    const finishPixel = () => {
      if (pixel >= LABEL_WIDTH) paint(pixel, 1, text, covered);
      pixel = -1;
      covered = 0;
      longest = 0;
    };
    for (let i = firstAfter(row, this.from); i < row.start.length; i++) {
      if (row.start[i] >= this.to) break;
      const left = Math.max(this.x(row.start[i]), LABEL_WIDTH);
      const right = Math.min(this.x(row.end[i]), this.width);
      const share = row.busy ? row.busy[i] / (row.end[i] - row.start[i]) : 1;
      if (right - left < 1) {
        const column = Math.floor(left);
        if (column !== pixel) finishPixel();
        pixel = column;
        covered += (right - left) * share;
        if (right - left >= longest) {
          longest = right - left;
          text = row.text[i];
        }
        continue;
      }
      finishPixel();
      paint(left, right - left - (right - left > 3 ? 0.5 : 0), row.text[i], share);
      context.globalAlpha = 1;
      if (right - left >= MIN_TEXT_WIDTH) this.drawText(this.label(row, i), left, right, y, ink);
    }
    finishPixel();
    context.globalAlpha = 1;
    if (line.name) {
      context.fillStyle = this.style("--raised");
      context.fillRect(0, y, LABEL_WIDTH, ROW_HEIGHT);
      this.drawText(line.name, 10, LABEL_WIDTH, y, this.style("--soft"));
    }
  }

  drawText(text, left, right, y, ink) {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(left, y, right - left - 4, ROW_HEIGHT);
    context.clip();
    context.fillStyle = ink;
    context.fillText(text, left + 4, y + ROW_HEIGHT / 2 + 0.5);
    context.restore();
  }

  label(row, i) {
    const [label] = this.texts[row.text[i]];
    const count = row.count ? row.count[i] : 1;
    return count > 1 ? `${count.toLocaleString("en")} × ${label} …` : label;
  }

  // The group whose heading is at a place of the window, where it can be opened.
  headingAt(clientY) {
    const y = clientY - this.canvas.getBoundingClientRect().top;
    const line = this.lines.find((l) => l.group && y >= l.y && y < l.y + GROUP_HEIGHT);
    return line?.group.kernel ? line.group : null;
  }

  // The block at a place of the window.
  at(clientX, clientY) {
    const box = this.canvas.getBoundingClientRect();
    const x = clientX - box.left;
    const y = clientY - box.top;
    if (x < LABEL_WIDTH) return null;
    const line = this.lines.find((l) => l.row && y >= l.y && y < l.y + ROW_HEIGHT);
    if (!line) return null;
    const reach = ((this.to - this.from) / this.width) * 2; // two pixels
    const i = firstAfter(line.row, this.time(x) - reach);
    if (i >= line.row.start.length || line.row.start[i] > this.time(x) + reach) return null;
    return { row: line.row, i };
  }

  showTip(event) {
    const hit = this.at(event.clientX, event.clientY);
    this.tip.hidden = !hit;
    if (!hit) return;
    const { row, i } = hit;
    const [label, whole] = this.texts[row.text[i]];
    const count = row.count ? row.count[i] : 1;
    const lines = [["strong", count > 1 ? `${count.toLocaleString("en")} events` : label]];
    if (count > 1) lines.push(["", `longest: ${label}`]);
    const span = row.end[i] - row.start[i];
    lines.push(["", `${formatTime(span)} at ${formatTime(row.start[i] - this.first)}`]);
    if (count > 1) lines.push(["", `busy ${formatTime(row.busy[i])}`]);
    if (whole) lines.push(["soft", whole]);
    if (this.insideOf(row, i).length > 0) {
      lines.push(["soft", "Double click: what its warps did"]);
    }
    this.tip.replaceChildren(
      ...lines.map(([kind, text]) => {
        const div = document.createElement("div");
        div.className = kind;
        div.textContent = text;
        return div;
      }),
    );
    const x = Math.min(event.clientX + 14, innerWidth - this.tip.offsetWidth - 8);
    const y = Math.min(event.clientY + 16, innerHeight - this.tip.offsetHeight - 8);
    this.tip.style.left = `${Math.max(x, 4)}px`;
    this.tip.style.top = `${Math.max(y, 4)}px`;
  }

  search(words) {
    const wanted = words.trim().toLowerCase();
    this.found = null;
    if (wanted) {
      this.found = new Set();
      this.texts.forEach(([label, whole], i) => {
        if (`${label} ${whole || ""}`.toLowerCase().includes(wanted)) this.found.add(i);
      });
    }
    this.draw();
  }

  listen(root) {
    const canvas = this.canvas;
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey && !event.shiftKey && event.deltaX === 0) return;
        event.preventDefault();
        const span = this.to - this.from;
        if (event.ctrlKey || event.metaKey) {
          const x = event.clientX - canvas.getBoundingClientRect().left;
          this.zoom(Math.exp(event.deltaY / 300), this.time(x));
        } else {
          const move = ((event.deltaX || event.deltaY) / this.width) * span;
          this.setView(this.from + move, this.to + move);
        }
      },
      { passive: false },
    );
    let drag = null;
    let pressedAt = 0;
    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.clientX, from: this.from, to: this.to };
      pressedAt = event.clientX;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      canvas.style.cursor = !drag && this.headingAt(event.clientY) ? "pointer" : "";
      if (!drag) return this.showTip(event);
      const move = ((event.clientX - drag.x) / (this.width - LABEL_WIDTH)) * (drag.to - drag.from);
      this.tip.hidden = true;
      this.setView(drag.from - move, drag.to - move);
    });
    canvas.addEventListener("pointerup", () => (drag = null));
    canvas.addEventListener("pointercancel", () => (drag = null));
    canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    canvas.addEventListener("click", (event) => {
      const group = this.headingAt(event.clientY);
      const isDrag = Math.abs(event.clientX - pressedAt) > 3;
      if (group && !isDrag) this.toggle([group]);
    });
    canvas.addEventListener("dblclick", (event) => {
      if (this.headingAt(event.clientY)) return;
      const hit = this.at(event.clientX, event.clientY);
      if (!hit) return this.setView(this.first, this.last);
      const { row, i } = hit;
      this.setOpen(this.insideOf(row, i), true);
      const margin = (row.end[i] - row.start[i]) * 0.2;
      this.setView(row.start[i] - margin, row.end[i] + margin);
    });
    canvas.addEventListener("keydown", (event) => {
      const span = this.to - this.from;
      const middle = (this.from + this.to) / 2;
      const steps = {
        ArrowLeft: () => this.setView(this.from - span / 5, this.to - span / 5),
        ArrowRight: () => this.setView(this.from + span / 5, this.to + span / 5),
        "+": () => this.zoom(0.7, middle),
        "-": () => this.zoom(1 / 0.7, middle),
        0: () => this.setView(this.first, this.last),
      };
      if (!steps[event.key]) return;
      event.preventDefault();
      steps[event.key]();
    });
    const middle = () => (this.from + this.to) / 2;
    root.querySelector("#in").addEventListener("click", () => this.zoom(0.5, middle()));
    root.querySelector("#out").addEventListener("click", () => this.zoom(2, middle()));
    root.querySelector("#all").addEventListener("click", () => this.setView(this.first, this.last));
    this.insideButton.addEventListener("click", () => this.toggle(this.insideGroups()));
    root.querySelector("#find").addEventListener("input", (e) => this.search(e.target.value));
  }
}

// What a cell of a table says, as a number where it is one: "12.34 ms", "1,024", "1.5 GiB", "12%".
const UNITS = {
  ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600,
  B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40,
  k: 1e3, M: 1e6, G: 1e9,
};
function valueOf(cell) {
  const match = /^(-?[\d,]*\.?\d+)\s*([A-Za-z]*)/.exec(cell.textContent.trim());
  if (!match) return cell.textContent;
  return Number(match[1].replaceAll(",", "")) * (UNITS[match[2]] || 1);
}

function sortTable(table, column) {
  const headings = [...table.tHead.rows[0].cells];
  const isUp = headings[column].getAttribute("aria-sort") === "descending";
  headings.forEach((cell) => cell.removeAttribute("aria-sort"));
  headings[column].setAttribute("aria-sort", isUp ? "ascending" : "descending");
  const compare = (a, b) => {
    const [x, y] = [valueOf(a.cells[column]), valueOf(b.cells[column])];
    if (typeof x === "number" && typeof y === "number") return x - y;
    return String(x).localeCompare(String(y), "en", { numeric: true });
  };
  const rows = [...table.tBodies[0].rows].sort((a, b) => (isUp ? compare(a, b) : compare(b, a)));
  table.tBodies[0].append(...rows);
}

// Not those whose order says something itself, like a tree's.
document.querySelectorAll("table.sortable").forEach((table) => {
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    cell.addEventListener("click", () => sortTable(table, column));
  });
});

const picture = document.getElementById("picture");
if (picture) {
  const timeline = new Timeline(
    document.getElementById("timeline"),
    JSON.parse(picture.textContent),
  );
  timeline.resize();
  document.querySelectorAll("a.moment").forEach((link) => {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      timeline.mark(Number(link.dataset.from), Number(link.dataset.to));
      document.getElementById("timeline").scrollIntoView({ block: "center" });
    });
  });
  document.documentElement.dataset.ready = Math.round(performance.now());
}
