// What lies over the picture of the world: bars, veils, screens, the cursor. The server says what there is to see, as a list of
// operations in GUI pixels (blockworld/render/display.py has the table); this paints it on a canvas over the picture.

/** @typedef {(string | number | number[])[]} Operation a name and what the table says */
/** @typedef {{pixels: Uint8ClampedArray<ArrayBuffer>, width: number, height: number, scale: number}} Sprite RGBA, and its pixels per GUI pixel */

/**
 * A picture of the player, who stands like this, with nothing around: width and height in device pixels.
 * @typedef {(pose: number[], width: number, height: number) => ImageData} Portraits
 */

/** GUI pixels of the window with the player's portrait. */
const PORTRAIT = [49, 70];

/** Bars and screens are so many pixels of their own wide, whatever the picture has. */
const GUI_WIDTH = 320;

/**
 * GUI pixels that a picture of this shape has room for.
 * @param {number} width
 * @param {number} height
 * @param {number} scale how large bars and screens are
 * @returns {[number, number]}
 */
export function guiSize(width, height, scale) {
  const wide = Math.round(GUI_WIDTH / scale);
  return [wide, Math.round((wide * height) / width)];
}

/** Device pixels per GUI pixel in a canvas that has room for so many GUI pixels. */
export function scaleOf(/** @type {number} */ width, /** @type {number} */ height, /** @type {number} */ guiWidth, /** @type {number} */ guiHeight) {
  return Math.max(1, Math.min(Math.floor(width / guiWidth), Math.floor(height / guiHeight)));
}

/**
 * A sprite at another scale. Where that is smaller a pixel is the mean of those it covers, and is there if most of them are.
 * @param {Sprite} sprite
 * @param {number} scale
 * @returns {Sprite}
 */
export function rescaled({ pixels, width, height, scale: from }, scale) {
  const [wide, tall] = [(width * scale) / from, (height * scale) / from];
  const made = new Uint8ClampedArray(wide * tall * 4);
  const starts = (/** @type {number} */ side) => Array.from({ length: side + 1 }, (_, at) => Math.round((at * from) / scale));
  const [columns, rows] = [starts(wide), starts(tall)];
  for (let j = 0; j < tall; j++) {
    for (let i = 0; i < wide; i++) {
      const [left, right] = [Math.min(columns[i], width - 1), Math.max(columns[i] + 1, columns[i + 1])];
      const [top, bottom] = [Math.min(rows[j], height - 1), Math.max(rows[j] + 1, rows[j + 1])];
      const sum = [0, 0, 0];
      let there = 0;
      for (let y = top; y < Math.min(bottom, height); y++) {
        for (let x = left; x < Math.min(right, width); x++) {
          const at = (y * width + x) * 4;
          if (!pixels[at + 3]) continue;
          there++;
          for (let part = 0; part < 3; part++) sum[part] += pixels[at + part];
        }
      }
      if (there * 2 >= (right - left) * (bottom - top)) made.set([...sum.map((value) => value / there), 255], (j * wide + i) * 4);
    }
  }
  return { pixels: made, width: wide, height: tall, scale };
}

export class Display {
  /**
   * @param {CanvasRenderingContext2D} context of a canvas that lies exactly over the picture; the parent of both is positioned
   * @param {Portraits | null} [portraits]
   */
  constructor(context, portraits = null) {
    this.context = context;
    this.portraits = portraits;
    /** @type {Operation[]} */
    this.operations = [];
    this.gui = [320, 180];
    /** GUI pixels from where the operations have the cursor to where the mouse has it by now. */
    this.shift = [0, 0];
    this.isPainted = false;
    this.inverts = true;
    /** Where something is painted: left, top, right, bottom in device pixels. */
    this.painted = [0, 0, 0, 0];
    /** @type {Map<string, Sprite>} */
    this.sprites = new Map();
    /** @type {Map<string, HTMLCanvasElement>} key and scale -> ready to be drawn */
    this.ready = new Map();
    /**
     * Where what is under it is to be inverted, which a canvas of its own cannot: x, y, width and height as shares of the canvas.
     * None where the cross is painted here.
     * @type {number[][]}
     */
    this.crosshair = [];
  }

  /**
   * Take sprites that operations will name.
   * @param {[key: string, width: number, height: number, scale: number][]} rows
   * @param {Uint8Array<ArrayBuffer>} bytes RGBA of one after another
   */
  define(rows, bytes) {
    const needed = rows.reduce((sum, [, width, height]) => sum + width * height * 4, 0);
    if (needed !== bytes.length) throw new RangeError(`${rows.length} sprites have ${needed} bytes, got ${bytes.length}`);
    let at = 0;
    for (const [key, width, height, scale] of rows) {
      const pixels = new Uint8ClampedArray(bytes.slice(at, (at += width * height * 4)).buffer);
      this.sprites.set(key, { pixels, width, height, scale });
    }
    this.isPainted = false;
  }

  /**
   * Say what there is to see from now on.
   * @param {Operation[]} operations
   * @param {number} guiWidth GUI pixels for which the canvas has to have room
   * @param {number} guiHeight
   */
  show(operations, guiWidth, guiHeight) {
    this.operations = operations;
    this.gui = [guiWidth, guiHeight];
    this.isPainted = false;
  }

