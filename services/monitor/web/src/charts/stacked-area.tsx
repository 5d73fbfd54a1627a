import { useEffect, useMemo, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatHourMinute, formatShort } from '@pipeline/web/format/time.ts';
import { preferences, shownTheme } from '@pipeline/web/preferences/preferences.ts';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import styles from './stacked-area.module.css';
import { stackedSums } from './stacked-sums.ts';

const SIZE = 8;

export interface Layer {
  name: string;
  /** Custom property of its colour. */
  colour: string;
  values: readonly number[];
}

interface StackedAreaProps {
  /** Summary of the chart in one sentence: screen readers get this. */
  summary: string;
  /** Epoch milliseconds of the values. */
  times: readonly number[];
  /** Lowest layer first. */
  layers: readonly Layer[];
  /** Width in pixels; nothing is drawn at width 0. */
  width: number;
  height: number;
}

const SECOND = 1_000;

/** Layers above each other over time; the cursor shows the figures of a moment. */
export default function StackedArea({ summary, times, layers, width, height }: StackedAreaProps) {
  const place = useRef<HTMLDivElement>(null);
  const theme = useSignal(shownTheme);
  const { zone, withoutColour } = useSignal(preferences);
  const plot = useRef<uPlot | null>(null);
  const data = useMemo(() => plotData(times, layers), [times, layers]);
  const latest = useRef(data);
  latest.current = data;
  const names = layers.map(({ name }) => name).join('|');
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new theme or new layers need a new chart, new values do not.
  useEffect(() => {
    if (!place.current || width === 0) return;
    const chart = new uPlot(
      optionsOf({ layers, width, height, zone, hatched: withoutColour }),
      latest.current,
      place.current,
    );
    plot.current = chart;
    return () => {
      chart.destroy();
      plot.current = null;
    };
  }, [width, height, theme, zone, withoutColour, names]);
  useEffect(() => plot.current?.setData(data), [data]);
  return <div ref={place} className={styles.chart} role="img" aria-label={summary} style={{ minHeight: height }} />;
}

/** uPlot draws its series in order, so the highest sums come first. */
const plotData = (times: readonly number[], layers: readonly Layer[]): uPlot.AlignedData =>
  [
    times.map((time) => time / SECOND),
    ...stackedSums(layers.map(({ values }) => values)).toReversed(),
  ] as uPlot.AlignedData;

interface ChartOptions {
  layers: readonly Layer[];
  width: number;
  height: number;
  zone: 'local' | 'utc';
  hatched: boolean;
}

function optionsOf({ layers, width, height, zone, hatched }: ChartOptions): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colourOf = (name: string): string => style.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: colourOf('--muted'),
    grid: { stroke: colourOf('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui',
  };
  const reversed = layers.toReversed();
  const series: uPlot.Series[] = reversed.map(({ name, colour }, index) => ({
    label: name,
    stroke: colourOf('--page'),
    width: 1,
    fill: hatched
      ? (chart: uPlot) => hatching(chart.ctx, index, colourOf('--text'), colourOf('--page'))
      : colourOf(colour),
    points: { show: false },
    value: (_: uPlot, __: number, ___: number, at: number | null) =>
      at === null ? '' : String(reversed[index]?.values[at] ?? ''),
  }));
  return {
    width,
    height,
    legend: { show: false },
    cursor: { points: { show: false }, drag: { x: false, y: false } },
    scales: { y: { range: (_, __, max) => [0, Math.max(1, max)] } },
    axes: [
      { ...axis, values: (_, splits) => splits.map((split) => formatHourMinute(split * SECOND, zone)) },
      {
        ...axis,
        size: (_, values) => widthOf(values),
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000],
      },
    ],
    series: [{}, ...series],
    plugins: [readout(reversed, zone)],
  };
}

const NARROWEST_PX = 36;
const DIGIT_PX = 7;

/** Width of the axis of counts: of its longest figure, and a gap. uPlot asks before it has figures as well. */
const widthOf = (values: readonly (string | number | null)[] | null): number =>
  Math.max(NARROWEST_PX, ...(values ?? []).map((value) => String(value ?? '').length * DIGIT_PX + 10));

/** Shows the figures under the cursor in a box of the page, built without markup. */
function readout(layers: readonly Layer[], zone: 'local' | 'utc'): uPlot.Plugin {
  const box = document.createElement('div');
  box.className = styles.readout ?? '';
  box.hidden = true;
  return {
    hooks: {
      init: (chart) => chart.over.append(box),
      setCursor: (chart) => {
        const index = chart.cursor.idx;
        box.hidden = index === null || index === undefined || (chart.cursor.left ?? -1) < 0;
        if (box.hidden || index === null || index === undefined) return;
        const lines = layers
          .filter(({ values }) => (values[index] ?? 0) > 0)
          .map(({ name, values }) => `${name}: ${values[index]}`);
        box.textContent = [formatShort((chart.data[0][index] ?? 0) * SECOND, zone), ...lines].join('\n');
        const left = chart.cursor.left ?? 0;
        box.style.left = left > chart.over.clientWidth / 2 ? '' : `${left + 12}px`;
        box.style.right = left > chart.over.clientWidth / 2 ? `${chart.over.clientWidth - left + 12}px` : '';
      },
    },
  };
}

/** Returns a pattern that distinguishes layers without colour: direction and distance of the lines differ by index. */
function hatching(
  context: CanvasRenderingContext2D,
  index: number,
  line: string,
  background: string,
): CanvasPattern | string {
  const tile = document.createElement('canvas');
  tile.width = SIZE;
  tile.height = SIZE;
  const pen = tile.getContext('2d');
  if (!pen) return background;
  pen.fillStyle = background;
  pen.fillRect(0, 0, SIZE, SIZE);
  pen.strokeStyle = line;
  pen.lineWidth = 0.5 + (index % 3) * 0.5;
  pen.beginPath();
  const direction = index % 4;
  if (direction === 0 || direction === 3) stroke(pen, [0, SIZE, SIZE, 0]);
  if (direction === 1 || direction === 3) stroke(pen, [0, 0, SIZE, SIZE]);
  if (direction === 2) stroke(pen, [0, SIZE / 2, SIZE, SIZE / 2]);
  pen.stroke();
  return context.createPattern(tile, 'repeat') ?? background;
}

function stroke(pen: CanvasRenderingContext2D, [x1, y1, x2, y2]: readonly [number, number, number, number]): void {
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
}
