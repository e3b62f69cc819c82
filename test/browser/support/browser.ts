import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type Locator, type Page, chromium } from 'playwright-core';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { findChromium } from '../../programs/find-chromium.js';

const ARGUMENTS = [
  // Root has no sandbox; the pages are the project's own.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** The first launch on a machine without Chromium downloads it: 200 MB. */
export const LAUNCH_TIMEOUT_MS = 600_000;

export async function launchBrowser(): Promise<Browser> {
  const report = (line: string): void => void process.stderr.write(`${line}\n`);
  const executablePath = await findChromium({ env: process.env, clock: SYSTEM_CLOCK, report });
  return chromium.launch({ executablePath, args: ARGUMENTS });
}

export interface Viewer {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
  /** RFC 3339; the time at which the page is opened. Default: now. */
  readonly at?: string;
}

/** A page of the dashboard with all that went wrong in it. */
export interface Watched {
  readonly page: Page;
  /** Errors of scripts, messages of the console at level error and warning, and requests to elsewhere. */
  readonly faults: readonly string[];
  readonly close: () => Promise<void>;
}

/**
 * Opens an address and waits for a heading. A failed request of the API is no fault: the browser reports each one in the
 * console, and the page shows it.
 */
export async function openPage(browser: Browser, url: string, viewer: Viewer = {}): Promise<Watched> {
  const { width = 1280, height = 800, scheme = 'light', at } = viewer;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    timezoneId: 'Europe/Berlin',
    locale: 'en-US',
  });
  if (at !== undefined) await context.clock.install({ time: at });
  const page = await context.newPage();
  const faults: string[] = [];
  const { origin } = new URL(url);
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) faults.push(`request to ${request.url()}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    const isFailedRequest = message.text().startsWith('Failed to load resource');
    if (['error', 'warning'].includes(message.type()) && !isFailedRequest)
      faults.push(`console: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  await page.locator('h1').waitFor();
  return { page, faults, close: () => context.close() };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Returns what axe finds, one line each: the rule and the elements. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(AXE);
  const found: unknown = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) =>
      id + ': ' + nodes.slice(0, 5).map(({ html, failureSummary }) => html.slice(0, 160) + ' ' + failureSummary).join(' | ')))`,
  );
  return Array.isArray(found) ? found.map(String) : ['axe has no result'];
}

/** Returns by how many pixels the page is wider than the window. */
export async function overflowOf(page: Page): Promise<number> {
  return Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
}

/** The region of a heading. */
export function section(page: Page, title: string | RegExp): Locator {
  return page.locator('section', { has: page.getByRole('heading', { name: title, level: 2 }) });
}

export function momentOf(page: Page): string {
  return new URLSearchParams(page.url().split('?')[1]).get('at') ?? '';
}

/** The moment once the slider shows the effect of the key. */
export async function momentAfter(page: Page, key: string): Promise<string> {
  const before = await page.locator('.chart-slider').getAttribute('aria-valuenow');
  await page.keyboard.press(key);
  await page.locator(`.chart-slider:not([aria-valuenow="${before}"])`).waitFor();
  return momentOf(page);
}
