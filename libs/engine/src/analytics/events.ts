import { type PageRequest, type Paginated, pageOf } from '@pipeline/domain';
import { countEvents, eventPage, type PipelineEventRow } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { findScope, type ScopeQuery } from './scope.ts';

interface EventQuery extends ScopeQuery, PageRequest {
  issue?: number | undefined;
  type?: string | undefined;
}

/** One page of events, newest first, with their total number. */
export async function pipelineEvents(
  engine: Engine,
  { limit, offset, issue, type, ...whose }: EventQuery,
): Promise<Paginated<PipelineEventRow>> {
  const filter = { ...(await findScope(engine, whose)), issue: issue ?? null, type: type ?? null };
  const { db } = engine.store;
  const counted = countEvents(db, filter);
  const [rows, { total }] = await Promise.all([eventPage(db, filter, { limit, offset, counted }), counted]);
  return pageOf(rows, { limit, offset }, total);
}
