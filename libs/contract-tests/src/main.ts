#!/usr/bin/env node
import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { hostedSurface, monitorSurface } from '@pipeline/contract';
import manifest from '../package.json' with { type: 'json' };
import { diffCommand } from './diff/diff-command.ts';
import { type ContractOptions, contractCommand, EXIT, UsageCommand } from './options.ts';
import { PropertySuite } from './property/property-suite.ts';
import { propertyJson } from './report/json.ts';
import { propertyText } from './report/terminal.ts';
import { openSurface, TargetError } from './target/open-surface.ts';

const [subcommand, ...rest] = process.argv.slice(2);
const isDiff = subcommand === 'diff';
if (isDiff) await diffCommand(new UsageCommand('pipeline-contract diff'), EXIT).parseAsync(rest, { from: 'user' });

const command = contractCommand(manifest.version);
if (!isDiff) command.parse();
const { seed = randomInt(2 ** 31), ...options } = command.opts<ContractOptions>();
const { hosted, monitor } = options;
if (!isDiff && hosted === undefined && monitor === undefined) command.error('error: --hosted or --monitor is needed');
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

/** Runs the suite and sets the exit status that `--help` documents. */
async function main(): Promise<void> {
  const surfaces = await Promise.all([
    ...(hosted === undefined ? [] : [openSurface({ url: hosted, surface: hostedSurface, ...common })]),
    ...(monitor === undefined ? [] : [openSurface({ url: monitor, surface: monitorSurface, ...common })]),
  ]);
  process.stderr.write(`seed ${seed}\n`);
  const suite = new PropertySuite(surfaces, { ...options, seed, skip: new Map(options.skip) }, ({ requests }, found) =>
    process.stderr.write(`${requests} requests, ${found} findings\n`),
  );
  const result = await suite.run();
  const targetOf = (name: string) => {
    const found = surfaces.find(({ target }) => target.surface.name === name);
    if (!found) throw new Error(`no surface ${name}`);
    return found.target;
  };
  process.stdout.write(`${propertyText(result, targetOf)}\n`);
  if (options.json !== undefined)
    await writeFile(options.json, `${JSON.stringify(propertyJson(result, targetOf), null, 2)}\n`);
  process.exitCode = result.findings.length === 0 ? EXIT.ok : EXIT.findings;
}

try {
  if (!isDiff) await main();
} catch (error) {
  if (!(error instanceof TargetError)) throw error;
  command.error(`error: ${error.message}`, { exitCode: EXIT.config });
}
