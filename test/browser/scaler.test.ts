import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { explainLines } from '../../src/cli/explanation/explain-lines.js';
import { LIMIT_LABELS } from '../../src/decision/result/limit-names.js';
import type { DecisionList, HistoryAnswer, ScalerDetail } from '../../src/api/answers.js';
import { decide } from '../../src/decision/decide.js';
import { parseSnapshot } from '../../src/decision/snapshot/parse-snapshot.js';
import {
  findBarriers,
  launchBrowser,
  momentAfter,
  momentOf,
  openPage,
  overflowOf,
  section,
} from './support/browser.js';
import type { Viewer, Watched } from './support/browser.js';
import { until } from '../support/until.js';
import { type FakeAnswers, FakeFailure, type FakeService, startFakeService } from './support/fake-service.js';
import { type Story, tellStory } from './support/scaler-story.js';
import {
  AT_MAXIMUM,
  BLIND,
  FIRST_ROUND,
  FORECAST,
  HEALTHY,
  HOSTILE_STORY,
  LARGE,
  MANY_LIMITS,
  UNREAD,
} from './support/scaler-stories.js';

let browser: Browser;
let service: FakeService | null = null;
let watched: Watched | null = null;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterEach(async () => {
  await watched?.close();
  await service?.close();
  watched = null;
  service = null;
});
afterAll(() => browser.close());

type Others = NonNullable<FakeAnswers['others']>;

interface Opened {
  readonly page: Page;
  readonly service: FakeService;
  readonly watched: Watched;
  /** Returns the answer of the API below `scalers/shop/web`. */
  readonly read: (path: string) => unknown;
}

async function open(story: Story, viewer: Viewer = {}): Promise<Opened> {
  const others: Others = told(story);
  const started = await startFakeService({ answers: { others } });
  service = started;
  const opened = await openPage(browser, `${started.url}#/scalers/shop/web`, viewer);
  watched = opened;
  await opened.page.locator('.chart-slider canvas').waitFor();
  await changesAreDrawn(opened.page);
  const read = (path: string): unknown => {
    const url = new URL(`scalers/shop/web${path}`, 'http://fake');
    return others[url.pathname.slice(1)]?.(url);
  };
  return { page: opened.page, service: started, watched: opened, read };
}

/** Nothing in the document says so: the chart draws them. */
async function changesAreDrawn(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    performance.getEntriesByType('resource').some(({ name }) => name.includes('changes=true')),
  );
  await threeFrames(page);
}

/** An answer is rendered in the next frame, the effects of the rendering run after it, and the chart draws after them. */
async function threeFrames(page: Page): Promise<void> {
  for (let frame = 0; frame < 3; frame += 1) await page.evaluate('new Promise(requestAnimationFrame)');
}

const stories = new Map<Story, Others>();

/** The same answers for each page of a story. */
function told(story: Story): Others {
  const known = stories.get(story) ?? tellStory(story);
  stories.set(story, known);
  return known;
}

async function clickChart(page: Page, share: number): Promise<void> {
  const box = await page.locator('.chart-slider .u-over').boundingBox();
  if (box === null) throw new Error('the chart has no place');
  await page.mouse.click(box.x + box.width * share, box.y + box.height / 2);
}

