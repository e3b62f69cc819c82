import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type DemoProcess, startDemo } from '../e2e/demo-process.js';
import { type Watched, LAUNCH_TIMEOUT_MS, findBarriers, launchBrowser, openPage } from './support/browser.js';
import { until } from '../support/until.js';

describe('the dashboard of the demo', () => {
  let browser: Browser;
  let demo: DemoProcess;
  let watched: Watched | null = null;
  let url = '';

  beforeAll(async () => {
    demo = startDemo();
    browser = await launchBrowser();
    await demo.opened();
    url = `${/curl (\S+)\/metrics/.exec(demo.output())?.[1] ?? ''}/`;
  }, LAUNCH_TIMEOUT_MS);

  afterEach(async () => {
    const faults = watched?.faults;
    await watched?.close();
    watched = null;
    expect(faults).toEqual([]);
  });

  afterAll(async () => {
    await browser.close();
    demo.dispose();
  });

  it('shows the scalers, finds one, and shows changes without a reload', async () => {
    watched = await openPage(browser, url);
    const { page } = watched;
    const links = page.locator('.scaler-row .cell-name a > bdi');
    const names = async (): Promise<string> => (await links.allInnerTexts()).toSorted().join();
    await until(async () => (await names()) === 'checkout,mailer,search', 'the scalers of the demo');
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await findBarriers(page)).toEqual([]);

    await page.getByLabel('Search scalers').fill('mail');
    await until(async () => (await names()) === 'mailer', 'the found scaler');
    await page.getByLabel('Search scalers').fill('');
    await page.evaluate('globalThis.isSamePage = true');
    const replicas = async (): Promise<string> => (await page.locator('.replicas').allInnerTexts()).join();
    const before = await replicas();
    await until(async () => (await replicas()) !== before, 'a change of replicas', 90);
    expect(await page.evaluate('globalThis.isSamePage')).toBe(true);

    await page.getByRole('link', { name: 'checkout' }).click();
    await page.getByRole('heading', { level: 1, name: 'checkout' }).waitFor();
  });

  it('shows that everything works', async () => {
    watched = await openPage(browser, `${url}#/health`, { width: 390, scheme: 'dark' });
    const { page } = watched;

    await page.locator('.health-verdict').nth(5).waitFor();
    expect(await page.locator('.health-verdict.tone-bad').allInnerTexts()).toEqual([]);
    expect(await findBarriers(page)).toEqual([]);
  });
});
