import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import type { ForecastLoads } from '../../src/api/answers.js';
import { launchBrowser, openPage } from './support/browser.js';
import { startFakeService } from './support/fake-service.js';
import { FORECAST } from './support/scaler-stories.js';
import { tellStory } from './support/scaler-story.js';

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('the expected load is a band until an hour from now, and what was expected is behind what came', async () => {
  const others = tellStory(FORECAST);
  const answer = others['scalers/shop/web/forecast']?.(new URL('http://fake/'));
  const { at, load, low, expected, high } = answer as ForecastLoads;
  const now = load.findLastIndex((one) => one !== null);
  const ahead = expected.slice(now + 1);
  expect(at.slice(now + 1)).toHaveLength(60);
  const most = now + 1 + ahead.indexOf(Math.max(...ahead.map((one) => one ?? 0)));
  const known = [load[now], expected[most], low[most], high[most]].map((one) =>
    String(Number(one?.toPrecision(3))),
  );
  // A rise behind now was expected when it came, and one 18 minutes ahead of now is.
  const peak = load.indexOf(Math.max(...load.map((one) => one ?? 0)));
  expect(expected[peak]).toBeGreaterThan(7);
  expect(expected[most]).toBeGreaterThan(8);

  const service = await startFakeService({ answers: { others } });
  const { page, faults, close } = await openPage(browser, `${service.url}#/scalers/shop/web`);
  const strip = page.locator('.forecast-strip');
  await strip.waitFor();
  const text = new RegExp(
    `Now ${known[0]}\\. The forecast expects at most ${known[1]} within the next hour, at (?:\\w+ \\d+, )?\\d\\d:\\d\\d \\(earlier days: ${known[2]} to ${known[3]}\\)\\.`,
  );
  await strip.getByRole('img', { name: text }).waitFor();
  expect(await strip.locator('.hint').last().innerText()).toMatch(text);
  expect(await strip.locator('.legend-item').allInnerTexts()).toEqual([
    `load ${known[0]}`,
    expect.stringMatching(/^expected \d/),
    expect.stringMatching(/^earlier days \d.* to \d/),
  ]);

  // A quarter of the chart is after now: the last decision is at 0.75.
  const clickAt = async (share: number): Promise<void> => {
    const box = await strip.locator('.u-over').boundingBox();
    if (box === null) throw new Error('the chart has no place');
    await page.mouse.click(box.x + box.width * share, box.y + box.height / 2);
  };
  await clickAt(0.9);
  await page.getByRole('heading', { name: 'Last decision' }).waitFor();
  expect(page.url()).not.toContain('at=');
  await clickAt(0.6);
  await page.getByRole('heading', { name: /^Decision at/ }).waitFor();
  expect(faults).toEqual([]);
  await close();
  await service.close();
});
