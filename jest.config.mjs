/** One Jest project for the whole workspace; a test file belongs to the package whose folder holds it. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/libs', '<rootDir>/services', '<rootDir>/scripts'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  globalSetup: '<rootDir>/libs/testing/src/jest-global-setup.ts',
  globalTeardown: '<rootDir>/libs/testing/src/jest-global-teardown.ts',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2023' }, module: { type: 'es6' }, sourceMaps: 'inline' },
    ],
  },
  transformIgnorePatterns: ['/node_modules/'],
  testTimeout: 30_000,
  // Tests wait for Postgres and for processes much of their time: a core that is kept free would be wasted.
  maxWorkers: '100%',
};
