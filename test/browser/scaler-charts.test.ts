import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { parse } from 'yaml';
import type { DecisionList, HistoryAnswer, ScalerDetail } from '../../src/api/answers.js';
import { findBarriers, momentAfter, momentOf, overflowOf, section } from './support/browser.js';
import {
  AT_MAXIMUM,
  BLIND,
  CONFLICT,
  DRY_RUN,
  FIRST_ROUND,
  HEALTHY,
  LARGE,
  LOG_SCALE,
  PAUSED,
  UNREAD,
  WIDE_RANGE,
} from './support/scaler-stories.js';
import { tellStory } from './support/scaler-story.js';
import type { Story } from './support/scaler-story.js';
import { useStage } from './support/stage.js';

const stage = useStage();

interface Opened {
  readonly page: Page;
  /** Returns the answer of the API below `scalers/shop/web`. */
  readonly read: (path: string) => unknown;
}

async function open(story: Story): Promise<Opened> {
  const others = tellStory(story);
  const { page } = await stage.open({ others }, { hash: '#/scalers/shop/web' });
  await page.locator('.chart-slider canvas').waitFor();
  const read = (path: string): unknown => {
    const url = new URL(`scalers/shop/web${path}`, 'http://fake');
    return others[url.pathname.slice(1)]?.(url);
  };
  return { page, read };
}

/** Waits until the charts start with the oldest point. Before the answer with the points, their range is another one. */
async function waitForOldest(page: Page, { at: [oldest = ''] }: HistoryAnswer): Promise<void> {
  await page.locator(`[role="slider"][aria-valuemin="${Date.parse(oldest) / 1000}"]`).waitFor();
}

