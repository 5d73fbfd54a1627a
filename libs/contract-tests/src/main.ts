#!/usr/bin/env node
import { randomInt } from 'node:crypto';
import { appendFile, writeFile } from 'node:fs/promises';
import { hostedSurface, monitorSurface } from '@pipeline/contract';
import type { Command } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { diffCommand } from './diff/diff-command.ts';
import { type ContractOptions, contractCommand, EXIT, UsageCommand } from './options.ts';
import { reportJson } from './report/json.ts';
import { junitText } from './report/junit.ts';
import { markdownText } from './report/markdown.ts';
import { problemCount } from './report/report.ts';
import { reportText } from './report/terminal.ts';
import { runSuites } from './run-suites.ts';
import { openSurface, TargetError } from './target/open-surface.ts';

/** Runs the chosen suites and sets the exit status that `--help` documents. */
async function testTarget(given: Command): Promise<void> {
  const { seed = randomInt(2 ** 31), ...options } = given.opts<ContractOptions>();
  requireNames(given, options);
  const { hosted, monitor, json, junit, markdown } = options;
  const common = commonOf(options);
  const surfaces = await Promise.all([
    ...(hosted === undefined ? [] : [openSurface({ url: hosted, surface: hostedSurface, ...common })]),
    ...(monitor === undefined ? [] : [openSurface({ url: monitor, surface: monitorSurface, ...common })]),
  ]);
  const report = await runSuites(surfaces, { ...options, seed }, (line) => process.stderr.write(`${line}\n`));
  process.stdout.write(`${reportText(report)}\n`);
  if (json !== undefined) await writeFile(json, `${JSON.stringify(reportJson(report), null, 2)}\n`);
  if (junit !== undefined) await writeFile(junit, junitText(report));
  if (markdown !== undefined) await appendFile(markdown, markdownText(report));
  process.exitCode = problemCount(report) === 0 ? EXIT.ok : EXIT.findings;
}

/** Ends with wrong usage where no target is given or an endpoint is unknown. */
function requireNames(given: Command, { hosted, monitor, only, skip }: Omit<ContractOptions, 'seed'>): void {
  if (hosted === undefined && monitor === undefined) given.error('error: --hosted or --monitor is needed');
  const known = [...hostedSurface.routes, ...monitorSurface.routes].map(({ id }) => id as string);
  const unknown = [...only, ...skip.map(([endpoint]) => endpoint)].find((id) => !known.includes(id));
  if (unknown !== undefined) given.error(`error: no endpoint is named ${unknown}`);
}

const secret = (name: string): string | undefined => process.env[name] || undefined;

/** Secrets from the environment, and limits of time. */
function commonOf(options: Omit<ContractOptions, 'seed'>) {
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
  return { given, webhookSecret, timeoutMs: options.timeout, longestRetrySeconds: options.longestRetry };
}

const [subcommand, ...rest] = process.argv.slice(2);
const isDiff = subcommand === 'diff';
const command: Command = isDiff
  ? diffCommand(new UsageCommand('pipeline-contract diff'), EXIT)
  : contractCommand(manifest.version).action(() => testTarget(command));

command.parseAsync(isDiff ? rest : process.argv.slice(2), { from: 'user' }).catch((error: unknown) => {
  if (!(error instanceof TargetError)) throw error;
  command.error(`error: ${error.message}`, { exitCode: EXIT.config });
});
