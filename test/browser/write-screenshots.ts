import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { overviewOf, serviceOf } from './support/answers.js';
import { type Viewer, launchBrowser, openPage } from './support/browser.js';
import { type FakeAnswers, startFakeService } from './support/fake-service.js';
import { SHOWCASE } from './support/showcase.js';
import { HEALTHY } from './support/scaler-stories.js';
import { tellStory } from './support/scaler-story.js';

const IMAGES = join(import.meta.dirname, '../../docs/images');
const MAX_BYTES = 150_000;

interface Shot extends Viewer {
  readonly file: string;
  readonly hash: string;
  readonly answers: FakeAnswers;
  /** Text after which the page is complete. */
  readonly until: string;
}

const FLEET: FakeAnswers = {
  overview: () => overviewOf(SHOWCASE),
  service: () => serviceOf(),
};

const SHOTS: readonly Shot[] = [
  { file: 'overview.png', hash: '#/', answers: FLEET, until: 'Live', height: 700 },
  {
    file: 'scaler.png',
    hash: '#/scalers/shop/web',
    answers: { ...FLEET, others: tellStory(HEALTHY) },
    until: 'Largest proposal',
    height: 900,
  },
  { file: 'health-dark.png', hash: '#/health', answers: FLEET, until: 'Live', height: 720, scheme: 'dark' },
];

it.each(SHOTS)('writes $file', async ({ file, hash, answers, until, ...viewer }) => {
  mkdirSync(IMAGES, { recursive: true });
  const browser = await launchBrowser();
  const service = await startFakeService({ answers });
  try {
    const { page, faults } = await openPage(browser, service.url + hash, viewer);
    await page.getByText(until, { exact: true }).waitFor();
    // Charts are drawn when the page has its size.
    await page.waitForTimeout(1000);
    await page.screenshot({ path: join(IMAGES, file) });
    expect(faults).toEqual([]);
    expect(statSync(join(IMAGES, file)).size).toBeLessThan(MAX_BYTES);
  } finally {
    await service.close();
    await browser.close();
  }
});
