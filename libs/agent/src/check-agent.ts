import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withDeadline } from '@pipeline/runtime';
import { envOf } from '@pipeline/worker';
import { agentEnv } from './agents/environment.ts';
import type { AgentPreset } from './agents/presets.ts';
import { findProgram, missingKey, missingProgram } from './agents/problems.ts';
import { noSandbox } from './sandbox/sandbox.ts';
import { AgentProcess } from './session/agent-process.ts';
import { AgentSession } from './session/agent-session.ts';
import { WorkTreeFiles } from './session/files.ts';
import { DEFAULT_POLICY } from './session/permissions.ts';
import { Terminals } from './session/terminals.ts';
import { agentError } from './tasks/agent-error.ts';
import type { RunSettings } from './tasks/agent-run.ts';

const START_WITHIN_MS = 60_000;
const ACCOUNT_WITHIN_MS = 20_000;

export type CheckSettings = Pick<RunSettings, 'env' | 'passedEnv' | 'user' | 'sandbox' | 'graceMs'>;

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
  const { env, passedEnv, user, sandbox, graceMs } = settings;
  if (findProgram(agent.command[0], env.PATH ?? '') === null) throw new Error(missingProgram(agent));
  const root = mkdtempSync(join(tmpdir(), 'pipeline-agent-check-'));
  if (user !== null) chownSync(root, user.uid, user.gid);
  const process = new AgentProcess({
    launch: sandbox.confine(
      { command: agent.command, env: { ...agentEnv(env, agent, passedEnv), ...envOf(user) } },
      { tree: root, readable: [] },
    ),
    cwd: root,
    user,
    graceMs,
    onStderr: () => undefined,
  });
  try {
    return await withDeadline(
      greet(process, agent, root, env),
      START_WITHIN_MS,
      `the start of the agent ${agent.name}`,
    );
  } finally {
    await process.stop();
    rmSync(root, { recursive: true, force: true });
  }
}

async function greet(process: AgentProcess, agent: AgentPreset, root: string, env: CheckSettings['env']) {
  const terminals = new Terminals({
    root,
    env: {},
    user: null,
    confine: (program) => noSandbox.confine(program, { tree: root, readable: [] }),
  });
  let methods: unknown;
  try {
    const session = await AgentSession.connect(process, {
      root,
      policy: DEFAULT_POLICY,
      files: new WorkTreeFiles(root, null),
      terminals,
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
