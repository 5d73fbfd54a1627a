#!/usr/bin/env node
import { randomInt } from 'node:crypto';
import { appendFile, writeFile } from 'node:fs/promises';
import { hostedSurface, monitorSurface } from '@pipeline/contract';
import { withSecretFiles } from '@pipeline/runtime/secret-files';
import type { Command } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { type ContractOptions, contractCommand, EXIT } from './options.ts';
import { badgeText } from './report/badge.ts';
import { reportJson } from './report/json.ts';
import { junitText } from './report/junit.ts';
import { markdownText } from './report/markdown.ts';
import { problemCount } from './report/report.ts';
import { reportText } from './report/terminal.ts';
import { runSuites } from './run-suites.ts';
import { renewedToken } from './target/client-credentials.ts';
import { openSurface } from './target/open-surface.ts';
import { TargetError } from './target/target-error.ts';

/** Runs the chosen suites and sets the exit status that `--help` documents. */
async function testTarget(given: Command): Promise<void> {
  const { seed = randomInt(2 ** 31), ...options } = given.opts<ContractOptions>();
  requireNames(given, options);
  const { hosted, monitor, json, junit, markdown, badge } = options;
  const common = {
    ...commonOf(options),
    given: {
      ...givenOf(options),
      ...operatorOf(given, options),
      ...loginOf(given, options),
      ...(await connectionOf(given, options)),
    },
  };
  const surfaces = await Promise.all([
    ...(hosted === undefined ? [] : [openSurface({ url: hosted, surface: hostedSurface, ...common })]),
    ...(monitor === undefined ? [] : [openSurface({ url: monitor, surface: monitorSurface, ...common })]),
  ]);
  const report = await runSuites(surfaces, { ...options, seed }, (line) => process.stderr.write(`${line}\n`));
  process.stdout.write(`${reportText(report)}\n`);
  if (json !== undefined) await writeFile(json, `${JSON.stringify(reportJson(report), null, 2)}\n`);
  if (junit !== undefined) await writeFile(junit, junitText(report));
  if (markdown !== undefined) await appendFile(markdown, markdownText(report));
  if (badge !== undefined) await writeFile(badge, badgeText(report, badge));
  process.exitCode = problemCount(report) === 0 ? EXIT.ok : EXIT.findings;
}

/** Ends with wrong usage where no target is given or an endpoint is unknown. */
function requireNames(given: Command, { hosted, monitor, only, skip }: Options): void {
  if (hosted === undefined && monitor === undefined) given.error('error: --hosted or --monitor is needed');
  const known = [...hostedSurface.routes, ...monitorSurface.routes].map(({ id }) => id as string);
  const unknown = [...only, ...skip.map(([endpoint]) => endpoint)].find((id) => !known.includes(id));
  if (unknown !== undefined) given.error(`error: no endpoint is named ${unknown}`);
}

const environment = withSecretFiles(process.env);

const secret = (name: string): string | undefined => environment[name] || undefined;

type Options = Omit<ContractOptions, 'seed'>;

/** Returns the connection to the hosted API: that of a client, or a token that was issued before. */
async function connectionOf(given: Command, { hosted, clientSecretEnv, token, tokenEnv, ...options }: Options) {
  const clientId = options.clientId ?? secret('PIPELINE_CLIENT_ID');
  if (clientId === undefined || hosted === undefined) {
    const issued = token ?? secret(tokenEnv);
    return issued === undefined ? {} : { token: () => issued };
  }
  const clientSecret = secret(clientSecretEnv);
  if (clientSecret === undefined) given.error(`error: --client-id needs a secret in ${clientSecretEnv}`);
  const client = { clientId, clientSecret };
  return { client, token: await renewedToken(hosted, client) };
}

/** The operator, when a monitor is tested. */
function operatorOf(given: Command, { monitor, user: username, passwordEnv }: Options) {
  if (monitor === undefined || username === undefined) return {};
  const password = secret(passwordEnv);
  if (password === undefined) given.error(`error: --user needs a password in ${passwordEnv}`);
  return { operator: { username, password } };
}

/** Only on request: the checks log in as this user. */
function loginOf(given: Command, { loginEmail: email, loginPasswordEnv }: Options) {
  if (email === undefined) return {};
  const password = secret(loginPasswordEnv);
  if (password === undefined) given.error(`error: --login-email needs a password in ${loginPasswordEnv}`);
  return { login: { email, password } };
}

const commonOf = (options: Options) => ({
  webhookSecret: secret(options.webhookSecretEnv),
  timeoutMs: options.timeout,
  longestRetrySeconds: options.longestRetry,
});

/** The other secrets, from the environment. */
function givenOf(options: Options) {
  const workerToken = secret(options.workerTokenEnv);
  const webhookSecret = secret(options.webhookSecretEnv);
  return {
    ...(workerToken !== undefined && { workerToken }),
    ...(webhookSecret !== undefined && { webhookSecret }),
    refusedTokens: options.refusedTokenEnv.flatMap((name) => secret(name) ?? []),
  };
}

const command: Command = contractCommand(manifest.version).action(() => testTarget(command));

command.parseAsync(process.argv.slice(2), { from: 'user' }).catch((error: unknown) => {
  if (!(error instanceof TargetError)) throw error;
  command.error(`error: ${error.message}`, { exitCode: EXIT.config });
});
