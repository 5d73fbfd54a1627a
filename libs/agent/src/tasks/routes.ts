import type { ClaimedTask } from '@pipeline/contract';
import { TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';
import { type AgentPreset, agentOf, reportedName } from '../agents/presets.ts';

/** The agent that works on a task. */
export interface Route {
  agent: AgentPreset;
  /** null = the default of the agent. */
  model: string | null;
  /** null = the mode of the preset. */
  mode: string | null;
}

const words = z.string().min(1).max(1_000);

export const RouteRule = z.strictObject({
  taskTypes: z.array(z.enum(TASK_TYPES)).min(1).optional(),
  repos: z
    .array(z.string().regex(/^[^/\s]+\/[^/\s]+$/, 'must be owner/name'))
    .min(1)
    .optional(),
  labels: z.array(words).min(1).optional(),
  agent: words.optional(),
  model: words.optional(),
  mode: words.optional(),
});
export type RouteRule = z.infer<typeof RouteRule>;

/**
 * Returns the function that selects the agent of a task: the first rule whose task types, repos and labels match. What a
 * rule does not name is that of the default. A task that names its agent, because its repo compares agents, gets that
 * agent: of the routes with it the first one whose rule matches, else the first one. @throws Error for an invalid command of an agent.
 */
export function router(rules: readonly RouteRule[], byDefault: Route): (task: ClaimedTask) => Route {
  const routes = rules.map((rule) => ({ rule, route: routeOf(rule, byDefault) }));
  const all = [...routes, { rule: {}, route: byDefault }];
  return (task) => {
    const own = task.agent === null ? all : all.filter(({ route }) => reportedName(route.agent) === task.agent);
    const [first] = own.length > 0 ? own : all;
    return (own.find(({ rule }) => matches(rule, task)) ?? first)?.route ?? byDefault;
  };
}

/** Returns every agent that the rules and the default name, each once. */
export function agentsOf(rules: readonly RouteRule[], byDefault: Route): AgentPreset[] {
  const all = [byDefault, ...rules.map((rule) => routeOf(rule, byDefault))].map(({ agent }) => agent);
  return [...new Map(all.map((agent) => [agent.name, agent])).values()];
}

function routeOf({ agent, model, mode }: RouteRule, byDefault: Route): Route {
  const isOther = agent !== undefined && agent !== byDefault.agent.name;
  return {
    agent: isOther ? agentOf(agent) : byDefault.agent,
    model: model ?? (isOther ? null : byDefault.model),
    mode: mode ?? (isOther ? null : byDefault.mode),
  };
}

function matches({ taskTypes, repos, labels }: RouteRule, { taskType, repo, payload }: ClaimedTask): boolean {
  const own = payload.issue?.labels ?? [];
  return (
    (taskTypes?.includes(taskType) ?? true) &&
    (repos?.some((slug) => slug.toLowerCase() === repo.toLowerCase()) ?? true) &&
    (labels?.some((label) => own.includes(label)) ?? true)
  );
}
