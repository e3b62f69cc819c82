/** Tests of processes in real time: they wait more than they work. */
const IN_REAL_TIME = /^test\/(?:e2e|faults\/processes)\//;

/** The other tests that start a built program. */
const STARTS_PROGRAM =
  /^test\/(?:cli\/(?:interrupted|process-faults|completion\/shells)|config\/background-reader|image\/production|release\/package)\.test\.ts$/;

/** Whether a test, by its path in the repository, runs in real time. */
export function isInRealTime(path) {
  return IN_REAL_TIME.test(path);
}

/** Whether a test, by its path in the repository, starts what `buildPrograms` builds. */
export function startsProgram(path) {
  return IN_REAL_TIME.test(path) || STARTS_PROGRAM.test(path);
}
