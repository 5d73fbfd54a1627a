import { chownSync, mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withDeadline } from '@pipeline/runtime';
import { CONFINER_ENV } from '@pipeline/worker';
import { agentEnv } from './agents/environment.ts';
import { hardened } from './agents/node-agent.ts';
import type { AgentPreset } from './agents/presets.ts';
import { findProgram, missingKey, missingProgram } from './agents/problems.ts';
import type { Box } from './sandbox/sandbox.ts';
import { AgentProcess } from './session/agent-process.ts';
import { AgentSession } from './session/agent-session.ts';
import { WorkTreeFiles } from './session/files.ts';
import { DEFAULT_POLICY } from './session/permissions.ts';
import { Terminals } from './session/terminals.ts';
import { agentError } from './tasks/agent-error.ts';
import type { RunSettings } from './tasks/agent-run.ts';
import { copyLogin } from './tasks/login.ts';

const LIMITS = { maxBytes: 1_000, timeoutMs: 20_000 };
const START_WITHIN_MS = 60_000;
const ACCOUNT_WITHIN_MS = 20_000;

export interface CheckSettings extends Pick<RunSettings, 'env' | 'passedEnv' | 'sandbox' | 'graceMs'> {
  /** Home folder of the operator, with the logins of agents. */
  home: string;
}

/** Returns how an agent introduced itself. */
export interface CheckedAgent {
  name: string;
  version: string;
  protocolVersion: number;
}

/**
 * Starts an agent and opens a session in an empty folder, without sending a prompt.
 * @throws Error naming the missing program with its installation, or the missing key with its variable.
 */
export async function checkAgent(agent: AgentPreset, settings: CheckSettings): Promise<CheckedAgent> {
  const { env, passedEnv, sandbox, graceMs } = settings;
  if (findProgram(agent.command[0], env.PATH ?? '') === null) throw new Error(missingProgram(agent));
  const root = mkdtempSync(join(tmpdir(), 'pipeline-agent-check-'));
  if (sandbox.user !== null) chownSync(root, sandbox.user.uid, sandbox.user.gid);
  const access = { writable: [root], readable: [], network: true };
  const box = sandbox.open(access);
  try {
    await copyLogin(agent, { env, from: settings.home, to: root, box });
    const task = { user: sandbox.user, home: root };
    const program = {
      command: hardened(agent.command, env.PATH ?? ''),
      env: agentEnv(env, agent, { task, more: passedEnv }),
      cwd: root,
    };
    const process = new AgentProcess({ program: box.start(program, 'pipe'), graceMs, onStderr: () => undefined });
    const greeted = greet(process, agent, { root, box, env });
    return await withDeadline(greeted, START_WITHIN_MS, `the start of the agent ${agent.name}`);
  } finally {
    await box.end();
    const remove = ['find', root, '-mindepth', '1', '-delete'] as const;
    await sandbox.open(access).run({ command: remove, env: CONFINER_ENV, cwd: root }, LIMITS);
    rmdirSync(root);
  }
}

interface CheckPlace {
  root: string;
  box: Box;
  env: CheckSettings['env'];
}

async function greet(process: AgentProcess, agent: AgentPreset, { root, box, env }: CheckPlace) {
  let methods: unknown;
  try {
    const session = await AgentSession.connect(process, {
      root,
      policy: DEFAULT_POLICY,
      files: new WorkTreeFiles(root, box),
      terminals: new Terminals({ root, env: {}, box }),
      onUpdate: () => undefined,
      onPermission: () => undefined,
    });
    methods = session.initialized.authMethods;
    await session.open(root, { mode: null, model: null });
    const hasKey = agent.keys.some((name) => (env[name] ?? '') !== '');
    if (!hasKey && (await session.isUnauthenticated(ACCOUNT_WITHIN_MS))) throw new Error(missingKey(agent));
    const { agentInfo, protocolVersion } = session.initialized;
    return { name: agentInfo?.name ?? agent.name, version: agentInfo?.version ?? 'unknown', protocolVersion };
  } catch (error) {
    throw agentError(error, agent, methods);
  }
}
