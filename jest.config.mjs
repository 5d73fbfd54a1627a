/**
 * One Jest project for the whole workspace; a test file belongs to the package whose folder holds it. The heavy proof,
 * `*.nightly.test.ts`, has jest.nightly.config.mjs.
 */
export default {
  runner: '<rootDir>/libs/testing/src/jest/runner.ts',
  coverageProvider: 'v8', // the runner counts what V8 counts
  roots: ['<rootDir>/libs', '<rootDir>/services', '<rootDir>/scripts'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '\\.nightly\\.test\\.ts$'],
  globalSetup: '<rootDir>/libs/testing/src/jest/global-setup.ts',
  globalTeardown: '<rootDir>/libs/testing/src/jest/global-teardown.ts',
  transform: {}, // Node strips the types
  testTimeout: 180_000, // ends a test that hangs: machines under load are ten times slower
  // Tests wait for Postgres and for processes much of their time: a core that is kept free would be wasted.
  maxWorkers: '100%',
};
