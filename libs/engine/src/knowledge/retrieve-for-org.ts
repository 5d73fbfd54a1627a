import type { RetrievalAgent } from '@pipeline/domain';
import { type OrgScope, reachedRepo } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { repoNotFound } from '../repos/repo-not-found.ts';
import { type Retrieval, retrieve } from './retrieve.ts';

interface OrgRetrieval {
  slug: string;
  agent: RetrievalAgent;
  issue?: number | undefined;
  pr?: number | undefined;
  budget?: number | undefined;
}

/** The context that an agent would get, for a connection. @throws AppError REPO_NOT_FOUND. */
export async function retrieveForOrg(
  engine: Engine,
  scope: OrgScope,
  { slug, agent, issue = 0, pr = 0, budget = 0 }: OrgRetrieval,
): Promise<Retrieval> {
  const db = engine.store.reads;
  const repo = await reachedRepo(db, scope, slug);
  if (!repo) throw repoNotFound();
  const about = { issueNumber: issue || null, prNumber: pr || null, budget: budget || null };
  return retrieve({ db, settings: engine.settings(), embedder: engine.embedder }, { ...repo, agent, ...about });
}
