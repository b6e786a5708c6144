// Plots: Observable Plot draws what stands as JSON in `[data-plot]`. The same numbers stand below it as a table or as words.

import { need } from "./page.js";
import { clock } from "./timeline.js";

/** A column's name and the unit of its values. @typedef {[string, string]} Column */
/** A value for each column. @typedef {any[]} Row */

/**
 * @typedef {object} PlotData
 * @property {string} kind which of `KINDS` draws it
 * @property {Column[]} columns
 * @property {Row[]} rows
 * @property {{name: string, hue: number}[]} [series] what the number in the first column stands for
 * @property {number} [target] a value to compare with
 * @property {number} [end] where the x axis ends
 * @property {number | null} [own] the reader's own value
 * @property {{name: string, value: number}[]} [marks] other values to compare with
 */

const LIBRARIES = ["/static/vendor/d3/d3.min.js", "/static/vendor/plot/plot.umd.min.js"];
const NUM_HUES = 10;
const MAX_DOTS = 60;
/** Seconds between the marks of an axis of durations. */
const CLOCK_STEPS = [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600];
/** With more lines than this, intervals would cover each other: each shows when its line is pointed at. */
const MAX_BANDS = 6;
/** After so many answers an interval fits the plot; before, it is so wide that the lines would look flat. */
const WIDE_ROWS = 10;

/** @type {any} */
let Plot;

/**
 * A value as the axes and the tips write it.
 * @param {any} value
 * @param {string} unit
 */
export function readable(value, unit) {
  if (value instanceof Date) return value.toISOString().slice(0, 10);
  if (typeof value !== "number") return String(value ?? "–");
  if (unit === "share") return `${Math.round(100 * value)} %`;
  if (unit === "clock") return clock(value);
  const digits = Math.abs(value) < 100 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 0 };
  return value.toLocaleString("en", digits) + (unit === "hours" ? " h" : "");
}

/**
 * A row in words, for who points at it.
 * @param {PlotData} data
 * @param {Row} row
 */
export function told({ columns, series }, row) {
  return columns.map(([name, unit], place) => `${name}: ${series && place === 0 ? series[row[0]].name : readable(row[place], unit)}`).join("\n");
}

/** The text of a tip. @param {PlotData} data */
const telling = (data) => (/** @type {Row} */ row) => told(data, row);

/**
 * Channels of a band around a value: from below to above it.
 * @param {number} value place of its column
 * @param {number} around place of the column of its distance to both ends
 */
const band = (value, around) => ({ y1: (/** @type {Row} */ row) => row[value] - row[around], y2: (/** @type {Row} */ row) => row[value] + row[around] });

/** @param {number} number of a hue */
const colour = (number) => `var(--hue-${number % NUM_HUES})`;

/** The colour of a row's series. @param {{hue: number}[]} series */
const ofSeries = (series) => (/** @type {Row} */ row) => colour(series[row[0]].hue);

/**
 * Options of an axis.
 * @param {Column} column
 */
const axis = ([label, unit]) => ({ label, ...(unit && unit !== "date" ? { tickFormat: (/** @type {number} */ value) => readable(value, unit) } : {}) });

/** Several lines, the first unbroken, so that they differ without colours too. @param {PlotData} data */
function lines(data) {
  const { columns, rows, series = [], target } = data;
  const place = { x: "1", y: "2" };
  return {
    x: { ...axis(columns[1]), ...(columns[1][1] === "date" ? { type: "utc", label: null } : {}) },
    y: { ...axis(columns[2]), grid: true, ticks: 5 },
    marks: [
      Plot.ruleY([0], { strokeOpacity: 0.4 }),
      ...(target === undefined ? [] : [Plot.ruleY([target], { strokeDasharray: "2 4" })]),
      ...series.map(({ hue }, number) =>
        Plot.lineY(rows.filter((row) => row[0] === number), { ...place, stroke: colour(hue), strokeWidth: 2, strokeDasharray: number ? "7 3" : undefined }),
      ),
      ...(rows.length < MAX_DOTS ? [Plot.dot(rows, { ...place, r: 3, fill: ofSeries(series) })] : []),
      Plot.tip(rows, Plot.pointer({ ...place, title: telling(data) })),
    ],
  };
}

