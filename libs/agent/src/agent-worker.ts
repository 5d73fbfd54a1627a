import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter } from 'node:path';
import { NO_NAMESPACE, type ProgramContext, type ProgramWork } from '@pipeline/worker';
import { parse } from 'yaml';
import { z } from 'zod';
import { agentOf, reportedName } from './agents/presets.ts';
import { pathFolders } from './agents/problems.ts';
import { checkAgent } from './check-agent.ts';
import type { AgentOptions } from './options.ts';
import { chooseSandbox } from './sandbox/choose-sandbox.ts';
import { connectFrom, EgressProxy, readEgress } from './sandbox/egress.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import { DEFAULT_POLICY, PERMISSION_KINDS, PERMISSION_RULES } from './session/permissions.ts';
import { agentHandler } from './tasks/handler.ts';
import { agentsOf, RouteRule, router } from './tasks/routes.ts';

const usd = z.number().min(0).max(10_000);
const rule = z.enum(PERMISSION_RULES);

const Config = z.strictObject({
  /** The first matching rule selects agent, model and mode. */
  routes: z.array(RouteRule).max(1_000).default([]),
  permissions: z.partialRecord(z.enum(PERMISSION_KINDS), rule).default({}),
  /** USD per million tokens, for agents that report tokens without a cost. */
  prices: z
    .array(
      z.strictObject({
        pattern: z.string().min(1).max(200),
        inputUsd: usd,
        outputUsd: usd,
        cacheReadUsd: usd.default(0),
        cacheWriteUsd: usd.default(0),
      }),
    )
    .max(1_000)
    .default([]),
  identity: z
    .strictObject({ name: z.string().min(1).max(200), email: z.string().regex(/^[^\s<>@]+@[^\s<>@]+$/) })
    .default({ name: 'Pipeline agent', email: 'agent@pipeline.invalid' }),
});
type AgentConfig = z.output<typeof Config>;

/** Creates the handler of `pipeline-agent` from its options, and names its agents. Ends the program for a wrong setting, agent or key. */
export async function agentWorker(options: AgentOptions, context: ProgramContext): Promise<ProgramWork> {
  const { user, log, secrets, refuse } = context;
  try {
    const { routes, permissions, prices, identity } = readConfig(options.config);
    const { model = null, mode = null } = options;
    const agent = { ...agentOf(options.agent ?? ''), label: options.agentName };
    const byDefault = { agent, model, mode };
    const home = user?.home ?? context.env.HOME ?? homedir();
    const path = pathFolders(context.env.PATH ?? '').join(delimiter);
    const env = { ...context.env, ...secrets, PATH: path };
    const sandbox = await sandboxOf(options, { env, user, log });
    const settings = { env, passedEnv: options.env, sandbox, home, graceMs: options.killGrace };
    const agents = agentsOf(routes, byDefault);
    if (options.check)
      for (const each of agents) {
        const found = await checkAgent(each, settings);
        log.info('agent started', { agent: each.name, reported: found, sandbox: sandbox.name });
      }
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
      gitToken: secrets[options.gitTokenEnv] || null,
    });
    return { handler, agents: agents.map(reportedName) };
  } catch (error) {
    return refuse((error as Error).message);
  }
}

type SandboxContext = Pick<ProgramContext, 'env' | 'user' | 'log'>;

/** Returns the sandbox of the options. @throws Error when it cannot be used. */
async function sandboxOf(options: AgentOptions, { env, user, log }: SandboxContext): Promise<Sandbox> {
  const { egress: list, sandboxRead: readable, vmImage: image, vmAccel: accel } = options;
  const proxy = list === undefined ? null : await EgressProxy.start(readEgress(list), connectFrom(env));
  const place = { path: env.PATH ?? '', user, readable, egress: proxy?.socket ?? null, vm: { image, accel } };
  const sandbox = await chooseSandbox(options.sandbox, place);
  if (proxy !== null && !sandbox.isConfined) throw new Error('--egress has no effect without bubblewrap');
  if (!sandbox.isNamespace) log.warn(NO_NAMESPACE);
  return sandbox;
}

/** Reads the configuration of `pipeline-agent`. @throws Error naming the file and the problem. */
export function readConfig(path: string | undefined): AgentConfig {
  if (path === undefined) return Config.parse({});
  try {
    return Config.parse(parse(readFileSync(path, 'utf8')) ?? {});
  } catch (error) {
    const problem = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new Error(`${path} cannot be used: ${problem}`, { cause: error });
  }
}
