import { z } from 'zod';

const path = z.string().min(1);
const tokens = z.int().min(0).default(0);

/** One action of a scripted agent. */
export const Step = z.union([
  /** Text of the agent. */
  z.strictObject({ say: z.string() }),
  z.strictObject({ think: z.string() }),
  z.strictObject({
    plan: z.array(z.strictObject({ content: z.string(), status: z.enum(['pending', 'in_progress', 'completed']) })),
  }),
  /** A tool call; with `ask` the agent requests permission first and does not run it when refused. */
  z.strictObject({
    tool: z.strictObject({
      title: z.string(),
      kind: z.enum(['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'switch_mode', 'other']),
      paths: z.array(path).default([]),
      input: z.unknown().optional(),
      output: z.unknown().optional(),
      ask: z.boolean().default(false),
    }),
  }),
  /** A file written through the client, or directly in the work tree. */
  z.strictObject({ write: z.strictObject({ path, text: z.string() }) }),
  z.strictObject({ edit: z.strictObject({ path, text: z.string().nullable() }) }),
  /** Reads a file through the client and prints its text. */
  z.strictObject({ read: z.strictObject({ path }) }),
  /** Runs a command in a terminal of the client and prints its output. */
  z.strictObject({
    run: z.strictObject({
      command: z.string(),
      cwd: z.string().optional(),
      env: z.record(z.string(), z.string()).optional(),
    }),
  }),
  /** Tokens and cost of the work so far are added to those of the session. */
  z.strictObject({
    usage: z.strictObject({ inputTokens: tokens, outputTokens: tokens, costUsd: z.number().optional() }),
  }),
  z.strictObject({ pauseMs: z.int().min(0) }),
  z.strictObject({ verdict: z.unknown() }),
  // Misbehaviour.
  /** Never ends the turn and ignores cancellation. */
  z.strictObject({ hang: z.literal(true) }),
  /** Ignores SIGTERM from now on. */
  z.strictObject({ ignoreSigterm: z.literal(true) }),
  z.strictObject({ exit: z.int() }),
  /** Sends messages of this length without a pause. */
  z.strictObject({ flood: z.strictObject({ messages: z.int().min(1), chars: z.int().min(1) }) }),
  /** Bytes on stdout that are no message of the protocol. */
  z.strictObject({ raw: z.string() }),
  z.strictObject({ stderr: z.string() }),
  /** Answers the prompt with an error. */
  z.strictObject({
    fail: z.strictObject({ code: z.int().default(-32_603), message: z.string(), data: z.unknown().optional() }),
  }),
  z.strictObject({ stop: z.enum(['end_turn', 'max_tokens', 'max_turn_requests', 'refusal']) }),
]);
export type Step = z.output<typeof Step>;
export type StepInput = z.input<typeof Step>;

/** Steps of each turn of a session; the last turn repeats. By task type, or for all tasks. */
export const Script = z.union([
  z.strictObject({ turns: z.array(z.array(Step)).min(1) }),
  z.strictObject({ tasks: z.record(z.string(), z.array(z.array(Step)).min(1)) }),
]);
export type Script = z.output<typeof Script>;
export type ScriptInput = z.input<typeof Script>;

/** One prompt that a scripted agent answers. */
export interface Turn {
  /** Zero-based within the session. */
  number: number;
  /** Work tree. */
  cwd: string;
  prompt: string;
  /** The task as pipeline-agent attaches it; null without one. */
  task: unknown;
  /** Files with markers of conflicts. */
  conflicts: readonly string[];
}

/** A script as a module: the default export returns the steps of a turn. */
export type ScriptModule = (turn: Turn) => AsyncIterable<StepInput> | Iterable<StepInput>;

/** Returns the steps of a turn. */
export function stepsOf(script: Script, { number, task }: Turn): readonly Step[] {
  const { taskType = '' } = (task ?? {}) as { taskType?: string };
  const turns = 'turns' in script ? script.turns : (script.tasks[taskType] ?? []);
  return turns[Math.min(number, turns.length - 1)] ?? [];
}