/** Bars of each day, their parts stacked. @param {PlotData} data */
function stack(data) {
  const { columns, rows, series = [] } = data;
  return {
    x: { ...axis(columns[1]), type: "band", interval: "day", label: null },
    y: { ...axis(columns[2]), grid: true, ticks: 4 },
    marks: [
      Plot.barY(rows, { x: "1", y: "2", fill: ofSeries(series), tip: true, title: telling(data) }),
      Plot.ruleY([0], { strokeOpacity: 0.4 }),
    ],
  };
}

/** A histogram, with lines at the reader's own value and at others. @param {PlotData} data */
function histogram(data) {
  const { columns, rows, own = null, marks = [] } = data;
  const isOwn = (/** @type {Row} */ [from, to]) => own !== null && from <= own && (own < to || to === rows[rows.length - 1][1]);
  const across = [...marks, ...(own === null ? [] : [{ name: "you", value: own }])];
  const seconds = rows[rows.length - 1][1] - rows[0][0];
  const ticks = columns[0][1] === "clock" ? Plot.numberInterval(CLOCK_STEPS.find((step) => 6 * step > seconds) ?? 7200) : Math.min(5, rows.length);
  return {
    marginTop: 34,
    x: { ...axis(columns[0]), label: null, ticks },
    y: { ...axis(columns[2]), grid: true, ticks: Math.min(4, Math.max(...rows.map((row) => row[2]))) },
    marks: [
      Plot.rectY(rows, { x1: "0", x2: "1", y: "2", insetLeft: 1, insetRight: 1, fill: "var(--accent)", fillOpacity: (/** @type {Row} */ row) => (isOwn(row) ? 0.9 : 0.45), tip: true, title: telling(data) }),
      Plot.ruleY([0], { strokeOpacity: 0.4 }),
      Plot.ruleX(across, { x: "value", strokeDasharray: "4 3" }),
      Plot.text(across, { x: "value", text: "name", frameAnchor: "top", lineAnchor: "bottom", dy: -4, fontWeight: 700 }),
    ],
  };
}

/** Predicted probabilities against observed shares: a larger dot stands for more answers. @param {PlotData} data */
function dots(data) {
  const { columns, rows } = data;
  return {
    x: { ...axis(columns[0]), domain: [0, 1], ticks: 4 },
    y: { ...axis(columns[1]), domain: [0, 1], ticks: 4, grid: true },
    r: { range: [3, 12] },
    marks: [
      Plot.line([[0, 0], [1, 1]], { strokeDasharray: "3 4", strokeOpacity: 0.6 }),
      Plot.dot(rows, { x: "0", y: "1", r: "2", fill: "var(--accent)", fillOpacity: 0.75, tip: true, title: telling(data) }),
    ],
  };
}

/** Shares by hops: filled with an interval, and hollow. @param {PlotData} data */
function hops(data) {
  const { columns, rows } = data;
  const share = new Map(rows.map((row) => [row[0], readable(row[1], "share")]));
  const known = rows.filter((row) => row[1] !== null);
  return {
    x: { type: "point", domain: rows.map((row) => row[0]), label: columns[0][0], tickFormat: (/** @type {string} */ name) => `${name}\n${share.get(name)}` },
    y: { ...axis(columns[1]), label: null, domain: [0, 1], ticks: 2, grid: true },
    marginBottom: 56,
    marks: [
      Plot.ruleX(known, { x: "0", y1: "2", y2: "3", stroke: "var(--hue)", strokeWidth: 5, strokeOpacity: 0.35, strokeLinecap: "round" }),
      Plot.dot(known, { x: "0", y: "4", dx: 11, stroke: "var(--hue)", r: 4 }),
      Plot.dot(known, { x: "0", y: "1", fill: "var(--hue)", r: 4.5, tip: true, title: telling(data) }),
    ],
  };
}

