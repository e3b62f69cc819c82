import { relative, sep } from 'node:path';

/** The tests of `npm run test:services`: services as processes, the dashboard in Chromium, releases of the chart. */
export const SERVICES = ['test/browser', 'test/chart/upgrade', 'test/e2e', 'test/faults/processes'];

/** Tests in real time: they wait more than they work. */
const IN_REAL_TIME =
  /^test\/(?:e2e\/|faults\/processes\/|cli\/run\/|service\/|(?:browser\/demo|chart\/service|cli\/doctor\/real-prometheus|prometheus\/victoria-metrics-restart|simulator\/kubectl)\.test\.ts$)/;

/** The longest of them. In a fresh clone, jest does not know which these are. */
const LONGEST =
  /^test\/e2e\/(?:main-metrics|closed-loop|demo|(?:load|outage)(?:-victoria-metrics)?|leadership)\.test\.ts$/;

/** Tests that start a built program. */
const STARTS_PROGRAM =
  /^test\/(?:browser\/|e2e\/|faults\/processes\/|(?:cli\/(?:interrupted|process-faults|output\/local-times|backtest\/run-jobs-in-workers|completion\/shells|run\/heap-growth)|config\/background-reader|docs-workflow|image\/(?:bundle|production)|release\/package)\.test\.ts$)/;

/** Returns a test's path in the repository. */
export function pathOf({ path, context }) {
  return relative(context.config.rootDir, path).replaceAll(sep, '/');
}

/** Whether a test, by its path in the repository, runs in real time. */
export function isInRealTime(path) {
  return IN_REAL_TIME.test(path);
}

/** Whether a test, by its path in the repository, should start first. */
export function isLongest(path) {
  return LONGEST.test(path);
}

/** Whether a test, by its path in the repository, starts what `buildPrograms` builds. */
export function startsProgram(path) {
  return STARTS_PROGRAM.test(path);
}
