/** The requests of operators, as the documents show them, sent by curl from a shell to a monitor. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { documentedBlock } from '@pipeline/testing/documented-block';
import type { Pipeline } from '../../src/process/pipeline.ts';
import { admit, makeBench } from '../support/bench.ts';
import { pipelineOf } from '../support/pipeline-of.ts';
import { authOf, OLGA, serveApp } from '../support/served-app.ts';

const database = testDatabase();
let url: string;
let close: () => Promise<void>;
let pipeline: Pipeline;

/** Runs commands as a reader does; curl also fails on a status of 400 and more. */
async function shell(commands: string) {
  const strict = 'curl() { command curl --fail-with-body "$@"; }\n';
  const child = spawn('bash', ['--norc', '-eo', 'pipefail', '-c', strict + commands], {
    env: { PATH: process.env.PATH, MONITOR: url, LOGIN: `${OLGA.username}:${OLGA.password}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: await ended, output, errors };
}

describe('the documents', () => {
  beforeAll(async () => {
    const bench = await makeBench(database.store, 'acme/shop');
    const issueId = await admit(bench, 7);
    await database.db
      .updateTable('issues')
      .set({
        state: 'failure-blocked',
        is_blocked: true,
        blocked_from_state: 'planning',
        block_reason: 'unknown',
        block_classification: 'permanent',
      })
      .where('id', '=', issueId)
      .execute();
    pipeline = await pipelineOf(database.url);
    await pipeline.storeWatch.check();
    pipeline.start();
    const { dashboard } = pipeline;
    ({ url, close } = await serveApp({ auth: authOf([OLGA]), pipeline, dashboard }));
  });
  afterAll(async () => {
    pipeline.feed.close();
    await close();
    await pipeline.stop();
  });

  test.each([
    ['docs/operations.md', 'curl -su "$LOGIN" "$MONITOR/api/issues?q=checkout"'],
    ['docs/operations.md', 'curl -su "$LOGIN" "$MONITOR/api/issues/actions" \\'],
    ['docs/operations.md', 'api() { curl -su "$LOGIN" "$MONITOR/api/tracks$1"'],
    ['docs/runbooks/consistency.md', 'curl -u "$LOGIN" "$MONITOR/api/consistency?limit=500"'],
    ['docs/runbooks/dead-letters.md', 'curl -u "$LOGIN" "$MONITOR/api/dead-letters?limit=500"'],
    ['docs/runbooks/dead-letters.md', '    curl -u "$LOGIN" -X POST "$MONITOR/api/dead-letters/resolve-all"'],
    ['docs/runbooks/regressions.md', 'curl -su "$LOGIN" "$MONITOR/api/digest"'],
    ['docs/runbooks/regressions.md', 'curl -su "$LOGIN" "$MONITOR/api/regression-guard"'],
    ['docs/runbooks/tracks.md', 'curl -su "$LOGIN" "$MONITOR/api/si-tracks"'],
  ])('runs the requests of %s when they begin with: %s', async (document, first) => {
    const { status, output } = await shell(documentedBlock(document, first));
    expect({ status, output: status === 0 ? '' : output }).toEqual({ status: 0, output: '' });
  });

  test('fails when a documented route does not exist', async () => {
    expect((await shell('curl -su "$LOGIN" "$MONITOR/api/nothing"\necho done')).output).not.toContain('done');
  });
});
