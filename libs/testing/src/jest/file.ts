import type { Config } from '@jest/types';

/** A test file and the configuration it runs with. */
export interface TestFile {
  readonly path: string;
  readonly config: Config.ProjectConfig;
  readonly globalConfig: Config.GlobalConfig;
}