  /**
   * The cursor has moved on.
   * @param {number} x GUI pixels from where the operations have it
   * @param {number} y
   */
  moveCursor(x, y) {
    if (x === this.shift[0] && y === this.shift[1]) return;
    this.shift = [x, y];
    this.isPainted = false;
  }

  /**
   * Paint it, if anything has changed.
   * @param {number} width device pixels of the canvas
   * @param {number} height
   * @param {boolean} [inverts] whether the picture under it has as many pixels, so that a cross which inverts it is as sharp
   */
  draw(width, height, inverts = true) {
    const { context } = this;
    const { canvas } = context;
    if (this.isPainted && canvas.width === width && canvas.height === height && this.inverts === inverts) return;
    this.inverts = inverts;
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    this.isPainted = true;
    context.clearRect(0, 0, width, height);
    this.painted = [width, height, 0, 0];
    context.imageSmoothingEnabled = false;
    this.crosshair = [];
    let g = scaleOf(width, height, this.gui[0], this.gui[1]);
    let [left, top] = [0, 0];
    /** @param {string} colour @param {number[]} rectangle GUI pixels */
    const fill = (colour, [x, y, wide, tall]) => {
      context.fillStyle = colour;
      context.fillRect(left + x * g, top + y * g, wide * g, tall * g);
      this.#mark(left + x * g, top + y * g, wide * g, tall * g);
    };
    for (const [name, ...values] of this.operations) {
      const key = String(values[0]);
      const [x = 0, y = 0, wide = 0, tall = 0, ...rest] = values.filter((value) => typeof value === "number");
      switch (name) {
        case "sprite":
          // The middle of a line may be half a pixel
          this.#put(key, g, left + Math.ceil(x * g), top + y * g);
          break;
        case "fill":
          fill(`rgb(${rest})`, [x, y, wide, tall]);
          break;
        case "lighten":
          fill("rgb(255 255 255 / 33.3%)", [x, y, wide, tall]);
          break;
        case "veil":
          context.fillStyle = `rgb(${x} ${y} ${wide} / ${tall / 256})`;
          context.fillRect(0, 0, width, height);
          this.#mark(0, 0, width, height);
          break;
        case "flames":
          this.#mark(0, 0, width, height);
          this.#flames(x, width, height);
          break;
        case "crosshair":
          if (inverts) this.#invert(cross(width >> 1, height >> 1, g), width, height);
          else this.#outlined(cross(width >> 1, height >> 1, g));
          break;
        case "title": {
          const across = ((this.sprites.get(key)?.width ?? 1) - 1) * 2 * g;
          this.#put(key, 2 * g, (width - across) >> 1, Math.floor(height / 3));
          break;
        }
        case "bars":
          [left, top] = [width >> 1, height];
          break;
        case "panel": {
          const sprite = this.sprites.get(key);
          if (!sprite) break;
          g = Math.min(g, scaleOf(width, height, sprite.width, sprite.height));
          [left, top] = [(width - sprite.width * g) >> 1, (height - sprite.height * g) >> 1];
          this.#put(key, g, left, top);
          break;
        }
        case "portrait":
          fill("rgb(54 48 50)", [x, y, ...PORTRAIT]);
          this.#portrait(/** @type {number[]} */ (values[2]), left + x * g, top + y * g, g);
          break;
        case "cursor":
          [left, top] = [left + Math.floor((x + this.shift[0]) * g), top + Math.floor((y + this.shift[1]) * g)];
          [left, top] = [Math.min(width - 1, Math.max(0, left)), Math.min(height - 1, Math.max(0, top))];
          break;
        case "tooltip":
          this.#tooltip(key, left + x * g, top + y * g, g);
          break;
        case "pointer":
          this.#put("pointer", Math.max(1, g - 1), left, top);
      }
    }
    this.#clip(width, height);
  }

