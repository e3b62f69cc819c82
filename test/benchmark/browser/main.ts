import { launchBrowser } from '../../browser/support/browser.js';
import { describeMachine, PAGE, print } from '../report.js';
import { type BrowserFigures, measureOverview } from './measure.js';
import { writeSection } from './write-section.js';

export const BROWSER_USAGE = `npm run bench -- browser [--write]

  --write  write the section of docs/benchmarks.md`;

/** Measures the overview of the dashboard in Chromium. */
export async function benchBrowser(args: readonly string[], version: string): Promise<void> {
  const browser = await launchBrowser();
  try {
    const machine = describeMachine({ promscaler: version, Chromium: browser.version() });
    console.log(machine);
    const results: BrowserFigures[] = [];
    for (const scalers of [100, 1000, 5000, 10_000]) {
      const figures = await measureOverview(browser, scalers);
      print(
        `${scalers.toLocaleString('en-US')} scalers: first rows after`,
        `${figures.firstRowsMs} ms`,
        'below 1 s',
      );
      print('  frames while scrolling', `${figures.framesPerSecond} /s`, '60 /s');
      print('  of a plain page', `${figures.plainFramesPerSecond} /s`, '');
      print('  main thread for a frame', `${figures.frameWorkMs} ms`, '');
      results.push(figures);
    }
    if (args.includes('--write')) writeSection(PAGE, results, machine);
  } finally {
    await browser.close();
  }
}
