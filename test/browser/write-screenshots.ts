import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from '@jest/globals';
import { CLI } from '../e2e/service-process.js';
import { cpuMetric, scalerYaml } from '../support/scaler-yaml.js';
import { AT, overviewOf, rowOf, serviceOf } from './support/answers.js';
import { type Viewer, launchBrowser, openPage } from './support/browser.js';
import { type FakeAnswers, startFakeService } from './support/fake-service.js';
import { SCREENSHOT_STATES } from './support/screenshot-states.js';
import { CAPPED } from './support/scaler-stories.js';
import { tellStory } from './support/scaler-story.js';
import { TROUBLED_FLEETS } from './support/troubled-fleets.js';

const IMAGES = join(import.meta.dirname, '../../docs/images');
const MAX_BYTES = 150_000;

interface Shot extends Viewer {
  readonly file: string;
  readonly hash: string;
  readonly answers: FakeAnswers;
  /** Text after which the page is complete. */
  readonly until: string;
}

const [TROUBLED = null] = Object.values(TROUBLED_FLEETS);
const SERVICE: FakeAnswers = { overview: () => overviewOf([rowOf()]), service: () => serviceOf() };

const SHOTS: readonly Shot[] = [
  { file: 'overview.png', hash: '#/', answers: TROUBLED?.answers ?? {}, until: 'Then', height: 727 },
  {
    file: 'scaler.png',
    hash: '#/scalers/shop/web',
    answers: { ...SERVICE, others: tellStory(CAPPED) },
    until: 'Largest proposal',
    height: 900,
  },
  { file: 'health-dark.png', hash: '#/health', answers: SERVICE, until: 'Live', height: 720, scheme: 'dark' },
];

it.each(SHOTS)('writes $file', async ({ file, hash, answers, until, ...viewer }) => {
  mkdirSync(IMAGES, { recursive: true });
  const browser = await launchBrowser();
  const service = await startFakeService({ answers });
  try {
    const { page, faults } = await openPage(browser, service.url + hash, { ...viewer, at: AT });
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

/** Not part of the repository. */
const SCREENSHOTS = join(import.meta.dirname, '../../dist/screenshots');
const WIDTHS = [1440, 1280, 390];
const MOST_HEIGHT = 4000;

const NAMED = process.env['SCREENSHOTS']?.split(',') ?? null;

it.each(SCREENSHOT_STATES.filter(({ name }) => NAMED?.includes(name) ?? true))(
  'writes $name at three widths in both themes',
  async ({ name, hash, answers, act, token }) => {
    mkdirSync(SCREENSHOTS, { recursive: true });
    const browser = await launchBrowser();
    const service = await startFakeService({ answers, ...(token === undefined ? {} : { token }) });
    try {
      const viewer = { width: 1440, height: 900, at: AT };
      const { page, faults } = await openPage(browser, service.url + hash, viewer);
      await act(page);
      for (const width of WIDTHS) {
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme });
          await page.waitForTimeout(300);
          const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
          await page.screenshot({
            path: join(SCREENSHOTS, `${name}-${width}-${colorScheme}.png`),
            fullPage: true,
            clip: { x: 0, y: 0, width, height: Math.min(height, MOST_HEIGHT) },
          });
        }
      }
      expect(faults).toEqual([]);
    } finally {
      await service.close();
      await browser.close();
    }
  },
);

/** Two days with a peak each, in steps of five minutes. */
const TRACE = Array.from({ length: 577 }, (_, step) => {
  const wave = 1 - Math.cos((step / 288) * 2 * Math.PI);
  return `${step * 300},${Math.round(40 + 130 * wave + 12 * Math.sin(step * 1.7))}`;
});

it('writes backtest.png', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'promscaler-backtest-'));
  const browser = await launchBrowser();
  try {
    writeFileSync(
      join(folder, 'web.yaml'),
      scalerYaml({ minReplicas: 2, maxReplicas: 60, metrics: [cpuMetric(50)] }),
    );
    writeFileSync(join(folder, 'days.csv'), ['t_seconds,value', ...TRACE].join('\n'));
    const page = ['--html', 'report.html', '--sweep', 'averageUtilization=50,65,80'];
    const input = ['--scaler', 'web.yaml', '--trace', 'days.csv', '--capacity', '10'];
    execFileSync(process.execPath, [CLI, 'backtest', ...input, ...page], { cwd: folder });
    const opened = await openPage(browser, pathToFileURL(join(folder, 'report.html')).href, { height: 760 });
    await opened.page.waitForTimeout(1000);
    await opened.page.screenshot({ path: join(IMAGES, 'backtest.png') });
    expect(opened.faults).toEqual([]);
    expect(statSync(join(IMAGES, 'backtest.png')).size).toBeLessThan(MAX_BYTES);
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
