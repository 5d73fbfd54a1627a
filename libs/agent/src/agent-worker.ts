import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ProgramContext, ProgramWork } from '@pipeline/worker';
import { agentOf, reportedName } from './agents/presets.ts';
import { checkAgent } from './check-agent.ts';
import { readConfig } from './config.ts';
import type { AgentOptions } from './options.ts';
import { chooseSandbox } from './sandbox/sandbox.ts';
import { DEFAULT_POLICY } from './session/permissions.ts';
import { agentHandler } from './tasks/handler.ts';
import { agentsOf, router } from './tasks/routes.ts';

/** Folders of a home folder with the settings and logins of the known agents. */
const AGENT_FOLDERS = [
  '.claude',
  '.claude.json',
  '.codex',
  '.gemini',
  '.config/opencode',
  '.local/share/opencode',
  '.config/goose',
];

/** Creates the handler of `pipeline-agent` from its options, and names its agents. Ends the program for a wrong setting, agent or key. */
export async function agentWorker(options: AgentOptions, context: ProgramContext): Promise<ProgramWork> {
  const { env, user, log, secrets, refuse } = context;
  try {
    const { routes, permissions, prices, identity } = readConfig(options.config);
    const { model = null, mode = null } = options;
    const agent = { ...agentOf(options.agent ?? ''), label: options.agentName };
    const byDefault = { agent, model, mode };
    const home = user?.home ?? env.HOME ?? homedir();
    const agentHome = AGENT_FOLDERS.map((folder) => join(home, folder));
    const sandbox = chooseSandbox(options.sandbox, {
      path: env.PATH ?? '',
      home,
      agentHome,
      readable: options.sandboxRead,
    });
    const settings = { env, passedEnv: options.env, user, sandbox, graceMs: options.killGrace };
    const agents = agentsOf(routes, byDefault);
    if (options.check)
      for (const each of agents) {
        const found = await checkAgent(each, settings);
        log.info('agent started', { agent: each.name, reported: found, sandbox: sandbox.name });
      }
    const [gitToken = ''] = secrets;
    const handler = agentHandler({
      ...settings,
      policy: { ...DEFAULT_POLICY, ...permissions },
      prices,
      workDir: options.workDir,
      route: router(routes, byDefault),
      limits: { maxTurns: options.maxTurns ?? null, budgetUsd: options.budget ?? null, timeMs: options.taskTimeout },
      depth: options.depth,
      setupTimeoutMs: options.setupTimeout,
      identity,
      gitToken: gitToken === '' ? null : gitToken,
    });
    return { handler, agents: agents.map(reportedName) };
  } catch (error) {
    return refuse((error as Error).message);
  }
}
