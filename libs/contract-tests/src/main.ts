#!/usr/bin/env node
import { randomInt } from 'node:crypto';
import { appendFile, writeFile } from 'node:fs/promises';
import { hostedSurface, monitorSurface } from '@pipeline/contract';
import manifest from '../package.json' with { type: 'json' };
import { type ContractOptions, contractCommand, EXIT } from './options.ts';
import { reportJson } from './report/json.ts';
import { junitText } from './report/junit.ts';
import { markdownText } from './report/markdown.ts';
import { problemCount } from './report/report.ts';
import { reportText } from './report/terminal.ts';
import { runSuites } from './run-suites.ts';
import { openSurface, TargetError } from './target/open-surface.ts';

const command = contractCommand(manifest.version).parse();
const { seed = randomInt(2 ** 31), ...options } = command.opts<ContractOptions>();
const { hosted, monitor } = options;
if (hosted === undefined && monitor === undefined) command.error('error: --hosted or --monitor is needed');
const known = [...hostedSurface.routes, ...monitorSurface.routes].map(({ id }) => id as string);
const unknown = [...options.only, ...options.skip.map(([endpoint]) => endpoint)].find((id) => !known.includes(id));
if (unknown !== undefined) command.error(`error: no endpoint is named ${unknown}`);

const secret = (name: string): string | undefined => process.env[name] || undefined;
const password = secret(options.passwordEnv);
const token = options.token ?? secret(options.tokenEnv);
const workerToken = secret(options.workerTokenEnv);
const webhookSecret = secret(options.webhookSecretEnv);
const given = {
  ...(token !== undefined && { token }),
  ...(workerToken !== undefined && { workerToken }),
  ...(webhookSecret !== undefined && { webhookSecret }),
  ...(options.user !== undefined && password !== undefined && { operator: { username: options.user, password } }),
  refusedTokens: options.refusedTokenEnv.flatMap((name) => secret(name) ?? []),
};
const common = { given, webhookSecret, timeoutMs: options.timeout, longestRetrySeconds: options.longestRetry };

/** Ends with the status that `--help` documents. */
async function main(): Promise<void> {
  const surfaces = await Promise.all([
    ...(hosted === undefined ? [] : [openSurface({ url: hosted, surface: hostedSurface, ...common })]),
    ...(monitor === undefined ? [] : [openSurface({ url: monitor, surface: monitorSurface, ...common })]),
  ]);
  const report = await runSuites(surfaces, { ...options, seed }, (line) => process.stderr.write(`${line}\n`));
  process.stdout.write(`${reportText(report)}\n`);
  const { json, junit, markdown } = options;
  if (json !== undefined) await writeFile(json, `${JSON.stringify(reportJson(report), null, 2)}\n`);
  if (junit !== undefined) await writeFile(junit, junitText(report));
  if (markdown !== undefined) await appendFile(markdown, markdownText(report));
  process.exitCode = problemCount(report) === 0 ? EXIT.ok : EXIT.findings;
}

main().catch((error: unknown) => {
  if (!(error instanceof TargetError)) throw error;
  command.error(`error: ${error.message}`, { exitCode: EXIT.config });
});
