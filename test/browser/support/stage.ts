import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type Viewer, type Watched, LAUNCH_TIMEOUT_MS, launchBrowser, openPage } from './browser.js';
import { type FakeAnswers, type FakeService, startFakeService } from './fake-service.js';

export interface Stage {
  /** Starts a service with these answers and opens a page of its dashboard. */
  readonly open: (answers: FakeAnswers, options?: StageOptions) => Promise<StagePage>;
}

interface StageOptions extends Viewer {
  readonly hash?: string;
  readonly token?: string;
}

export interface StagePage {
  readonly page: Page;
  readonly service: FakeService;
  readonly faults: Watched['faults'];
}

/** One browser for a test file. Each test ends without an error, a warning or a request to elsewhere in its pages. */
export function useStage(): Stage {
  let browser: Browser | null = null;
  let pages: Watched[] = [];
  let services: FakeService[] = [];
  beforeAll(async () => {
    browser = await launchBrowser();
  }, LAUNCH_TIMEOUT_MS);
  afterEach(async () => {
    const faults = pages.flatMap((page) => page.faults);
    for (const page of pages) await page.close();
    for (const service of services) await service.close();
    pages = [];
    services = [];
    expect(faults).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
  });
  return {
    open: async (answers, { hash = '#/', token, ...viewer } = {}) => {
      if (browser === null) throw new Error('the browser does not run');
      const service = await startFakeService({ answers, ...(token === undefined ? {} : { token }) });
      services.push(service);
      const watched = await openPage(browser, service.url + hash, viewer);
      pages.push(watched);
      return { page: watched.page, service, faults: watched.faults };
    },
  };
}
