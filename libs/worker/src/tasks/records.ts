import type { ClaimedTask } from '@pipeline/contract';
import {
  ArtefactInput,
  ERROR_CLASSES,
  FindingInput,
  MAX_INTEGER,
  MappedFile,
  MappedSymbol,
  OUTCOME_NAMES,
  ReportedInvocation,
} from '@pipeline/domain';
import { z } from 'zod';

const anything = z.record(z.string(), z.unknown());

/** Input of a program on stdin: the claimed task without its claim token. */
export type ExecTask = Omit<ClaimedTask, 'claimToken'>;

const Progress = z.object({
  type: z.literal('progress'),
  status: z.string().min(1).max(2_000),
  details: anything.nullable().default(null),
});

const Message = z.object({
  type: z.literal('message'),
  role: z.enum(['assistant', 'user', 'system']).default('assistant'),
  subtype: z.enum(['text', 'thinking', 'tool_use', 'tool_result', 'system']).default('text'),
  invocationIndex: z.int().min(0).max(MAX_INTEGER).default(0),
  toolName: z.string().max(200).nullable().default(null),
  toolInput: z.unknown().optional(),
  toolOutput: z.unknown().optional(),
  content: z.string().nullable().default(null),
});

const OutcomeRecord = z.object({
  type: z.literal('outcome'),
  outcome: z.enum(OUTCOME_NAMES),
  result: anything.default({}),
});

const FailureRecord = z.object({
  type: z.literal('failure'),
  errorMessage: z.string().min(1).max(20_000),
  errorClass: z.enum(ERROR_CLASSES).default('transient'),
  retryAfterMs: z.int().nonnegative().max(86_400_000).optional(),
});

/** One part of a code map. */
const CodeMapRecord = z.object({
  type: z.literal('code-map'),
  files: z.array(MappedFile).default([]),
  symbols: z.array(MappedSymbol).default([]),
});

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

const Log = z.object({
  type: z.literal('log'),
  level: z.enum(LOG_LEVELS).default('info'),
  message: z.string(),
  context: anything.default({}),
});

/** One JSON line of a program's stdout. The last `outcome` or `failure` is reported; without one, the exit code decides. */
export const AgentRecord = z.discriminatedUnion('type', [
  Progress,
  Message,
  ArtefactInput.extend({ type: z.literal('artefact') }),
  FindingInput.extend({ type: z.literal('finding') }),
  ReportedInvocation.extend({ type: z.literal('invocation') }),
  CodeMapRecord,
  OutcomeRecord,
  FailureRecord,
  Log,
]);
export type AgentRecord = z.output<typeof AgentRecord>;
/** Input form of a record, with optional defaults. */
export type AgentRecordInput = z.input<typeof AgentRecord>;

const TYPES: readonly string[] = AgentRecord.options.map((option) => option.shape.type.value);

export type ParsedLine =
  | { kind: 'record'; record: AgentRecord }
  /** A JSON line with a known type that is not a valid record. */
  | { kind: 'invalid'; type: string; problem: string }
  | { kind: 'text'; text: string };

/** Parses a line as a record; distinguishes records from other output. */
export function parseLine(line: string): ParsedLine {
  const value = line.trimStart().startsWith('{') ? parseJson(line) : undefined;
  const type = (value as { type?: unknown } | undefined)?.type;
  if (typeof type !== 'string' || !TYPES.includes(type)) return { kind: 'text', text: line };
  const parsed = AgentRecord.safeParse(value);
  if (parsed.success) return { kind: 'record', record: parsed.data };
  return { kind: 'invalid', type, problem: z.prettifyError(parsed.error) };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