/** A reward along a game, with the disagreement of its networks around it. @param {PlotData} data */
function reward({ columns, rows, end }) {
  const ends = rows.flatMap(([, value, around]) => [value - around, value + around]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  return {
    height: 160,
    x: { ...axis(columns[0]), domain: [0, end], ticks: 4 },
    y: { ...axis(columns[1]), domain: low < high ? [low, high] : [low - 1, high + 1], ticks: 4, grid: true },
    marks: [
      Plot.areaY(rows, { x: "0", ...band(1, 2), fill: "var(--accent)", fillOpacity: 0.18 }),
      Plot.lineY(rows, { x: "0", y: "1", stroke: "var(--accent)", strokeWidth: 1.8 }),
    ],
  };
}

/** Ratings over answers, each with its 95 % interval. @param {PlotData} data */
function history(data) {
  const { columns, rows, series = [], end } = data;
  const showsBands = series.length <= MAX_BANDS;
  const tracks = series.map((_, number) => {
    const own = rows.filter((row) => row[0] === number);
    const last = own[own.length - 1];
    return [...own, [number, end, last[2], last[3]]]; // a rating holds until the next answer
  });
  const inView = tracks.flatMap((own) => [
    ...own.map((row) => row[2]),
    ...own.slice(showsBands ? Math.min(WIDE_ROWS, own.length - 1) : -1).flatMap((row) => [row[2] - row[3], row[2] + row[3]]),
  ]);
  const place = { x: "1", y: "2" };
  return {
    height: 320,
    x: { ...axis(columns[1]), domain: [0, end] },
    y: { ...axis(columns[2]), domain: [Math.min(...inView), Math.max(...inView)], nice: true, grid: true },
    marks: [
      ...tracks.flatMap((own, number) => [
        Plot.areaY(own, { x: "1", ...band(2, 3), curve: "step-after", clip: true, className: `band of-${number}`, fill: colour(series[number].hue), fillOpacity: showsBands ? 0.12 : 0 }),
        Plot.lineY(own, { ...place, curve: "step-after", className: `line of-${number}`, stroke: colour(series[number].hue), strokeWidth: 2, strokeDasharray: series[number].hue < NUM_HUES ? undefined : "5 4" }),
      ]),
      Plot.tip(rows, Plot.pointer({ ...place, title: telling(data) })),
    ],
  };
}

/** @type {{[kind: string]: (data: PlotData) => object}} */
const KINDS = { lines, stack, histogram, dots, hops, reward, history };

/**
 * Draw a plot as wide as its room.
 * @param {Element} room
 */
function draw(room) {
  const width = room.clientWidth;
  if (!width) return;
  const plot = room.closest("[data-plot]") ?? room;
  /** @type {PlotData} */
  const data = JSON.parse(need(plot, "script").textContent);
  const dates = data.columns.flatMap(([, unit], place) => (unit === "date" ? [place] : []));
  for (const row of data.rows) for (const place of dates) row[place] = new Date(row[place]);
  const svg = Plot.plot({ className: "chart", width, height: Math.min(260, Math.max(180, width * 0.6)), marginLeft: 62, marginBottom: 44, style: { fontSize: "12px" }, ariaLabel: plot.getAttribute("data-plot"), ...KINDS[data.kind](data) });
  svg.setAttribute("role", "img");
  room.replaceChildren(svg);
  svg.addEventListener("input", () => pointAt(plot, svg.value?.[0]));
}

/**
 * Bring one line of a history forward, or none.
 * @param {Element} plot
 * @param {number | undefined} number
 */
function pointAt(plot, number) {
  plot.classList.toggle("pointed", number !== undefined);
  for (const on of plot.querySelectorAll(".on")) on.classList.remove("on");
  for (const part of plot.querySelectorAll(`.of-${number}`)) part.classList.add("on");
}

/** Draw all plots of the page, again when their width changes, and those that come later. */
async function drawAll() {
  for (const library of LIBRARIES) await import(library);
  ({ Plot } = /** @type {any} */ (globalThis));
  const widths = new ResizeObserver((entries) => entries.forEach(({ target }) => draw(target)));
  const opened = new Set(); // a page that renews itself does not close the numbers that somebody reads
  document.addEventListener("toggle", ({ target }) => {
    const plot = target instanceof HTMLDetailsElement ? target.closest("[data-plot]") : null;
    if (plot) opened[/** @type {HTMLDetailsElement} */ (target).open ? "add" : "delete"](plot.getAttribute("data-plot"));
  }, true);
  const watch = () => {
    for (const room of document.querySelectorAll("[data-plot-room]:empty")) {
      const plot = room.closest("[data-plot]"), numbers = plot?.querySelector("details");
      if (numbers && opened.has(plot?.getAttribute("data-plot"))) numbers.open = true;
      widths.observe(room);
    }
  };
  watch();
  new MutationObserver(watch).observe(document.body, { childList: true, subtree: true });
  for (const kind of ["pointerover", "pointerout"]) {
    document.addEventListener(kind, ({ target }) => {
      const name = target instanceof Element ? target.closest("[data-series]") : null;
      const plot = name?.closest("[data-plot]");
      if (plot) pointAt(plot, kind === "pointerout" ? undefined : Number(name?.getAttribute("data-series")));
    });
  }
}

if (typeof document !== "undefined") drawAll();
