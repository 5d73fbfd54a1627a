import config from './jest.config.mjs';

/** The heavy proof of a night, a release and `.ci/run`: what an ordinary change seldom breaks, and the model with many runs. */
export default {
  ...config,
  testMatch: ['**/*.nightly.test.ts', '<rootDir>/libs/engine/test/model.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
};
