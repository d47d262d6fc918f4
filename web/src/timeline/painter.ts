// SPDX-License-Identifier: Apache-2.0
// Puts lists of things to draw on a canvas.
import type { Arrow, DrawList, Frame, Line, PixelRow, Rects, Text } from "./draw_list";
import type { FrameLists } from "./draw_frame";
import { INK, type Palette } from "./palette";
import { shortened } from "./shorten";

const HATCH_PX = 6;

export class Painter {
  palette: Palette;
  scale = 1;
  private readonly context: CanvasRenderingContext2D;
  private picture: ImageData | null = null;
  private words: Uint32Array = new Uint32Array(0);
  private readonly heights = new Uint16Array(16_384);
  private readonly widths = new Map<string, number>();
  private readonly texts = new Map<string, string>();

  constructor(canvas: HTMLCanvasElement, palette: Palette) {
    this.palette = palette;
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("this browser has no canvas");
    this.context = context;
  }

  paint({ scrolled, pinned, top }: FrameLists): void {
    this.paintList(scrolled);
    if (pinned.area.h > 0) this.paintList(pinned);
    this.paintList(top);
  }

  // Kept, because measuring takes longer than drawing.
  widthOf(text: string, size: number): number {
    const key = `${size} ${text}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      if (this.widths.size > 20_000) this.widths.clear();
      this.context.font = `${size}px ${this.palette.font}`;
      width = this.context.measureText(text).width;
      this.widths.set(key, width);
    }
    return width;
  }

  shorten = (text: string, width: number, size: number): string => {
    if (this.widthOf(text, size) <= width) return text;
    const room = Math.floor(width);
    const key = `${size} ${room} ${text}`;
    let short = this.texts.get(key);
    if (short === undefined) {
      if (this.texts.size > 20_000) this.texts.clear();
      short = shortened(text, room, (part) => this.widthOf(part, size), size);
      this.texts.set(key, short);
    }
    return short;
  };

  private paintList(list: DrawList): void {
    const { context, palette } = this;
    const { x, y, w, h, color } = list.area;
    context.fillStyle = palette.css[color]!;
    context.fillRect(x, y, w, h);
    this.paintRects(list.ground);
    for (const row of list.pixelRows) this.paintPixels(row);
    this.paintRects(list.rects);
    for (const hatch of list.hatches) this.paintHatch(hatch);
    for (const line of list.lines) this.paintLine(line);
    this.paintTexts(list.texts);
    for (const shade of list.shades) {
      context.fillStyle = palette.css[shade.color]!;
      context.fillRect(shade.x, shade.y, shade.w, shade.h);
    }
    for (const { x, y, w, h, color } of list.outlines) {
      const thick = Math.max(1, Math.round(1.5 * this.scale));
      context.strokeStyle = palette.css[color]!;
      context.lineWidth = thick;
      context.strokeRect(x - thick / 2, y - thick / 2, w + thick, h + thick);
    }
    for (const arrow of list.arrows) this.paintArrow(arrow);
  }

  // One colour after the other: changing it costs more than looking.
  private paintRects({ count, x, y, w, h, color }: Rects): void {
    const { context, palette } = this;
    // There are fewer than 32 colours.
    let present = 0;
    for (let i = 0; i < count; ++i) present |= 1 << color[i]!;
    for (let ink = 0; ink < palette.css.length; ++ink) {
      if ((present & (1 << ink)) === 0) continue;
      context.fillStyle = palette.css[ink]!;
      for (let i = 0; i < count; ++i) {
        if (color[i] === ink) context.fillRect(x[i]!, y[i]!, w[i]!, h[i]!);
      }
    }
  }

  private paintPixels({ x, y, width, height, level, color, ground }: PixelRow): void {
    if (!this.picture || this.picture.width !== width || this.picture.height < height) {
      this.picture = this.context.createImageData(width, Math.max(height, 32));
      this.words = new Uint32Array(this.picture.data.buffer);
    }
    const { words, heights } = this;
    const { pixel } = this.palette;
    for (let i = 0; i < width; ++i) heights[i] = Math.ceil((level[i]! * height) / 255);
    const empty = pixel[ground]!;
    for (let line = 0, at = 0; line < height; ++line) {
      const least = height - line;
      for (let i = 0; i < width; ++i, ++at) {
        words[at] = heights[i]! >= least ? pixel[color[i]!]! : empty;
      }
    }
    this.context.putImageData(this.picture, x, y, 0, 0, width, height);
  }

  private paintHatch({ x, y, w, h, color }: Frame): void {
    const { context, palette } = this;
    const step = HATCH_PX * this.scale;
    context.save();
    context.beginPath();
    context.rect(x, y, w, h);
    context.clip();
    context.fillStyle = palette.css[INK.panel]!;
    context.fillRect(x, y, w, h);
    context.strokeStyle = palette.css[color]!;
    context.lineWidth = this.scale;
    context.beginPath();
    for (let at = x - (x % step) - h; at < x + w; at += step) {
      context.moveTo(at, y + h);
      context.lineTo(at + h, y);
    }
    context.stroke();
    context.restore();
  }

  private paintLine({ points, color, width, base }: Line): void {
    const { context, palette } = this;
    context.beginPath();
    context.moveTo(points[0]!, points[1]!);
    for (let i = 2; i < points.length; i += 2) context.lineTo(points[i]!, points[i + 1]!);
    context.strokeStyle = palette.css[color]!;
    context.lineWidth = width;
    context.lineJoin = "round";
    context.stroke();
    if (base === null) return;
    context.lineTo(points[points.length - 2]!, base);
    context.lineTo(points[0]!, base);
    context.globalAlpha = 0.1;
    context.fillStyle = palette.css[color]!;
    context.fill();
    context.globalAlpha = 1;
  }

  private paintTexts(texts: readonly Text[]): void {
    const { context, palette } = this;
    context.textBaseline = "middle";
    let font = "";
    let ink = -1;
    for (const { x, y, text, color, size, isBold } of texts) {
      const wanted = `${isBold ? "600 " : ""}${size}px ${palette.font}`;
      if (wanted !== font) {
        font = wanted;
        context.font = font;
      }
      if (color !== ink) {
        ink = color;
        context.fillStyle = palette.css[ink]!;
      }
      context.fillText(text, x, y);
    }
  }

  private paintArrow({ fromX, fromY, toX, toY }: Arrow): void {
    const { context, scale } = this;
    const bend = Math.max(Math.abs(toY - fromY) * 0.5, 16 * scale);
    const way = toY < fromY ? -1 : 1;
    context.strokeStyle = context.fillStyle = this.palette.css[INK.accent]!;
    context.lineWidth = 1.5 * scale;
    context.beginPath();
    context.moveTo(fromX, fromY);
    context.bezierCurveTo(fromX, fromY + way * bend, toX, toY - way * bend, toX, toY);
    context.stroke();
    const head = 5 * scale;
    context.beginPath();
    context.moveTo(toX, toY);
    context.lineTo(toX - head * 0.7, toY - way * head);
    context.lineTo(toX + head * 0.7, toY - way * head);
    context.fill();
  }
}
