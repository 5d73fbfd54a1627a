import type { AnswerOf, listAgentMessages, logRoutes } from '@pipeline/contract';
import { parseSince } from '@pipeline/domain';
import { type Engine, findIfKnown } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { messagesOfIssue } from '@pipeline/store';
import type { Authentication } from '../auth/authentication.ts';
import type { LogIndex } from '../logs/log-index.ts';
import { searchLogs } from '../logs/log-search.ts';

type Handlers = HandlersOf<typeof logRoutes, Authentication>;
type Message = Awaited<ReturnType<typeof messagesOfIssue>>[number];

export interface LogDeps {
  /** Null = there is no log folder. */
  index: LogIndex | null;
  now: () => Date;
}

/**
 * interface: Logs.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const logHandlers = (deps: () => { engine: Engine }, { index, now }: LogDeps): Handlers => ({
  listAgentMessages: async ({ query: { limit, offset, ...wanted } }) => {
    const rows = await messagesFor(deps().engine, wanted, { limit: limit + 1, offset });
    const items = rows.slice(0, limit).map((row) => shown(row, wanted.include === 'tools'));
    return { status: 200, body: { items, page: { total: null, limit, offset, hasMore: rows.length > limit } } };
  },
  listLogs: async ({ query: { limit, offset, ...wanted }, signal }) => {
    const since = wanted.since === undefined ? null : parseSince(wanted.since, now());
    const query = {
      // An empty field filters nothing, as a form sends it.
      agent: wanted.agent || null,
      level: wanted.level ?? null,
      issue: wanted.issue || null,
      since: since?.toISOString() ?? null,
      search: wanted.search || null,
    };
    const found = index ? await searchLogs(index, query, { limit, offset }, signal) : { entries: [], total: 0 };
    const { entries: items, total } = found;
    return { status: 200, body: { items, page: { total, limit, offset, hasMore: offset + items.length < total } } };
  },
});

interface Wanted {
  owner: string;
  repo: string;
  tenant?: string | undefined;
  issue: string;
  taskId?: string | undefined;
  invocation?: number | undefined;
  include?: 'tools' | undefined;
}

async function messagesFor(
  engine: Engine,
  wanted: Wanted,
  page: { limit: number; offset: number },
): Promise<Message[]> {
  const key = await findIfKnown(engine, { ...wanted, number: Number(wanted.issue) });
  if (key === null) return [];
  const filter = { issueId: key.issueId, taskId: wanted.taskId, invocation: wanted.invocation };
  return messagesOfIssue(engine.store.reads, key.tenantId, filter, { ...page, withTools: wanted.include === 'tools' });
}

type Shown = AnswerOf<typeof listAgentMessages>['body']['items'][number];

const shown = (row: Message, withTools: boolean): Shown =>
  ({
    taskId: row.task_id,
    invocationIndex: row.invocation_index,
    sequence: row.sequence,
    agent: row.agent,
    role: row.role,
    subtype: row.subtype,
    toolName: row.tool_name,
    ...(withTools && row.subtype === 'tool_use' && { toolInput: row.tool_input }),
    ...(withTools && row.subtype === 'tool_result' && { toolOutput: row.tool_output }),
    content: row.content,
    truncated: row.truncated,
    createdAt: row.created_at,
  }) as Shown;
