// SPDX-License-Identifier: Apache-2.0
// What a frame shows, as plain data: it is made without a canvas, and put on one afterwards. All in
// pixels of the device; colours are numbers of the palette. Buffers are used again for each frame.

export class Rects {
  count = 0;
  x = new Float32Array(1024);
  y = new Float32Array(1024);
  w = new Float32Array(1024);
  h = new Float32Array(1024);
  color = new Uint8Array(1024);

  add(x: number, y: number, w: number, h: number, color: number): void {
    if (this.count === this.x.length) this.grow();
    const i = this.count++;
    this.x[i] = x;
    this.y[i] = y;
    this.w[i] = w;
    this.h[i] = h;
    this.color[i] = color;
  }

  private grow(): void {
    const size = this.x.length * 2;
    const larger = (old: Float32Array): Float32Array<ArrayBuffer> => {
      const buffer = new Float32Array(size);
      buffer.set(old);
      return buffer;
    };
    this.x = larger(this.x);
    this.y = larger(this.y);
    this.w = larger(this.w);
    this.h = larger(this.h);
    const color = new Uint8Array(size);
    color.set(this.color);
    this.color = color;
  }
}

// For each pixel from the left how high it is filled, of 255, and with what.
export interface PixelRow {
  x: number;
  y: number;
  width: number;
  height: number;
  level: Uint8Array;
  color: Uint8Array;
  ground: number;
}

export interface Text {
  x: number;
  y: number;
  text: string;
  color: number;
  size: number;
  isBold: boolean;
}

export interface Line {
  // x and y in turn.
  points: number[];
  color: number;
  width: number;
  // Down to this height it is filled, faintly; null: it is not.
  base: number | null;
}

// From one event to another, with a head at its end.
export interface Arrow {
  fromX: number;
  fromY: number;
  toX: number;
  toY: number;
}

export interface Frame {
  x: number;
  y: number;
  w: number;
  h: number;
  color: number;
}

export class DrawList {
  // Everything is inside; it is cleared first.
  area = { x: 0, y: 0, w: 0, h: 0, color: 0 };
  readonly ground = new Rects();
  readonly rects = new Rects();
  readonly texts: Text[] = [];
  readonly lines: Line[] = [];
  // Of what nothing is known.
  readonly hatches: Frame[] = [];
  readonly shades: Frame[] = [];
  readonly outlines: Frame[] = [];
  readonly arrows: Arrow[] = [];
  private readonly pool: PixelRow[] = [];
  private used = 0;

  get pixelRows(): readonly PixelRow[] {
    return this.pool.slice(0, this.used);
  }

  clear(x: number, y: number, w: number, h: number, color: number): void {
    this.area = { x, y, w, h, color };
    this.ground.count = 0;
    this.rects.count = 0;
    this.used = 0;
    const { texts, lines, hatches, shades, outlines, arrows } = this;
    for (const list of [texts, lines, hatches, shades, outlines, arrows]) list.length = 0;
  }

  // A row of nothing yet.
  addPixelRow(x: number, y: number, width: number, height: number, ground: number): PixelRow {
    let row = this.pool[this.used];
    if (!row || row.level.length < width) {
      const level = new Uint8Array(width);
      row = { x, y, width, height, level, color: new Uint8Array(width), ground };
      this.pool[this.used] = row;
    } else {
      Object.assign(row, { x, y, width, height, ground });
      row.level.fill(0, 0, width);
    }
    ++this.used;
    return row;
  }
}
