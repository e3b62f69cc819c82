/** @type {import('jest').Config} */
export default {
  testEnvironment: '<rootDir>/test/support/plain-context-environment.mjs',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  testSequencer: '<rootDir>/test/support/real-time-first.mjs',
  // Most of the time of the end-to-end tests is waiting: two cores serve four of them.
  maxWorkers: 4,
  // A test that hangs must end; how fast a busy machine is, no test should find out.
  testTimeout: 120_000,
  // Every worker keeps what it has loaded; past this it is replaced by a fresh one.
  workerIdleMemoryLimit: '1GB',
  reporters: ['default', '<rootDir>/test/support/plain-line-reporter.mjs'],
};