  /** Something is painted here. @param {number} x device pixels @param {number} y @param {number} wide @param {number} tall */
  #mark(x, y, wide, tall) {
    const [left, top, right, bottom] = this.painted;
    this.painted = [Math.min(left, x), Math.min(top, y), Math.max(right, x + wide), Math.max(bottom, y + tall)];
  }

  /**
   * Show nothing but what is painted: without a graphics card each transparent pixel costs the browser as much as another, with every
   * picture of the world. `clip` is a plain rectangle to it; `clip-path` would be a mask, which costs more than it saves.
   * @param {number} width of the canvas
   * @param {number} height
   */
  #clip(width, height) {
    const { canvas } = this.context, { devicePixelRatio: ratio } = canvas.ownerDocument.defaultView ?? { devicePixelRatio: 1 };
    const [left, top, right, bottom] = this.painted, isWhole = left <= 0 && top <= 0 && right >= width && bottom >= height;
    // A pixel more on each side: the canvas has a whole number of pixels and may be stretched by a part of one.
    const sides = [Math.floor(top / ratio) - 1, Math.ceil(right / ratio) + 1, Math.ceil(bottom / ratio) + 1, Math.floor(left / ratio) - 1];
    canvas.style.clip = isWhole ? "auto" : right <= left ? "rect(0px, 0px, 0px, 0px)" : `rect(${sides.map((side) => `${side}px`).join(", ")})`;
  }

  /** @param {string} key @param {number} scale @param {number} x device pixels @param {number} y */
  #put(key, scale, x, y) {
    const sprite = this.sprites.get(key);
    if (!sprite) return;
    const times = sprite.scale === 1 ? scale : 1;
    const name = sprite.scale === 1 ? key : `${scale}:${key}`;
    let ready = this.ready.get(name);
    if (!ready) {
      const { pixels, width, height } = sprite.scale === 1 ? sprite : rescaled(sprite, scale);
      ready = this.context.canvas.ownerDocument.createElement("canvas");
      [ready.width, ready.height] = [width, height];
      ready.getContext("2d")?.putImageData(new ImageData(pixels, width, height), 0, 0);
      this.ready.set(name, ready);
    }
    this.context.drawImage(ready, x, y, ready.width * times, ready.height * times);
    this.#mark(x, y, ready.width * times, ready.height * times);
  }

  /** @param {number[]} pose @param {number} x device pixels @param {number} y @param {number} g */
  #portrait(pose, x, y, g) {
    const picture = this.portraits?.(pose, PORTRAIT[0] * g, PORTRAIT[1] * g);
    if (!picture) return;
    const canvas = this.context.canvas.ownerDocument.createElement("canvas");
    [canvas.width, canvas.height] = [picture.width, picture.height];
    canvas.getContext("2d")?.putImageData(picture, 0, 0);
    this.context.drawImage(canvas, x, y);
  }

  /** A line of text in a dark frame, within the canvas. @param {string} key @param {number} x @param {number} y @param {number} g */
  #tooltip(key, x, y, g) {
    const { context } = this;
    const sprite = this.sprites.get(key);
    if (!sprite) return;
    const [width, height] = [(sprite.width + 5) * g, (sprite.height + 4) * g];
    const [left, top] = [Math.min(x, context.canvas.width - width - 2 * g), Math.max(2 * g, y)];
    context.fillStyle = "rgb(28 22 20 / 91.7%)";
    context.fillRect(left, top, width, height);
    context.strokeStyle = "rgb(150 112 58)";
    context.lineWidth = g;
    this.#mark(left, top, width, height);
    context.strokeRect(left + g / 2, top + g / 2, width - g, height - g);
    this.#put(key, g, left + 3 * g, top + 2 * g);
  }

  /** Fire from the lower edge, as high in every window. @param {number} ticks @param {number} width @param {number} height */
  #flames(ticks, width, height) {
    const { context } = this;
    const unit = Math.max(1, Math.round(height / 360));
    for (let column = 0; column * 8 * unit < width; column++) {
      const slow = Math.sin(column * 0.4 + ticks * 0.7);
      const quick = Math.sin(column * 1.04 - 1.19 * ticks);
      const top = Math.floor(height * (0.84 - 0.07 * slow - 0.05 * quick));
      for (const [colour, from] of /** @type {[string, number][]} */ ([
        ["rgb(250 130 26 / 60%)", top],
        ["rgb(255 220 90 / 50%)", top + ((height - top) >> 1)],
      ])) {
        context.fillStyle = colour;
        context.fillRect(column * 8 * unit, from, 8 * unit, height - from);
      }
    }
  }

  /** Veils and flames that are painted already are inverted here, the picture under them by whoever has it.
   * @param {number[][]} bars @param {number} width of the canvas @param {number} height */
  #invert(bars, width, height) {
    this.crosshair = bars.map(([x, y, wide, tall]) => [x / width, y / height, wide / width, tall / height]);
    if (this.operations[0][0] === "crosshair") return; // nothing is painted
    for (const [x, y, wide, tall] of bars) {
      const bar = this.context.getImageData(x, y, wide, tall);
      bar.data.forEach((value, i) => i % 4 < 3 && (bar.data[i] = 255 - value));
      this.context.putImageData(bar, x, y);
    }
  }

  /** White with a dark edge, which is seen over everything, too. @param {number[][]} bars */
  #outlined(bars) {
    const { context } = this;
    for (const [colour, edge] of /** @type {[string, number][]} */ ([["rgb(0 0 0 / 45%)", 1], ["white", 0]])) {
      context.fillStyle = colour;
      context.beginPath(); // as one shape: where edges meet they are no darker
      for (const [x, y, wide, tall] of bars) {
        context.rect(x - edge, y - edge, wide + 2 * edge, tall + 2 * edge);
        this.#mark(x - edge, y - edge, wide + 2 * edge, tall + 2 * edge);
      }
      context.fill();
    }
  }
}

/**
 * The three bars of a cross; none lies over another.
 * @param {number} x of its middle
 * @param {number} y
 * @param {number} g a pixel of it
 */
function cross(x, y, g) {
  return [[x - 4 * g, y, 9 * g, g], [x, y - 4 * g, g, 4 * g], [x, y + g, g, 4 * g]];
}
