import { createHash } from 'node:crypto';
import { z } from 'zod';
import { MINUTE_MS } from './windows.ts';

/** Task types whose agents can be compared: those that move an issue and that an agent does. */
export const COMPARED_TASK_TYPES = ['analyze', 'plan', 'develop', 'review'] as const;

/** Stands for any agent where an agent is stored as text. */
export const ANY_AGENT = '';

/** A compared task that no worker can claim is given to any agent after this time. */
export const COMPARED_TASK_WAIT_MS = 15 * MINUTE_MS;

const MAX_AGENTS = 20;
const MAX_WEIGHT = 1_000;
const WEIGHT = `must be a whole number from 1 to ${MAX_WEIGHT}`;

/** The name of an agent, as workers register it and model calls report it. */
export const AgentName = z
  .string()
  .regex(/^[^\s\p{C}](?:[^\p{C}]{0,98}[^\s\p{C}])?$/u, 'must be an agent name of 1 to 100 characters');

const Weights = z
  .record(AgentName, z.int(WEIGHT).min(1, WEIGHT).max(MAX_WEIGHT, WEIGHT), {
    error: (issue) =>
      issue.code === 'invalid_key' ? 'is no agent name: 1 to 100 characters without blanks at the ends' : undefined,
  })
  .refine(
    (weights) => Object.keys(weights).length >= 2 && Object.keys(weights).length <= MAX_AGENTS,
    `must name 2 to ${MAX_AGENTS} agents, each with its weight`,
  );

/** Weights of the agents among which the tasks of a repo are divided, by task type. */
export const Comparison = z.partialRecord(z.enum(COMPARED_TASK_TYPES), Weights, {
  error: (issue) =>
    'keys' in issue
      ? `is no task type whose agents can be compared; types are ${COMPARED_TASK_TYPES.join(', ')}`
      : undefined,
});
export type Comparison = z.output<typeof Comparison>;

/** A task of an issue: all rounds and attempts of it have the same key. */
interface ComparedTask {
  repoId: number;
  issueNumber: number;
  taskType: string;
}

/**
 * Selects the agent of a task by its weight. The result depends on the task and the weights only, so that every round
 * and attempt of the task gets the same agent. @returns `ANY_AGENT` when the task type is not compared.
 */
export function comparedAgentOf(comparison: Comparison | null, task: ComparedTask): string {
  const weights = (comparison as Readonly<Record<string, Record<string, number>>> | null)?.[task.taskType];
  if (!weights) return ANY_AGENT;
  const agents = Object.entries(weights).sort(([one], [other]) => (one < other ? -1 : 1));
  const total = agents.reduce((sum, [, weight]) => sum + weight, 0);
  let left = Number(hashOf(task) % BigInt(total));
  for (const [agent, weight] of agents) {
    if (left < weight) return agent;
    left -= weight;
  }
  return ANY_AGENT;
}

/** A number of 64 bits; of at most 20,000 the remainder is uniform for every purpose. */
const hashOf = ({ repoId, issueNumber, taskType }: ComparedTask): bigint =>
  BigInt(`0x${createHash('sha256').update(`${repoId}/${issueNumber}/${taskType}`).digest('hex').slice(0, 16)}`);
