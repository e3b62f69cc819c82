import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { CLI } from '../e2e/service-process.js';
import { cpuMetric, scalerYaml } from '../support/scaler-yaml.js';
import { findBarriers, launchBrowser, openPage, overflowOf, type Watched } from './support/browser.js';

const run = promisify(execFile);

const HOSTILE = '<img src=x onerror=alert(1)><script>alert(2)<script>.yaml';

const DOCUMENT = scalerYaml({ minReplicas: 2, metrics: [cpuMetric(60)] });

/** Two hours that rise from 20 to 200 and fall again, in steps of a minute. */
const TRACE = [
  't_seconds,value',
  ...Array.from({ length: 121 }, (_, minute) => `${minute * 60},${20 + 3 * (60 - Math.abs(60 - minute))}`),
].join('\n');

interface Report {
  readonly variants: readonly { readonly name: string; readonly figures: Readonly<Record<string, number>> }[];
}

describe('the page of backtest --html', () => {
  const folder = mkdtempSync(join(tmpdir(), 'promscaler-report-page-'));
  const file = join(folder, 'report.html');
  const url = pathToFileURL(file).href;
  let browser: Browser;
  let report: Report;
  let opened: Watched | null = null;

  const open = async (viewer: Parameters<typeof openPage>[2] = {}): Promise<Watched> => {
    opened = await openPage(browser, url, viewer);
    return opened;
  };

  const backtest = async (...more: readonly string[]): Promise<string> => {
    const args = ['backtest', '--scaler', 'web.yaml', '--trace', 'day.csv', '--capacity', '10', ...more];
    return (await run(process.execPath, [CLI, ...args], { cwd: folder })).stdout;
  };

  beforeAll(async () => {
    writeFileSync(join(folder, 'web.yaml'), DOCUMENT);
    writeFileSync(join(folder, HOSTILE.replaceAll('/', '')), DOCUMENT);
    writeFileSync(join(folder, 'day.csv'), TRACE);
    const more = ['--sweep', 'averageUtilization=50,70', '--against', HOSTILE, '--html', 'report.html'];
    report = JSON.parse(await backtest(...more, '-o', 'json')) as Report;
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await opened?.close();
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    [1280, 'light'],
    [390, 'dark'],
  ] as const)(
    'opens from a file at %d pixels, %s: no request, no fault, no barrier, no overflow',
    async (width, scheme) => {
      const { page, faults, close } = await open({ width, scheme });

      expect(await page.locator('.uplot').count()).toBe(2);
      expect(await findBarriers(page)).toEqual([]);
      expect(await overflowOf(page)).toBe(0);
      expect(faults).toEqual([]);
      await close();
    },
  );

  it.each([800, 1280])('shows the whole table of figures and its legend at %d pixels', async (width) => {
    const { page, close } = await open({ width });

    const region = "document.querySelector('.scroll')";
    expect(await page.evaluate(`${region}.scrollWidth - ${region}.clientWidth`)).toBe(0);
    expect(await page.locator('section', { has: page.locator('.scroll') }).innerText()).toMatch(
      /theta_U, theta_O: missing and surplus pods.*tau_U, tau_O: time with too few/s,
    );
    await close();
  });

  it('says first which variant is better, by how much and at what risk', async () => {
    const { page, close } = await open();

    const [first] = report.variants;
    const sentence = await page.locator('header p').first().innerText();
    expect(sentence).toMatch(
      new RegExp(`(better than |^)${first?.name}.* pod-hours .*too few pods in \\d+\\.\\d % of the time`),
    );
    await close();
  });

  it('has the colors of the dashboard, and a legend that names each line once', async () => {
    const { page, close } = await open();

    expect(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')).toBe(
      'rgb(246, 247, 249)',
    );
    const items = page.locator('.chart-legend').first().locator('.legend-item');
    const legend = (await items.allInnerTexts()).map((item) => item.trim());
    const names = (await page.locator('.scroll tbody label').allInnerTexts()).map((name) => name.trim());
    expect(legend.toSorted()).toEqual(['demand', ...names].toSorted());
    // The values and their time are those below the pointer.
    await page.locator('.u-over').first().hover();
    const values = (await items.allInnerTexts()).map((item) => /^(.*) [\d.]+( to [\d.]+)?$/.exec(item)?.[1]);
    expect(values.toSorted()).toEqual(['demand', ...names].toSorted());
    expect(await page.locator('.chart-legend-time').first().innerText()).toMatch(/^Jan 5, 0[123]:/);
    await close();
  });

  it('names the figures in words', async () => {
    const { page, close } = await open();

    const columns = (await page.locator('.scroll thead th').allInnerTexts()).slice(1, 5);
    expect(columns).toEqual(['missing pods %', 'surplus pods %', 'too few, time %', 'too many, time %']);
    await close();
  });

  it('shows the figures of -o json', async () => {
    const { page, close } = await open();

    const texts = await page.locator('.scroll tbody tr > *').allInnerTexts();
    const columns = await page.locator('.scroll thead th').count();
    const rows = report.variants.map((_, row) =>
      texts.slice(row * columns, (row + 1) * columns).map((text) => text.trim()),
    );

    const figuresOf = (figures: Readonly<Record<string, number>>): readonly (string | undefined)[] => [
      figures['theta_U']?.toFixed(2),
      figures['theta_O']?.toFixed(1),
      figures['pod_hours']?.toFixed(figures['pod_hours'] < 1 ? 2 : 1),
      figures['changes']?.toFixed(0),
    ];
    const shown = rows.map((cells) => [cells[0]?.replace(' *', ''), cells[1], cells[2], cells[9], cells[10]]);
    expect(shown).toEqual(report.variants.map(({ name, figures }) => [name, ...figuresOf(figures)]));
    await close();
  });

  it('opens the decision of a marker: the text of explain', async () => {
    const { page, faults, close } = await open();
    const first = await page.locator('#changes option').first().innerText();
    const [, from = '', to = ''] = /(\d+) -> (\d+)/.exec(first) ?? [];
    const over = page.locator('.uplot .u-over').first();
    const box = await over.boundingBox();
    // The first change is near the left edge: every place in that part is tried, as a user would.
    const decision = page.locator('#decision');
    for (let x = 0; x < 160 && (await decision.innerText()) === 'Choose a change.'; x += 8)
      for (let y = 8; y < (box?.height ?? 0) && (await decision.innerText()) === 'Choose a change.'; y += 16)
        await over.click({ position: { x, y } });

    const text = await decision.innerText();
    expect(text).toMatch(
      new RegExp(
        `shop/web {2}scales (?:up|down) from ${from} to ${to}.* \\(Deployment web, bounds 2 to 20\\)`,
      ),
    );
    expect(text).toContain('\nConditions\n');
    expect(faults).toEqual([]);
    await close();
  });

  it('shows times in the zone of the viewer, and in UTC on hover', async () => {
    const { page, close } = await open();

    const header = page.locator('header');
    expect(await header.innerText()).toContain('Jan 5, 01:00:00 to Jan 5, 03:01:00, times in GMT+1');
    expect(await header.locator('time').first().getAttribute('title')).toBe(
      'Jan 5, 01:00:00 GMT+1, 2026-01-05 00:00:00 UTC',
    );
    const option = page.locator('#changes option').first();
    const [, clock = ''] = /^Jan 5, (01:\d\d:\d\d) +\d+ -> \d+$/.exec(await option.innerText()) ?? [];
    expect(await option.getAttribute('title')).toContain(` 2026-01-05 ${clock.replace('01:', '00:')} UTC`);
    await page.selectOption('#changes', { index: 0 });
    expect(await page.locator('#decision').innerText()).toContain(`decided at Jan 5, ${clock}: `);
    expect(await page.locator('#decision time').first().getAttribute('title')).toContain(' UTC');
    await page.locator('.u-over').first().hover();
    expect(await page.locator('.chart-legend').first().innerText()).toMatch(/Jan 5, 0[123]:/);
    expect(await page.locator('body').innerText()).not.toMatch(/\d{4}-\d\d-\d\dT/);
    await close();
  });

  it('shows another run, with its changes', async () => {
    const { page, close } = await open();

    await page.selectOption('#run', 'averageUtilization=50');
    await page.selectOption('#changes', { index: 0 });

    expect(await page.locator('#decision').innerText()).toContain('target 50 %');
    await close();
  });

  it('contains hostile names as text only', async () => {
    const { page, faults, close } = await open();

    expect(await page.locator('img').count()).toBe(0);
    expect(await page.locator('.scroll tbody').innerText()).toContain(HOSTILE);
    expect(faults).toEqual([]);
    await close();
  });

  it('admits no other script, style or address', () => {
    const text = readFileSync(file, 'utf8');

    expect(text).toMatch(
      /content="default-src 'none'; script-src 'sha256-[\w+/=]+'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'"/,
    );
    expect(text.match(/<script/g)).toHaveLength(2);
  });
});
