import type {
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
  ToolKind,
} from '@agentclientprotocol/sdk/unstable';
import { isGitInternal, isInside } from './paths.ts';

/** `worktree` allows what names only paths inside the work tree. */
export const PERMISSION_RULES = ['allow', 'worktree', 'refuse'] as const;
export type PermissionRule = (typeof PERMISSION_RULES)[number];

/** Kinds of tool calls for which a rule can be set. */
export const PERMISSION_KINDS = ['read', 'edit', 'execute', 'fetch', 'other'] as const;
export type PermissionKind = (typeof PERMISSION_KINDS)[number];
export type PermissionPolicy = Readonly<Record<PermissionKind, PermissionRule>>;

export const DEFAULT_POLICY: PermissionPolicy = {
  read: 'worktree',
  edit: 'worktree',
  execute: 'worktree',
  fetch: 'refuse',
  other: 'refuse',
};

const KIND_OF: Record<ToolKind, PermissionKind> = {
  read: 'read',
  search: 'read',
  think: 'read',
  edit: 'edit',
  delete: 'edit',
  move: 'edit',
  execute: 'execute',
  fetch: 'fetch',
  switch_mode: 'other',
  other: 'other',
};

const PATH_FIELDS = /^(file_?path|path|paths|abs_?path|notebook_?path|cwd|directory|source|destination)$/i;
/** Folders that ordinary commands name: programs, devices, temporary files. */
const SYSTEM_PATH = /^\/(usr|bin|lib|opt|dev\/(null|stdin|stdout|stderr|tty)|tmp)(\/|$)/;
const MAX_COMMAND = 20_000;

export interface PermissionAnswer {
  allowed: boolean;
  /** Why, for the transcript. */
  reason: string;
}

/** Decides about a tool call for which an agent requests permission. */
export function judge(
  policy: PermissionPolicy,
  root: string,
  { toolCall }: Pick<RequestPermissionRequest, 'toolCall'>,
): PermissionAnswer {
  const kind = KIND_OF[toolCall.kind ?? 'other'];
  const rule = policy[kind];
  if (rule !== 'worktree') return { allowed: rule === 'allow', reason: `${kind}: ${rule}` };
  const paths = pathsOf(toolCall);
  const outside = paths.find((path) => !isInside(root, path));
  if (outside !== undefined) return { allowed: false, reason: `${outside} is outside the work tree` };
  const internal = kind === 'edit' ? paths.find((path) => isGitInternal(root, path)) : undefined;
  if (internal !== undefined) return { allowed: false, reason: `${internal} belongs to git` };
  if (kind === 'execute') return judgeCommand(root, toolCall.rawInput);
  if (kind === 'edit' && paths.length === 0) return { allowed: false, reason: 'the request names no path' };
  return { allowed: true, reason: 'inside the work tree' };
}

/** Paths in a command are found by their form alone: this prevents mistakes, the sandbox prevents attacks. */
function judgeCommand(root: string, input: unknown): PermissionAnswer {
  const outside = commandWords(input).find(
    (word) =>
      /^(~|\/|\.\.(\/|$))|\/\.\.(\/|$)/.test(word) &&
      !SYSTEM_PATH.test(word) &&
      (word.startsWith('~') || !isInside(root, word)),
  );
  return outside === undefined
    ? { allowed: true, reason: 'inside the work tree' }
    : { allowed: false, reason: `the command names ${outside}, which is outside the work tree` };
}

function commandWords(input: unknown): string[] {
  const { command, args } = (input ?? {}) as { command?: unknown; args?: unknown };
  const parts = [command, args].flat().filter((part): part is string => typeof part === 'string');
  return parts
    .join(' ')
    .slice(0, MAX_COMMAND)
    .split(/[\s'"`=;|&<>(),]+/)
    .filter((word) => word !== '');
}

type ToolCall = RequestPermissionRequest['toolCall'];

function pathsOf({ locations, content, rawInput }: ToolCall): string[] {
  const named = Object.entries((rawInput ?? {}) as Record<string, unknown>)
    .filter(([field]) => PATH_FIELDS.test(field))
    .flatMap(([, value]) => value)
    .filter((value): value is string => typeof value === 'string' && value !== '');
  const changed = (content ?? []).flatMap((part) => (part.type === 'diff' ? [part.path] : []));
  return [...(locations ?? []).map(({ path }) => path), ...changed, ...named];
}

/** Returns the response for an answer. An allowed call is allowed once, so that the next one is judged again. */
export function responseOf(
  { allowed }: PermissionAnswer,
  rule: PermissionRule,
  options: readonly PermissionOption[],
): RequestPermissionResponse {
  const order: PermissionOption['kind'][] = allowed
    ? ['allow_once', ...(rule === 'allow' ? (['allow_always'] as const) : [])]
    : ['reject_once', 'reject_always'];
  const option = order.map((kind) => options.find((known) => known.kind === kind)).find((found) => found);
  return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } };
}

export const ruleFor = (policy: PermissionPolicy, kind: ToolKind | null | undefined): PermissionRule =>
  policy[KIND_OF[kind ?? 'other']];
