import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withDeadline } from '@pipeline/runtime';
import type { Bench } from '../runner/model.ts';

const MAIN = join(import.meta.dirname, '../../../libs/sandbox-host/src/main.ts');
const START_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 10_000;

/** A version-control host on this machine, as a process of its own; both users may write to its one repo. */
export interface SandboxHost {
  url: string;
  slug: string;
  /** Tokens of two users, so that neither spends the rate limit of the other. */
  tokens: { ours: string; peer: string };
}

export async function startSandboxHost(bench: Bench, slug: string): Promise<SandboxHost> {
  const dataDir = join(bench.workDir, 'sandbox-host');
  await rm(dataDir, { recursive: true, force: true });
  const tokens = { ours: 'token-of-ours', peer: 'token-of-peer' };
  const users = [
    { login: 'ours', token: tokens.ours, type: 'Bot' },
    { login: 'peer', token: tokens.peer },
  ];
  const log = await open(join(bench.workDir, 'sandbox-host.log'), 'w');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN], {
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      NODE_ENV: 'production',
      SANDBOX_DATA_DIR: dataDir,
      SANDBOX_TOKENS: JSON.stringify(users),
      SANDBOX_REPOS: JSON.stringify([{ slug, source: null, collaborators: { ours: 'write', peer: 'write' } }]),
    },
    stdio: ['ignore', 'pipe', log.fd],
  });
  await log.close();
  const ended = once(child, 'exit');
  bench.stack.add('sandbox host', async () => {
    child.kill('SIGTERM');
    await withDeadline(ended, STOP_WITHIN_MS, 'the end of the sandbox host').catch(() => child.kill('SIGKILL'));
  });
  const [line] = (await withDeadline(
    once(child.stdout as NodeJS.ReadableStream, 'data'),
    START_WITHIN_MS,
    'the sandbox host',
  )) as [Buffer];
  return { url: (JSON.parse(line.toString()) as { url: string }).url, slug, tokens };
}
