import type { Page } from 'playwright-core';
import { STATE_NAMES } from '../../../src/decision/severity.js';
import {
  failingService,
  fleetOf,
  hostileRows,
  invalidRow,
  overviewOf,
  rowOf,
  serviceOf,
  stateOf,
} from './answers.js';
import { type FakeAnswers, FakeFailure } from './fake-service.js';
import {
  ASLEEP,
  AT_MAXIMUM,
  BLIND,
  CAPPED,
  CONFLICT,
  DRY_RUN,
  FIRST_ROUND,
  FIXED,
  FORECAST,
  HEALTHY,
  HOSTILE_STORY,
  LARGE,
  LOG_SCALE,
  MANY_LIMITS,
  NO_SERIES,
  PAUSED,
  UNREAD,
  WIDE_RANGE,
  WRITE_FAILED,
} from './scaler-stories.js';
import { tellStory } from './scaler-story.js';
import type { Story } from './scaler-story.js';
import { ONE_TROUBLE, TROUBLED_FLEETS } from './troubled-fleets.js';

/** What the dashboard shows, for a look at it. */
export interface ScreenshotState {
  readonly name: string;
  readonly hash: string;
  readonly answers: FakeAnswers;
  /** Waits for the page, and brings it into its state. */
  readonly act: (page: Page) => Promise<void>;
  readonly token?: string;
}

const SERVICE: FakeAnswers = { overview: () => overviewOf([rowOf()]), service: () => serviceOf() };
const ROW = '.scaler-row';

function list(name: string, answers: FakeAnswers, { hash = '#/', until = ROW } = {}): ScreenshotState {
  return {
    name: `list-${name}`,
    hash,
    answers: { service: () => serviceOf(), ...answers },
    act: async (page) => page.locator(until).first().waitFor(),
  };
}

function scaler(
  name: string,
  story: Story,
  act: ScreenshotState['act'] = () => Promise.resolve(),
): ScreenshotState {
  return {
    name: `scaler-${name}`,
    hash: '#/scalers/shop/web',
    answers: { ...SERVICE, others: tellStory(story) },
    act: async (page) => {
      await page.locator('.chart-slider canvas').waitFor();
      await page.locator('.document-fields').waitFor();
      await act(page);
    },
  };
}

const [FULL, UNREADY, DOWN] = Object.values(TROUBLED_FLEETS).map(({ answers }) => answers);
const CALM = fleetOf(600).map((row) =>
  row.state.severity === 'cannot-follow' ? { ...row, state: stateOf('OK') } : row,
);

const CAUSE = { cause: 'the cause of the state, in a few words' };

const TEAMS = ['payments', 'storefront', 'platform'];

/** Every fourth scaler has no team. */
function withTeams(rows: typeof CALM): typeof CALM {
  return rows.map((row, index) => {
    const group = TEAMS[index % 4];
    return group === undefined ? row : { ...row, group };
  });
}

async function clickChart(page: Page, share: number): Promise<void> {
  const box = await page.locator('.chart-slider .u-over').boundingBox();
  if (box !== null) await page.mouse.click(box.x + box.width * share, box.y + box.height / 2);
  await page.getByRole('heading', { name: /^Decision at/ }).waitFor();
}

async function tryDocument(page: Page, maximum: string): Promise<void> {
  await page.getByRole('button', { name: 'Try another document' }).click();
  await page.getByLabel('maxReplicas', { exact: true }).fill(maximum);
}