describe('the charts', () => {
  test('show 91 ready pods of 100 in the legend, and to a screen reader', async () => {
    const { page, read } = await open(LARGE);
    const { readyPods, currentReplicas } = read('/history') as HistoryAnswer;
    const [ready, current] = [readyPods.at(-1), currentReplicas.at(-1)];
    expect([ready, current]).toEqual([91, 100]);

    expect(await page.locator('.chart-slider').getAttribute('aria-valuetext')).toMatch(
      /: 100 current, 91 ready, \d+ desired replicas$/,
    );
    const legend = await page.locator('.chart-legend').first().innerText();
    expect(legend.replaceAll(/\s+/g, ' ')).toContain(' current 100 ready 91 desired ');
  });

  test('have one strip for each metric and one for the forecast, and one crosshair in all of them', async () => {
    const { page } = await open(LARGE);
    const captions = page.locator('.metric-strip figcaption');
    await captions.nth(5).waitFor();
    expect((await page.locator('.metric-strip figcaption > b').allInnerTexts()).slice(0, 5)).toEqual([
      'cpu',
      'memory',
      'app/cpu',
      'queue_depth',
      'orders',
    ]);
    const box = await page.locator('.chart-slider .u-over').boundingBox();
    if (box === null) throw new Error('the chart has no place');
    const crosshairs = `[...document.querySelectorAll('.metric-strip .u-cursor-x')].map((line) =>
      Math.round(line.getBoundingClientRect().x - line.parentElement.getBoundingClientRect().x))`;
    const before = await captions.nth(1).innerText();

    await page.mouse.move(box.x + box.width / 4, box.y + 20);

    await page.locator('.metric-strip figcaption').nth(1).filter({ hasNotText: before }).waitFor();
    const middle = Math.round(box.width / 4);
    for (const x of await page.evaluate<number[]>(crosshairs)) expect(Math.abs(x - middle)).toBeLessThan(3);
  });

  test('of 7 days start with the oldest of 100 minutes of points, and say so', async () => {
    const { page, read } = await open(HEALTHY);
    await page.getByRole('button', { name: '7 d' }).click();
    await page.getByText(/There are no points before (?:\w+ \d+, )?\d\d:\d\d:\d\d\./).waitFor();

    await waitForOldest(page, read('/history') as HistoryAnswer);
  });

  test('end with the newest point for a viewer whose clock is a minute behind', async () => {
    const others = tellStory(HEALTHY);
    const at = new Date(Date.now() - 60_000).toISOString();
    const { page } = await stage.open({ others }, { hash: '#/scalers/shop/web', at });
    const { at: points } = others['scalers/shop/web/history']?.(new URL('http://fake')) as HistoryAnswer;

    const newest = Date.parse(points.at(-1) ?? '') / 1000;
    await page.locator(`[role="slider"][aria-valuemax="${newest}"]`).waitFor();
  });

  test('the limit strip has a label for each limit, and the time before the oldest decision is unknown', async () => {
    const { page, read } = await open(WIDE_RANGE);
    const limits = page.locator('.limit-track > [class^="tone-"]');
    await limits.first().waitFor();
    // Also the narrow ones have the beginning of their label.
    const overflow = "getComputedStyle(document.querySelector('.limit-track > [class^=tone-]')).textOverflow";

    expect((await limits.allInnerTexts()).filter((text) => text !== '')).toHaveLength(4);
    expect(await page.evaluate(overflow)).toBe('ellipsis');
    const { keptFrom } = read('/decisions?limit=100') as DecisionList;
    const time = new Date(Date.parse(keptFrom)).toISOString();
    const label = page.locator('.limit-unknown', { hasText: 'decisions are kept from' });
    expect(await label.locator('time').getAttribute('datetime')).toBe(time);
    const list = section(page, 'Changes and Events').locator('.hint', { hasText: 'Decisions are kept from' });
    expect(await list.innerText()).toMatch(
      /^The list has the newest 20\. Decisions are kept from (?:\w+ \d+, )?\S+ on\.$/,
    );
    expect(await list.locator('time').getAttribute('datetime')).toBe(time);
    const box = await page.locator('.chart-slider .u-over').boundingBox();
    if (box === null) throw new Error('the chart has no place');
    await page.mouse.move(box.x + 10, box.y + 20);
    const shown = page.locator('.limit-strip .hint');

    await page.getByText('unknown: decisions are kept from').waitFor();
    expect(await shown.locator('time').getAttribute('datetime')).toBe(time);
  });

  test('the limit strip and the list say from when on decisions are kept, also if the answer has only the newest', async () => {
    const others = tellStory(WIDE_RANGE);
    const path = 'scalers/shop/web/decisions';
    const cut = (url: URL): DecisionList => {
      const list = others[path]?.(url) as DecisionList;
      return { ...list, items: list.items.slice(0, 5), continue: 'next' };
    };
    const { page } = await stage.open({ others: { ...others, [path]: cut } }, { hash: '#/scalers/shop/web' });
    const { keptFrom } = cut(new URL(path, 'http://fake'));

    const list = section(page, 'Changes and Events').locator('.hint', { hasText: 'Decisions are kept from' });
    const strip = page.locator('.limit-unknown', { hasText: 'decisions are kept from' });
    const time = new Date(Date.parse(keptFrom)).toISOString();
    expect(await list.locator('time').getAttribute('datetime')).toBe(time);
    expect(await strip.locator('time').getAttribute('datetime')).toBe(time);
  });

  test.each([
    ['the first decision, which is only just made', FIRST_ROUND, 'Stabilization'],
    ['a decision without a limit', HEALTHY, 'none'],
    ['a target that cannot be read', UNREAD, 'unknown: there was no decision'],
  ])('the limit strip names the limit of %s', async (_what, story, limit) => {
    const { page } = await open(story);
    await page.locator('.limit-strip .hint').getByText(limit, { exact: true }).waitFor();
  });

  test('a metric of 0 and of 2 to 2,000 has a logarithmic scale, and says so', async () => {
    const { page } = await open(LOG_SCALE);

    expect(await page.locator('.metric-strip figcaption').innerText()).toContain(
      'per pod, logarithmic scale',
    );
    expect(
      await open(HEALTHY).then(({ page: other }) => other.locator('.metric-strips').innerText()),
    ).not.toContain('logarithmic');
  });
});

test('the page links to the Grafana dashboard with its scaler', async () => {
  const { page } = await open(HEALTHY);

  expect(await page.getByRole('link', { name: 'Open in Grafana' }).getAttribute('href')).toBe(
    'https://grafana.example.com/d/promscaler-scaler?var-namespace=shop&var-scaler=web',
  );
});

test('a condition at the maximum has the color of the state, and the cause of each metric is named once', async () => {
  const { page } = await open(AT_MAXIMUM);
  const limited = page.getByText('ScalingLimited True').first();
  expect(await limited.getAttribute('class')).toContain('tone-bad');

  const { page: blind } = await open(BLIND);
  const card = blind.getByRole('region', { name: 'The last decision' });
  await card.getByText('queue_depth: the query returned no series', { exact: true }).waitFor();
  expect((await card.innerText()).split('connection refused')).toHaveLength(2);
});

