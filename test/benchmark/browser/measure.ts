import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { after, fleetOf, overviewOf, serviceOf } from '../../browser/support/answers.js';
import { startFakeService } from '../../browser/support/fake-service.js';
import { until } from '../../support/until.js';
import { median } from '../report.js';

/** Times in whole milliseconds. */
export interface BrowserFigures {
  readonly scalers: number;
  /** Of the answer of `/api/v1/overview`, compressed; it is sent as it is in this benchmark. */
  readonly answerKb: number;
  /** From the start of the navigation until the first rows are painted; the median of five. */
  readonly firstRowsMs: number;
  readonly framesPerSecond: number;
  /** Of a page without a script that has as many rows as plain elements: what the machine can do. */
  readonly plainFramesPerSecond: number;
  /** Time of the main thread for a frame while scrolling. */
  readonly frameWorkMs: number;
  /** The longest time between two frames while scrolling. */
  readonly longestFrameMs: number;
  /** From a key in the search field until the rows are painted; the median of its keys. */
  readonly searchMs: number;
  /** Heap of the page in use, after all of this. */
  readonly heapMb: number;
}

const DASHBOARD = fileURLToPath(new URL('../../../../dist/dashboard', import.meta.url));
const LOADS = 5;

/** Scripts run in the page: its timers are the only ones that know when something is painted. */
const WATCH_FIRST_ROWS = `
  new MutationObserver((_, observer) => {
    if (document.querySelector('.scaler-row') === null) return;
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => { globalThis.firstRowsMs = performance.now(); }));
  }).observe(document, { childList: true, subtree: true });`;

const SCROLL = `new Promise((resolve) => {
  const times = [];
  const step = (time) => {
    times.push(time);
    if (time - times[0] > 3000) return resolve(times);
    scrollBy(0, 120);
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})`;

const SEARCH = `(async () => {
  const input = document.querySelector('input[type=search]');
  const times = [];
  for (const text of ['a', 'ap', 'api', 'api-', 'api-0', 'api-00']) {
    const start = performance.now();
    input.value = text;
    input.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    times.push(performance.now() - start);
  }
  return times;
})()`;

export async function measureOverview(browser: Browser, scalers: number): Promise<BrowserFigures> {
  const overview = overviewOf(fleetOf(scalers));
  const service = await startFakeService({
    answers: {
      overview: ({ searchParams }) =>
        searchParams.has('since') ? overviewOf([], { isComplete: false, at: after(1) }) : overview,
      service: () => serviceOf(),
    },
    dashboard: DASHBOARD,
  });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    await page.addInitScript(WATCH_FIRST_ROWS);
    const loads: number[] = [];
    for (let load = 0; load < LOADS; load += 1) {
      await page.goto('about:blank');
      await page.goto(`${service.url}#/?sort=name`);
      // The policy of the page forbids the eval of waitForFunction.
      const isPainted = 'globalThis.firstRowsMs !== undefined';
      await until(async () => (await page.evaluate(isPainted)) === true, 'the first rows');
      loads.push(Number(await page.evaluate('globalThis.firstRowsMs')));
    }
    const scrolled = await scroll(page);
    const searches = numbersOf(await page.evaluate(SEARCH));
    const heap = Number(await page.evaluate('performance.memory.usedJSHeapSize'));
    return {
      scalers,
      answerKb: Math.round(gzipSync(JSON.stringify(overview)).length / 1000),
      firstRowsMs: Math.round(median(loads)),
      framesPerSecond: Math.round(scrolled.framesPerSecond),
      plainFramesPerSecond: Math.round((await scrollPlain(browser, scalers)).framesPerSecond),
      frameWorkMs: Math.round(scrolled.frameWorkMs * 10) / 10,
      longestFrameMs: Math.round(scrolled.longestFrameMs),
      searchMs: Math.round(median(searches)),
      heapMb: Math.round(heap / 1e6),
    };
  } finally {
    await context.close();
    await service.close();
  }
}

interface Scrolled {
  readonly framesPerSecond: number;
  readonly longestFrameMs: number;
  readonly frameWorkMs: number;
}

async function scroll(page: Page): Promise<Scrolled> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const workMs = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000;
  };
  const before = await workMs();
  const frames = numbersOf(await page.evaluate(SCROLL));
  const after = await workMs();
  const gaps = frames.slice(1).map((time, index) => time - (frames[index] ?? time));
  const seconds = ((frames.at(-1) ?? 0) - (frames[0] ?? 0)) / 1000;
  return {
    framesPerSecond: gaps.length / seconds,
    longestFrameMs: Math.max(...gaps),
    frameWorkMs: (after - before) / gaps.length,
  };
}

async function scrollPlain(browser: Browser, rows: number): Promise<Scrolled> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    const row = `<div style="height: 64px; border-bottom: 1px solid #ccc">${'<span>some text</span> '.repeat(12)}</div>`;
    await page.setContent(`<!doctype html><body>${row.repeat(rows)}`);
    return await scroll(page);
  } finally {
    await context.close();
  }
}

function numbersOf(value: unknown): readonly number[] {
  return Array.isArray(value) ? value.map(Number) : [];
}
