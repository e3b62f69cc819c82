import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { type Fingers, pinchWindow, type TimeWindow } from '../model/ranges.js';
import { chartOptions, type TimeChartProps } from './chart-options.js';
import './time-chart.css';

/** Draws a chart over time with uPlot. Screen readers cannot read a canvas, so the parent describes the chart. */
export function TimeChart(props: TimeChartProps): VNode {
  const container = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const theme = useTheme();
  const structure = JSON.stringify([props.styles, props.area, props.height, props.isLog, theme]);

  useLayoutEffect(() => {
    const element = container.current;
    if (element === null) return undefined;
    const drawn = new uPlot(chartOptions(element, latest), dataOf(latest.current), element);
    chart.current = drawn;
    const stopPicking = pickOnClick(drawn, latest);
    const stopPinching = zoomOnPinch(
      drawn.over,
      () => latest.current.window,
      (window) => latest.current.onZoom(window),
    );
    const observer = new ResizeObserver(() => {
      const width = Math.floor(element.clientWidth);
      if (width > 0 && width !== drawn.width) drawn.setSize({ width, height: latest.current.height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      stopPicking();
      stopPinching();
      drawn.destroy();
      chart.current = null;
    };
  }, [structure]);

  useLayoutEffect(() => {
    chart.current?.setData(dataOf(latest.current));
  }, [props.columns, props.window.from, props.window.to, props.top]);

  useLayoutEffect(() => {
    chart.current?.redraw(false);
  }, [props.changes, props.selected]);

  return <div class="time-chart" ref={container} />;
}

/** The cast is safe, because uPlot does not modify the columns. */
function dataOf({ columns }: TimeChartProps): uPlot.AlignedData {
  return columns as unknown as uPlot.AlignedData;
}

const DRAG_PIXELS = 4;
/** How far a click may be from a change: half of the width of its mark, and a few pixels more for a finger. */
const NEAR_PIXELS = 8;

/**
 * Calls `onPick` after a click that is not a drag, with the time of the nearest change at the pointer, otherwise with
 * the time at the pointer. Returns a function that removes the listeners.
 */
function pickOnClick(chart: uPlot, latest: { readonly current: TimeChartProps }): () => void {
  let startX: number | null = null;
  const down = (event: MouseEvent): void => {
    startX = event.clientX;
  };
  const click = (event: MouseEvent): void => {
    if (startX !== null && Math.abs(event.clientX - startX) > DRAG_PIXELS) return;
    const left = event.clientX - chart.over.getBoundingClientRect().left;
    const { changes, onPick } = latest.current;
    const near = changes
      .map(({ second }) => ({ second, pixels: Math.abs(chart.valToPos(second, 'x') - left) }))
      .filter(({ pixels }) => pixels <= NEAR_PIXELS)
      .sort((a, b) => a.pixels - b.pixels)[0];
    onPick(near?.second ?? chart.posToVal(left, 'x'));
  };
  chart.over.addEventListener('mousedown', down);
  chart.over.addEventListener('click', click);
  return () => {
    chart.over.removeEventListener('mousedown', down);
    chart.over.removeEventListener('click', click);
  };
}

/**
 * Returns a string that changes with the theme. The canvas must then be drawn again, because style sheets do not apply
 * to it.
 */
function useTheme(): string {
  const [theme, setTheme] = useState(readTheme);
  useEffect(() => {
    const follow = (): void => setTheme(readTheme());
    const query = matchMedia(DARK);
    query.addEventListener('change', follow);
    const observer = new MutationObserver(follow);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      query.removeEventListener('change', follow);
      observer.disconnect();
    };
  }, []);
  return theme;
}

const DARK = '(prefers-color-scheme: dark)';

function readTheme(): string {
  const chosen = document.documentElement.dataset['theme'] ?? 'system';
  return `${chosen} ${matchMedia(DARK).matches ? 'dark' : 'light'}`;
}

interface LegendItemProps {
  readonly style: string;
  readonly name: string;
  readonly value: string;
}

export function LegendItem({ style, name, value }: LegendItemProps): VNode {
  return (
    <span class="legend-item">
      <span class={`swatch ${style}`} />
      {name} <b>{value}</b>
    </span>
  );
}

interface Gesture {
  readonly window: TimeWindow;
  readonly start: Fingers;
}

/**
 * Zooms in when two fingers move apart. One finger scrolls the page as usual. Returns a function that removes the
 * listeners.
 */
function zoomOnPinch(
  element: HTMLElement,
  read: () => TimeWindow,
  onZoom: (window: TimeWindow) => void,
): () => void {
  let gesture: Gesture | null = null;
  const begin = (event: TouchEvent): void => {
    const start = fingersOf(event, element);
    gesture = start === null ? null : { window: read(), start };
  };
  const move = (event: TouchEvent): void => {
    const fingers = fingersOf(event, element);
    if (gesture === null || fingers === null) return;
    event.preventDefault();
    const window = pinchWindow(gesture.window, gesture.start, fingers);
    if (window !== null) onZoom(window);
  };
  const end = (): void => {
    gesture = null;
  };
  const controller = new AbortController();
  const { signal } = controller;
  element.addEventListener('touchstart', begin, { signal, passive: true });
  element.addEventListener('touchmove', move, { signal, passive: false });
  element.addEventListener('touchend', end, { signal });
  element.addEventListener('touchcancel', end, { signal });
  return () => controller.abort();
}

function fingersOf({ touches }: TouchEvent, element: HTMLElement): Fingers | null {
  const [one, other] = touches;
  if (one === undefined || other === undefined || touches.length > 2) return null;
  const { left, width } = element.getBoundingClientRect();
  return width <= 0 ? null : [(one.clientX - left) / width, (other.clientX - left) / width];
}
