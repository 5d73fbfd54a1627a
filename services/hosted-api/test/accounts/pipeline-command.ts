import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { afterAll } from '@jest/globals';
import { until } from '@pipeline/testing';
import { closedWithFile } from '@pipeline/testing/closing';
import { COMPILE_CACHE } from '@pipeline/testing/compile-cache';
import { decide, logIn, type OauthWorld, type Person } from '../oauth/oauth-world.ts';

const MAIN = join(import.meta.dirname, '../../../../libs/cli/src/main.ts');

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** `pipeline` of one user: every command is a process, with the same folder of logins. */
export interface PipelineCommand {
  /** The file with the logins. */
  file: string;
  start(...args: string[]): { output: { stdout: string; stderr: string }; stdin: Writable; ended: Promise<Ended> };
  run(...args: string[]): Promise<Ended>;
  /** Runs a command with --json. @returns its answer. @throws Error when it does not end with 0. */
  // biome-ignore lint/suspicious/noExplicitAny: read by tests.
  json(...args: string[]): Promise<any>;
  /** Logs in: the person opens the address and decides. */
  login(world: OauthWorld, person: Person, decision?: 'allow' | 'deny'): Promise<Ended>;
  // biome-ignore lint/suspicious/noExplicitAny: read by tests.
  stored(): any;
  store(content: unknown): void;
}

/** Makes users of the command for the tests of a file. Call it once at the top. */
export function pipelineCommands(): (env?: Readonly<Record<string, string>>) => PipelineCommand {
  const root = mkdtempSync(join(tmpdir(), 'pipeline-command-'));
  afterAll(() => rmSync(root, { recursive: true }));
  return (env = {}) => pipelineCommand(mkdtempSync(join(root, 'user-')), env);
}

function pipelineCommand(folder: string, env: Readonly<Record<string, string>>): PipelineCommand {
  const file = join(folder, 'pipeline/logins.json');
  const start: PipelineCommand['start'] = (...args) => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args], {
      env: { PATH: process.env.PATH, XDG_CONFIG_HOME: folder, ...COMPILE_CACHE, ...env },
    });
    closedWithFile(async () => child.kill());
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output.stderr += text;
    });
    return {
      output,
      stdin: child.stdin,
      ended: once(child, 'close').then(([code]) => ({ code: code as number, ...output })),
    };
  };
  const run: PipelineCommand['run'] = (...args) => start(...args).ended;
  return {
    file,
    start,
    run,
    async json(...args) {
      const { code, stdout, stderr } = await run(...args, '--json');
      if (code !== 0) throw new Error(`pipeline ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
      return JSON.parse(stdout);
    },
    async login(world, person, decision = 'allow') {
      const command = start('login', '--host', world.front.url);
      await until('an address is shown', () => command.output.stderr.includes('/oauth/authorize?'));
      const browser = world.browser();
      await browser.open(/http:\S+/.exec(command.output.stderr)?.[0] ?? '');
      await logIn(browser, person);
      await fetch(await decide(browser, decision));
      return command.ended;
    },
    stored: () => JSON.parse(readFileSync(file, 'utf8')),
    store: (content) => writeFileSync(file, JSON.stringify(content)),
  };
}
