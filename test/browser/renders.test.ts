import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { overviewOf, rowOf, serviceOf, stateOf } from './support/answers.js';
import { LAUNCH_TIMEOUT_MS, launchBrowser, openPage } from './support/browser.js';
import { type FakeService, startFakeService } from './support/fake-service.js';
import { AT_MAXIMUM } from './support/scaler-stories.js';
import { tellStory } from './support/scaler-story.js';

const BUILD = join(import.meta.dirname, '../support/build-counting.mjs');

let browser: Browser;
let service: FakeService | null = null;
const dashboard = mkdtempSync(join(tmpdir(), 'promscaler-renders-'));

beforeAll(async () => {
  execFileSync(process.execPath, [BUILD, dashboard]);
  browser = await launchBrowser();
}, LAUNCH_TIMEOUT_MS);
afterEach(async () => {
  await service?.close();
});
afterAll(async () => {
  await browser.close();
  rmSync(dashboard, { recursive: true, force: true });
});

/** Five seconds, in which the right edge of the charts moves once. */
const STEP_MS = 5000;

interface Renders {
  /** Renderings of each component in 4 s. */
  readonly before: Readonly<Record<string, number>>;
  /** In the second after that, which starts another step of five seconds. */
  readonly after: Readonly<Record<string, number>>;
  /** Elements with a time. */
  readonly times: number;
}

async function rendersOf(hash: string, until: string): Promise<Renders> {
  const cart = rowOf({ name: 'cart', state: stateOf('AtMaximum', { cause: 'full' }) });
  service = await startFakeService({
    dashboard,
    answers: {
      overview: () => overviewOf([rowOf(), cart]),
      service: () => serviceOf(),
      others: { ...tellStory(AT_MAXIMUM), ...tellStory({ ...AT_MAXIMUM, name: 'cart' }) },
    },
  });
  const { page, faults, close } = await openPage(browser, service.url);
  await page.clock.install();
  await page.goto('about:blank');
  await page.goto(service.url + hash);
  await page.getByText(until).first().waitFor();
  // From now on no answer arrives.
  await page.route('**/api/**', () => undefined);
  const nowMs = Number(await page.evaluate('Date.now()'));
  const stepMs = Math.ceil((nowMs + 2000) / STEP_MS) * STEP_MS;
  await page.clock.pauseAt(stepMs - 500);
  // Components of a busy machine may follow the time from the next second on only.
  await page.clock.runFor(1100);
  const count = async (ms: number): Promise<Renders['before']> => {
    await page.evaluate('globalThis.renders = {}');
    await page.clock.runFor(ms);
    return page.evaluate<Renders['before']>('globalThis.renders');
  };
  const [before, after] = [await count(4000), await count(1000)];
  const times = await page.locator('time').count();
  expect(faults).toEqual([]);
  await close();
  return { before, after, times };
}

describe('while no answer arrives', () => {
  it.each([
    ['#/', 'Run now'],
    ['#/health', 'Last round'],
    ['#/scalers/shop/web', 'Largest proposal'],
  ])('only ages render in 4 s of %s, each once a second', async (hash, until) => {
    const { before, times } = await rendersOf(hash, until);

    const { TimeText = 0, ...others } = before;
    expect(others).toEqual({});
    expect(TimeText).toBeLessThanOrEqual(4 * times);
  });

  it('only the charts of a scaler move every 5 s', async () => {
    const { after } = await rendersOf('#/scalers/shop/web', 'Largest proposal');

    expect(after).toMatchObject({ Charts: 1 });
    expect(Object.keys(after)).not.toContain('ScalerContent');
    expect(Object.keys(after)).not.toContain('VerdictCard');
  });
});
