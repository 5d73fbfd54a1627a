import { RETRIEVAL_AGENT_OF, type Snippet } from '@pipeline/domain';
import { type Claimed, inTransaction, noteItemsUsed } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { retrieve } from './retrieve.ts';

/** Snippets for the agent of a task. Given items do not become stale. */
export async function snippetsFor(engine: Engine, tenantId: number, task: Claimed): Promise<Snippet[]> {
  const db = engine.store.db;
  const agent = RETRIEVAL_AGENT_OF[task.task_type];
  const repo = { tenantId, repoId: task.repo_id };
  if (agent === undefined || task.issue_id === null) return [];
  const about = { issueNumber: task.issue_number, prNumber: null, budget: null };
  const deps = { db, settings: engine.settings(), embedder: engine.embedder };
  const { snippets } = await retrieve(deps, { ...repo, agent, ...about });
  const ids = snippets.map(({ itemId }) => itemId);
  if (ids.length > 0) await inTransaction(db, (tx) => noteItemsUsed(tx, tenantId, ids));
  return snippets;
}