/** States of the pages, for a look at each. */
export const SCREENSHOT_STATES: readonly ScreenshotState[] = [
  list('maximum', FULL ?? {}, { until: '.start-next .remedy' }),
  list('unready', UNREADY ?? {}, { until: '.start-next .remedy' }),
  list('no-data', DOWN ?? {}, { until: '.start-next .remedy' }),
  list('one-trouble', ONE_TROUBLE, { until: '.start-next .remedy' }),
  list('invalid', { overview: () => overviewOf([...CALM.slice(0, 20), invalidRow()]) }),
  {
    name: 'scaler-invalid',
    hash: '#/scalers/shop/web',
    answers: { ...SERVICE, overview: () => overviewOf([invalidRow()]) },
    act: async (page) => page.locator('.what-to-do').waitFor(),
  },
  list('states', {
    overview: () =>
      overviewOf(
        STATE_NAMES.map((name) => rowOf({ name: `is-${name.toLowerCase()}`, state: stateOf(name, CAUSE) })),
      ),
  }),
  list('calm', { overview: () => overviewOf(CALM) }),
  list('5000', { overview: () => overviewOf(fleetOf(5000)) }),
  list('one', { overview: () => overviewOf([rowOf()]) }),
  list('none', { overview: () => overviewOf([]) }, { until: '.state-view' }),
  list('hostile', { overview: () => overviewOf(hostileRows()) }),
  list('by-namespace', { overview: () => overviewOf(CALM) }, { hash: '#/?group=namespace' }),
  list(
    'by-label',
    { overview: () => overviewOf(withTeams(CALM), { groupLabel: 'team' }) },
    { hash: '#/?group=label' },
  ),
  list('by-load', { overview: () => overviewOf(CALM) }, { hash: '#/?sort=-metric' }),
  list('no-match', { overview: () => overviewOf(CALM) }, { hash: '#/?q=nothing', until: '.state-view' }),
  list(
    'collapsed',
    { overview: () => overviewOf(CALM) },
    { hash: '#/?closed=ok,held', until: '.section-row' },
  ),
  list(
    'all-columns',
    { overview: () => overviewOf(CALM) },
    {
      hash: '#/?columns=replicas,trend,metric,reason,since,changed',
    },
  ),
  list('bad-service', { overview: () => overviewOf(CALM), service: () => failingService() }),
  list('standby', {
    overview: () => overviewOf(CALM, { leader: false }),
    service: () => serviceOf({ leader: 'promscaler-1' }),
  }),
  list(
    'failing',
    { overview: () => new FakeFailure(503, 'the service is starting') },
    { until: '.state-view' },
  ),
  {
    name: 'sign-in',
    hash: '#/',
    answers: SERVICE,
    token: 'secret',
    act: async (page) => page.getByRole('heading', { name: 'Sign in' }).waitFor(),
  },
  {
    name: 'keys',
    hash: '#/',
    answers: SERVICE,
    act: async (page) => {
      await page.locator('.keys').waitFor({ state: 'attached' });
      await page.keyboard.press('?');
    },
  },
  {
    name: 'no-page',
    hash: '#/nothing',
    answers: SERVICE,
    act: async (page) => page.locator('.state-view').waitFor(),
  },
  {
    name: 'health',
    hash: '#/health',
    answers: SERVICE,
    act: async (page) => page.locator('.health').waitFor(),
  },
  {
    name: 'health-bad',
    hash: '#/health',
    answers: { ...SERVICE, service: () => failingService() },
    act: async (page) => page.locator('.health').waitFor(),
  },
  scaler('healthy', HEALTHY),
  scaler('maximum', AT_MAXIMUM),
  scaler('capped', CAPPED),
  scaler('no-data', BLIND),
  scaler('no-target', UNREAD),
  scaler('first-round', FIRST_ROUND),
  scaler('large', LARGE),
  scaler('forecast', FORECAST),
  scaler('limits', MANY_LIMITS),
  scaler('hostile', HOSTILE_STORY),
  scaler('paused', PAUSED),
  scaler('wide-range', WIDE_RANGE),
  scaler('log-scale', LOG_SCALE),
  scaler('conflict', CONFLICT),
  scaler('dry-run', DRY_RUN),
  scaler('fixed', FIXED),
  scaler('write-failed', WRITE_FAILED),
  scaler('asleep', ASLEEP),
  scaler('no-series', NO_SERIES),
  scaler('pinned', HEALTHY, (page) => clickChart(page, 0.35)),
  scaler('week', HEALTHY, async (page) => page.getByRole('button', { name: '7 d' }).click()),
  scaler('table', HEALTHY, async (page) => page.getByText('Values as a table').click()),
  scaler('arithmetic', LARGE, async (page) => {
    // A chart that is still loading would move the text away from the click.
    await page.locator('.forecast-strip canvas').waitFor();
    await page.getByText('How each count was computed').click();
    await page.locator('.arithmetic-list').waitFor();
  }),
  scaler('what-if', AT_MAXIMUM, async (page) => {
    await tryDocument(page, '20');
    await page.getByRole('button', { name: 'Repeat the shown history with the change' }).click();
    await page.locator('.what-if-past table').waitFor();
  }),
  scaler('what-if-wave', HEALTHY, async (page) => {
    await tryDocument(page, '7');
    await page.getByRole('button', { name: 'Repeat the shown history with the change' }).click();
    await page.locator('.what-if-past table').waitFor();
  }),
  scaler('what-if-rejected', AT_MAXIMUM, (page) => tryDocument(page, 'many')),
];
