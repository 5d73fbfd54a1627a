import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import type { V8CoverageResult } from '@jest/test-result';

/** Counts executed code until `take`, which resets the counts. */
export interface Coverage {
  /** Takes the coverage of the workspace's own sources, tests left out. */
  take(): Promise<V8CoverageResult>;
}

let session: Promise<Session> | undefined;

/**
 * Coverage as V8 counts it: stripping types keeps every position, so Jest's coverage reports need no source maps. It is
 * started before the first file of the process, for V8 counts blocks only in functions that were compiled later.
 */
export async function startCoverage(rootDir: string): Promise<Coverage> {
  session ??= connect();
  const profiler = await session;
  return {
    take: async () => {
      const { result } = await profiler.post('Profiler.takePreciseCoverage');
      return result
        .filter(({ url }) => url.startsWith('file://'))
        .map((script) => ({ ...script, url: fileURLToPath(script.url) }))
        .filter(({ url }) => isOwnSource(url, rootDir))
        .map((script) => ({ codeTransformResult: undefined, result: script }));
    },
  };
}

async function connect(): Promise<Session> {
  const profiler = new Session();
  profiler.connect();
  await profiler.post('Profiler.enable');
  await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return profiler;
}

function isOwnSource(path: string, rootDir: string): boolean {
  const isSource = path.startsWith(`${rootDir}/`) && path.includes('/src/') && !path.includes('/node_modules/');
  return isSource && !path.endsWith('.test.ts');
}