describe('the document', () => {
  test('is YAML, as promscaler validate reads it', async () => {
    const { page, read } = await open(HEALTHY);
    await page.getByRole('button', { name: 'As YAML' }).click();
    const text = page.locator('.document-text');

    await page.getByText('kind: Scaler').waitFor();
    expect(parse(await text.innerText())).toEqual((read('') as ScalerDetail).document);
  });

  test('hides its 17 defaults until they are opened', async () => {
    const { page } = await open(HEALTHY);
    const period = page.getByText('syncPeriodSeconds', { exact: true });
    await page.getByRole('heading', { name: '17 defaults' }).waitFor();
    expect(await period.isVisible()).toBe(false);

    await page.getByRole('heading', { name: '17 defaults' }).click();
    expect(await period.isVisible()).toBe(true);
  });
});

describe('a change in the charts', () => {
  test('is selected by a click near its mark, and its decision is next to the charts', async () => {
    const { page, read } = await open(HEALTHY);
    const changes = (read('/decisions?changes=true&limit=100') as DecisionList).items;
    const at = changes[3]?.firstAt ?? '';
    const slider = page.getByRole('slider', { name: 'Moment' });
    await waitForOldest(page, read('/history') as HistoryAnswer);
    const [from, to] = await Promise.all(
      ['aria-valuemin', 'aria-valuemax'].map(async (name) => Number(await slider.getAttribute(name))),
    );
    const box = await page.locator('.chart-slider .u-over').boundingBox();
    if (box === null || from === undefined || to === undefined) throw new Error('the chart has no place');
    const x = box.x + (box.width * (Date.parse(at) / 1000 - from)) / (to - from);
    await page.mouse.click(x + 3, box.y + 20);

    const part = section(page, /^Decision at/);
    await part.getByText('Largest proposal').waitFor();
    expect(momentOf(page)).toBe(at);
    const [charts, decision] = await Promise.all([
      section(page, 'Replicas').boundingBox(),
      part.boundingBox(),
    ]);
    expect(decision?.x).toBeGreaterThan((charts?.x ?? 0) + (charts?.width ?? 0));
    expect(Math.abs((decision?.y ?? 0) - (charts?.y ?? 999))).toBeLessThan(10);
    expect([await findBarriers(page), await overflowOf(page)]).toEqual([[], 0]);
  });

  test('is reached with the arrow keys, without a click before, and from the list of changes and Events', async () => {
    const { page, read } = await open(HEALTHY);
    const changes = (read('/decisions?changes=true&limit=100') as DecisionList).items;
    await page.getByRole('button', { name: 'Previous change', disabled: false }).waitFor();

    expect(await momentAfter(page, 'ArrowLeft')).toBe(changes[0]?.firstAt);
    expect(await momentAfter(page, 'ArrowLeft')).toBe(changes[1]?.firstAt);
    const row = section(page, 'Changes and Events').locator('tbody tr').nth(3);
    await row.getByRole('button', { name: /^\d+ → \d+$/ }).click();
    await page.waitForURL((url) => url.hash.includes(encodeURIComponent(changes[3]?.firstAt ?? '-')));
  });
});

test.each([1440, 390])('a change in the list brings its decision into view: %i px', async (width) => {
  const others = tellStory(HEALTHY);
  const { page } = await stage.open({ others }, { hash: '#/scalers/shop/web', width, height: 844 });
  const list = section(page, 'Changes and Events');
  if (width === 390) await list.getByRole('heading').click();
  await list
    .locator('tbody tr')
    .nth(3)
    .getByRole('button', { name: /^\d+ → \d+$/ })
    .click();

  const part = section(page, /^Decision at/);
  await part.getByText('Largest proposal').waitFor();
  const box = await part.getByRole('heading', { level: 2 }).boundingBox();
  expect(box?.y).toBeGreaterThanOrEqual(0);
  expect(box?.y).toBeLessThan(100);
  expect(await page.evaluate('document.activeElement.innerText')).toContain('Decision at');
});

describe('a state that somebody ends', () => {
  test.each([
    ['a pause', PAUSED, /^Paused until (?:\w+ \d+, )?\d\d:\d\d:\d\d \(in 2\d min\): stays at 3, not 6$/],
    ['a dry run', DRY_RUN, /^DryRun until spec.dryRun is false: stays at 3, not 6$/],
    [
      'a conflict',
      CONFLICT,
      /^Conflict until HorizontalPodAutoscaler shop\/web is deleted: stays at 3, not 6$/,
    ],
  ])('has its end in the headline: %s', async (_what, story, headline) => {
    const { page } = await open(story);
    const card = page.getByRole('region', { name: 'The last decision' });

    expect(await card.getByRole('heading', { level: 2 }).innerText()).toMatch(headline);
  });
});
