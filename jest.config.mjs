import { SERVICES } from './test/support/programs-of-tests.mjs';

// Without a path, the tests of services are left out: `npm run test:services` passes their paths.
const hasPath = process.argv.slice(2).some((arg) => !arg.startsWith('-') || arg.includes('test/'));

// Commands print local times.
process.env['TZ'] = 'UTC';

/** @type {import('jest').Config} */
export default {
  testEnvironment: '<rootDir>/test/support/plain-context-environment.mjs',
  runtime: '<rootDir>/test/support/shared-modules-runtime.cjs',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: hasPath ? [] : SERVICES.map((path) => `<rootDir>/${path}`),
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.jsx?$': '$1' },
  transform: {
    '^.+\\.tsx?$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', tsx: true },
          target: 'es2022',
          transform: { react: { runtime: 'automatic', importSource: 'preact' } },
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  setupFiles: ['<rootDir>/test/support/fixed-seed.ts'],
  // It has more workers for the tests that wait in real time.
  runner: '<rootDir>/test/support/two-lanes.mjs',
  maxWorkers: '100%',
  // A test that hangs must end; how fast a busy machine is, no test should find out.
  testTimeout: 240_000,
  // Every worker keeps what it has loaded; past this it is replaced by a fresh one.
  workerIdleMemoryLimit: '1GB',
  reporters: ['default', '<rootDir>/test/support/plain-line-reporter.mjs'],
};