describe('the page of a scaler', () => {
  test('answers first why the count is what it is', async () => {
    const { page, read, watched } = await open(AT_MAXIMUM);
    const card = page.getByRole('region', { name: 'The last decision' });
    expect(await card.getByRole('heading', { level: 2 }).innerText()).toBe('AtMaximum: stays at 5, not 10');
    const { reason } = read('') as ScalerDetail;
    expect(reason).toBe(
      'cpu is at 120 % of the requests, target 60 %: stays at 5, 10 recommended, 5 by max_replicas (maxReplicas is 5)',
    );
    expect(await card.innerText()).toMatch(
      /10 recommended, maxReplicas is 5\s+cpu is at 120 % of the requests, target 60 %\s/,
    );
    await card.getByRole('heading', { name: 'What to do' }).waitFor();
    expect(await card.locator('.what-to-do').innerText()).toMatch(
      /^What to do\s+Set 10 replicas until (\d\d:\d\d), then at most 5 again \(pauses scaling\):\s+kubectl annotate -n shop deployment\/web --overwrite promscaler\.dev\/paused=true promscaler\.dev\/paused-replicas=10 promscaler\.dev\/paused-until=\S+T\1:00\+01:00 promscaler\.dev\/paused-reason=dashboard\s+Raise spec.maxReplicas before the pause ends. In web.yaml, set:\s+maxReplicas: 10/,
    );
    await card.getByRole('button', { name: /^Copy: Set/ }).waitFor();
    await card.getByRole('button', { name: /^Copy: Raise/ }).click();
    await page
      .getByText(/^(Copied\.|The browser does not allow copying here)/)
      .waitFor({ state: 'attached' });
    expect(watched.faults).toEqual([]);
  });

  test('links each query to Prometheus in a new tab: without data beside the headline, and at its metric', async () => {
    const { page } = await open(BLIND);
    const card = page.getByRole('region', { name: 'The last decision' });
    const links = [
      card.getByRole('listitem').filter({ hasText: 'queue_depth' }).getByRole('link', { name: 'Prometheus' }),
      section(page, 'Last decision').getByRole('link', { name: 'Query of queue_depth in Prometheus' }),
    ];
    for (const link of links) {
      expect(await link.getAttribute('href')).toBe(
        'https://prometheus.example.com/graph?g0.expr=sum%28queue_depth%29&g0.tab=0&g0.range_input=1h',
      );
      expect(await link.getAttribute('target')).toBe('_blank');
      expect(await link.getAttribute('rel')).toBe('noopener');
    }
  });

  test('does not link to anything but http and https', async () => {
    const { page } = await open({ ...BLIND, externalUrl: 'javascript:alert(1)' });
    await section(page, 'Last decision').getByText('connection refused').waitFor();
    await page.locator('.what-to-do').waitFor();
    const links = page.locator(
      'a.graph-link:not([href^="https://grafana.example.com/"]), a[href^="javascript:"]',
    );
    expect(await links.count()).toBe(0);
  });

  test('a click on a moment opens its decision, with the numbers of the API', async () => {
    const { page, read, watched } = await open(HEALTHY);
    await clickChart(page, 0.35);
    const part = section(page, /^Decision at/);
    await part.getByText('Largest proposal').waitFor();
    const [entry] = (read(`/decisions?at=${momentOf(page)}&limit=1`) as DecisionList).items;
    const decision = entry?.decision;
    if (decision == null) throw new Error('there is no decision');
    const labels = await part.locator('.waterfall-label').allInnerTexts();
    const numbers = await part.locator('.waterfall-number').allInnerTexts();
    const rows = labels.map((label, index) => ({ label, number: numbers[index] }));
    expect(rows).toEqual([
      { label: 'Largest proposal', number: String(decision.recommendedReplicas) },
      ...decision.limits.map(({ limit, from, to }) => ({
        label: LIMIT_LABELS[limit],
        number: `${from} → ${to}`,
      })),
      { label: 'Result', number: String(decision.desiredReplicas) },
    ]);
    expect(decision.limits.length).toBeGreaterThan(0);
    const cells = await part
      .getByRole('table', { name: 'Metrics of the decision' })
      .locator('tbody tr')
      .allInnerTexts();
    expect(cells.map((cell) => /(\d+)(?: largest)?$/.exec(cell.trim())?.[1])).toEqual(
      decision.metrics.map(({ proposal }) => String(proposal)),
    );
    await part.getByRole('button', { name: 'Show the last decision' }).click();
    await section(page, 'Last decision').waitFor();
    expect(momentOf(page)).toBe('');
    expect(watched.faults).toEqual([]);
  });

  test('the keyboard moves from change to change', async () => {
    const { page, read } = await open(HEALTHY);
    const changes = (read('/decisions?changes=true&limit=100') as DecisionList).items.map(
      ({ firstAt }) => firstAt,
    );
    const slider = page.getByRole('slider', { name: 'Moment' });
    await page.getByRole('button', { name: 'Previous change', disabled: false }).waitFor();
    await slider.focus();
    expect(await momentAfter(page, 'ArrowLeft')).toBe(changes[0]);
    expect(await momentAfter(page, 'ArrowLeft')).toBe(changes[1]);
    expect(await slider.getAttribute('aria-valuetext')).toMatch(
      /^(?:\w+ \d+, )?\d\d:\d\d:\d\d: \d+ current, \d+ ready, \d+ desired replicas$/,
    );
    expect(await momentAfter(page, 'ArrowRight')).toBe(changes[0]);
    expect(await momentAfter(page, 'Home')).toBe(changes.at(-1));
    expect(await momentAfter(page, 'End')).toBe('');
  });

  test('a moment in the address is opened; one that is no longer kept says so', async () => {
    const { page, read } = await open(HEALTHY);
    const { keptFrom } = read('/decisions') as DecisionList;
    const early = new Date(Date.parse(keptFrom) - 60_000).toISOString();
    await page.goto(`${page.url()}?at=${early}`);
    await page.getByRole('heading', { name: 'This decision is no longer kept' }).waitFor();
  });

  test('ranges and zoom; days come from Prometheus, and the page says when they do not', async () => {
    const { page, service, read } = await open(HEALTHY);
    const box = await page.locator('.chart-slider .u-over').boundingBox();
    if (box === null) throw new Error('the chart has no place');
    await page.mouse.move(box.x + 100, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + 300, box.y + 50, { steps: 5 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'Show all 2 h' }).click();
    expect(momentOf(page)).toBe('');
    const recent = read('/history') as HistoryAnswer;
    const isLong = (path: string): boolean => path.includes('source=prometheus');
    expect(service.requests.some(isLong)).toBe(false);
    await page.getByRole('button', { name: '7 d' }).click();
    await until(() => service.requests.some(isLong), 'Prometheus is asked');
    const [asked = ''] = service.requests.filter(isLong);
    const since = new URLSearchParams(asked.split('?')[1]).get('since') ?? '';
    expect(Math.abs(Date.now() - Date.parse(since) - 7 * 86_400_000)).toBeLessThan(120_000);
    const history = (url: URL): unknown =>
      url.searchParams.get('source') === 'prometheus'
        ? new FakeFailure(503, 'the series begin at 2020-01-01T10:42:30Z')
        : recent;
    service.answer({ others: { ...tellStory(HEALTHY), 'scalers/shop/web/history': history } });
    await page.getByRole('button', { name: '24 h' }).click();
    await page.getByText('From memory only: the series begin at Jan 1, 2020, 11:42:30').waitFor();
  });

  test('two fingers zoom, and one does not', async () => {
    const { page } = await open(HEALTHY, { width: 390 });
    const touch = (name: string, ...shares: readonly number[]): Promise<unknown> =>
      page.evaluate(`(() => {
        const target = document.querySelector('.chart-slider .u-over');
        const { left, top, width } = target.getBoundingClientRect();
        const touches = ${JSON.stringify(shares)}.map((share, identifier) =>
          new Touch({ identifier, target, clientX: left + share * width, clientY: top + 20 }));
        target.dispatchEvent(new TouchEvent('${name}', { touches, bubbles: true, cancelable: true }));
      })()`);
    const slider = page.getByRole('slider', { name: 'Moment' });
    const span = async (): Promise<number> =>
      Number(await slider.getAttribute('aria-valuemax')) - Number(await slider.getAttribute('aria-valuemin'));
    const whole = await span();
    await touch('touchstart', 0.25);
    await touch('touchmove', 0.75);
    expect(await page.getByText('Zoomed in.').count()).toBe(0);

    await touch('touchstart', 0.25, 0.75);
    await touch('touchmove', 0, 1);
    await touch('touchend');

    await page.getByText('Zoomed in.').waitFor();
    expect(Math.abs((await span()) - whole / 2)).toBeLessThan(5);
  });

  test('the arithmetic of each metric is that of promscaler explain', async () => {
    const { page, read, watched } = await open(LARGE);
    const snapshot = parseSnapshot(read('/snapshot'));
    const decision = decide(snapshot);
    const lines = explainLines({ snapshot, decision, status: null, now: snapshot.now });
    const after = (label: string): readonly string[] =>
      lines.filter((line) => line.startsWith(`    ${label}`)).map((line) => line.slice(12));
    const why = 'the loads of earlier days have not been read yet.';
    await page.getByText(`The forecast adds no replicas to this decision: ${why}`).waitFor();
    await page.locator('.forecast-strip').getByText(`There is no forecast yet: ${why}`).waitFor();
    await page.getByRole('row', { name: /^cpu .* 62 % 60 % 0\.8667 partly assumed 100/ }).waitFor();
    await page.getByText('How each count was computed').click();
    const list = page.locator('.arithmetic-list');
    await list.waitFor();
    expect(await list.locator('dt').allInnerTexts()).toHaveLength(5);
    expect(await list.locator('dd.mono').allInnerTexts()).toEqual(after('count'));
    expect(await list.locator('dd.hint').allInnerTexts()).toEqual(after('answer'));
    expect(after('count')).toHaveLength(5);
    expect(await findBarriers(page)).toEqual([]);
    expect(watched.faults).toEqual([]);
  });

  test('the values are a table as well', async () => {
    const { page, read } = await open(HEALTHY);
    await page.getByText('Values as a table').click();
    const table = page.getByRole('table', { name: /Replicas and metrics over time/ });
    await table.waitFor();
    const first = await table.locator('tbody tr').first().locator('td').allInnerTexts();
    const history = read('/history') as HistoryAnswer;
    expect(first.slice(1, 7)).toEqual(
      [
        history.currentReplicas,
        history.desiredReplicas,
        history.recommendedReplicas,
        history.minReplicas,
        history.maxReplicas,
        history.readyPods,
      ].map((column) => String(column.at(-1))),
    );
  });

  test('a decision appears without a reload', async () => {
    const { page, service } = await open(HEALTHY);
    service.answer({ others: tellStory(AT_MAXIMUM) });
    service.send('decision', {
      at: new Date().toISOString(),
      namespace: 'shop',
      name: 'web',
      outcome: { kind: 'patched', from: 7, to: 5, message: '' },
      reason: null,
      limits: [],
    });
    await page.getByRole('heading', { name: 'AtMaximum: stays at 5, not 10' }).waitFor();
  });

  test('the snapshot is downloaded as the API has it, and the command names the moment', async () => {
    const { page, read } = await open(HEALTHY);
    await clickChart(page, 0.95);
    const part = section(page, /^Decision at/);
    const downloading = page.waitForEvent('download');
    await part.getByRole('button', { name: 'Download snapshot' }).click();
    const download = await downloading;
    const at = momentOf(page);
    const text = await readFile(await download.path(), 'utf8');
    expect(JSON.parse(text)).toEqual(read(`/snapshot?at=${at}`));
    expect(download.suggestedFilename()).toMatch(/^shop-web-[\dTZ-]+\.json$/);
    const [command = '', shown = ''] = (await part.locator('code').innerText()).split(' --at ');
    expect(command).toBe('kubectl promscaler explain shop/web');
    expect(shown).toMatch(/\+01:00$/);
    expect(Date.parse(shown)).toBe(Date.parse(at));
  });
});

