import { createMetrics, silentLogger } from '@pipeline/runtime';
import { closedWithFile } from '@pipeline/testing/closing';
import { createPipeline, type Pipeline } from '../../src/process/pipeline.ts';
import { configOf } from './served-app.ts';

/** All that a monitor runs on a database; without a repo or a host unless given. */
export const pipelineOf = async (
  databaseUrl: string,
  over: Partial<Parameters<typeof createPipeline>[0]> = {},
): Promise<Pipeline> => {
  const pipeline = createPipeline({
    databaseUrl,
    directUrl: databaseUrl,
    poolSize: 4,
    hosts: [],
    config: await configOf(),
    instance: 'test',
    variables: {},
    dockerHost: 'unix:///nowhere.sock',
    log: silentLogger,
    metrics: createMetrics(),
    now: () => new Date(),
    ...over,
  });
  pipeline.stop = closedWithFile(pipeline.stop);
  return pipeline;
};
