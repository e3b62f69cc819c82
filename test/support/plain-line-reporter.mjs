/** Ends a run on the plain line `N passed, N failed, N skipped`, which any check runner can read. */
export default class PlainLineReporter {
  onRunComplete(_contexts, results) {
    const skipped = results.numPendingTests + results.numTodoTests;
    // A test file that cannot be loaded has no tests to count.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    // Jest's own summary comes after its reporters: only the end of the process is late enough for the last line.
    process.once('exit', () => {
      process.stdout.write(`${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`);
    });
  }
}