describe('a scaler in trouble', () => {
  test('the target cannot be read', async () => {
    const { page } = await open(UNREAD);
    const card = page.getByRole('region', { name: 'The last decision' });
    const text = await card.innerText();
    expect(text.split('deployments.apps "web" not found')).toHaveLength(2);
    expect(text).toMatch(/bounds 2 to 12\s+Last round\s/);
  });

  test('all metrics fail', async () => {
    const { page } = await open(BLIND);
    await page.getByRole('heading', { name: 'NoData: stays at 5' }).waitFor();
    await section(page, 'Last decision').getByText('connection refused').waitFor();
  });

  test('a scaler that does not exist', async () => {
    service = await startFakeService({ answers: {} });
    watched = await openPage(browser, `${service.url}#/scalers/shop/none`);
    await watched.page.getByRole('heading', { name: 'Not found' }).waitFor();
  });

  test('names, messages and labels are only text', async () => {
    const { page, watched } = await open(HOSTILE_STORY);
    await page.locator('.pods-group summary').first().click();
    await page.getByText('Transitions').click();
    await page.getByRole('button', { name: 'As YAML' }).click();
    await page.getByRole('button', { name: 'Try another document' }).click();
    await page.locator('.what-if').waitFor();
    expect(await page.locator('main img, main script, main [onerror]').count()).toBe(0);
    expect(await page.locator('main').innerText()).toContain('<script>alert(2)</script>');
    expect(watched.faults).toEqual([]);
    expect(await overflowOf(page)).toBe(0);
  });
});

describe('barriers', () => {
  const cases = {
    HEALTHY,
    AT_MAXIMUM,
    BLIND,
    UNREAD,
    FIRST_ROUND,
    FORECAST,
    LARGE,
    MANY_LIMITS,
    HOSTILE_STORY,
  };

  test.each(Object.entries(cases))('axe finds nothing, and nothing is too wide: %s', async (_name, story) => {
    const { page, watched } = await open(story, { width: 1280, scheme: 'light' });
    expect([await findBarriers(page), await overflowOf(page)]).toEqual([[], 0]);

    for (const [width, colorScheme] of [
      [390, 'dark'],
      [320, 'light'],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      await threeFrames(page);
      expect([await findBarriers(page), await overflowOf(page)]).toEqual([[], 0]);
    }
    expect(watched.faults).toEqual([]);
  });
});
