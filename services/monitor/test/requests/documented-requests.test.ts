/** The requests of operators, as the documents show them, sent by curl from a shell to a monitor. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { documentedBlock } from '@pipeline/testing/documented-block';
import type { Pipeline } from '../../src/process/pipeline.ts';
import { addDeadLetter, admit, type Bench, makeBench } from '../support/bench.ts';
import { pipelineOf } from '../support/pipeline-of.ts';
import { authOf, OLGA, serveApp } from '../support/served-app.ts';

const database = testDatabase();
let url: string;
let close: () => Promise<void>;
let pipeline: Pipeline;
let bench: Bench;

/** Runs commands as a reader does; curl also fails on a status of 400 and more. */
async function shell(commands: string, variables: Record<string, string> = {}) {
  const strict = 'curl() { command curl --fail-with-body "$@"; }\n';
  const child = spawn('bash', ['--norc', '-eo', 'pipefail', '-c', strict + commands], {
    env: { PATH: process.env.PATH, MONITOR: url, LOGIN: `${OLGA.username}:${OLGA.password}`, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: await ended, output, errors };
}

describe('the documents', () => {
  beforeAll(async () => {
    bench = await makeBench(database.store, 'acme/shop');
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

  /** A block with the address of the monitor, with this one in its place. */
  const definitions = (document: string) =>
    documentedBlock(document, "MONITOR=http://localhost:8090 LOGIN='operator:its password'")
      .replace('http://localhost:8090', url)
      .replace('operator:its password', `${OLGA.username}:${OLGA.password}`);
  const undefinedHere = { MONITOR: '', LOGIN: '' };

  test.each([
    'docs/runbooks/consistency.md',
    'docs/runbooks/dead-letters.md',
    'docs/runbooks/regressions.md',
    'docs/runbooks/tracks.md',
  ])('%s defines the variables of its requests when the reader has none', async (document) => {
    const request = 'curl -su "$LOGIN" "$MONITOR/api/issues?q=checkout"';
    const { status, output } = await shell(`${definitions(document)}\n${request}`, undefinedHere);
    expect([status, JSON.parse(output)]).toEqual([0, expect.objectContaining({ items: expect.any(Array) })]);
  });

  test('docs/operations.md reloads the configuration when the reader has defined nothing', async () => {
    const { output } = await shell(definitions('docs/operations.md'), undefinedHere);
    // This monitor was started without a file.
    expect(JSON.parse(output)).toMatchObject({ code: 'NO_CONFIG_FILE' });
  });

  test.each([
    ['retry', 8],
    ['resolve', 9],
  ])(
    'docs/runbooks/dead-letters.md has the request to %s a dead letter when its id is known',
    async (action, issue) => {
      const ID = await addDeadLetter(bench, issue);
      const block = documentedBlock(
        'docs/runbooks/dead-letters.md',
        `    curl -u "$LOGIN" -X POST "$MONITOR/api/dead-letters/$ID/${action}"`,
      );
      const { status, output } = await shell(block, { ID });
      expect([status, JSON.parse(output)]).toEqual([0, expect.objectContaining({ ok: true })]);
    },
  );

  test('fails when a documented route does not exist', async () => {
    expect((await shell('curl -su "$LOGIN" "$MONITOR/api/nothing"\necho done')).output).not.toContain('done');
  });
});
