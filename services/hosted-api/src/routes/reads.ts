import { Bootstrap, IssueWhy, PipelineOverview, type readRoutes } from '@pipeline/contract';
import { explainIssue, issuesTag, listIssues } from '@pipeline/engine';
import { type HandlersOf, matchesEtag } from '@pipeline/http';
import type { z } from 'zod';
import type { ConnectionAuth } from '../auth/connection-tokens.ts';
import type { HostedContext } from '../context/context.ts';
import { bootstrapOf, overviewFor } from '../context/reads.ts';

/** Handlers for what a connection reads. Its scope comes from the check of its token; data may come from a replica. */
export const readHandlers = (context: HostedContext): HandlersOf<typeof readRoutes, ConnectionAuth> => ({
  bootstrap: async ({ identity, query }) => checked(Bootstrap, await bootstrapOf(context, identity, query.repo)),
  listIssues: async ({ identity: { scope }, query, request }) => {
    const { store } = context.engine;
    const { repo: slug, state: filter, limit, offset } = query;
    if (request.headers['if-none-match'] !== undefined) {
      const tag = await issuesTag(store, scope, slug);
      if (matchesEtag(request, tag)) return { status: 304, headers: { etag: tag, ...REVALIDATE } };
    }
    const { json, tag } = await listIssues(store, scope, { slug, filter, limit, offset });
    return { status: 200, headers: { etag: tag, ...REVALIDATE }, json };
  },
  explainIssue: async ({ identity: { scope }, params, query }) => {
    const issue = { slug: query.repo, number: Number(params.number) };
    return checked(IssueWhy, await explainIssue(context.engine.store, scope, issue));
  },
  pipelineOverview: async ({ identity, query }) =>
    checked(PipelineOverview, await overviewFor(context, identity, query.repo)),
});

/** Held to the schema by the compiler, and by every test; in production a check of each answer would cost more than it. */
const checked = <S extends z.ZodType>(_schema: S, body: z.input<S>) =>
  ({ status: 200, json: JSON.stringify(body) }) as const;

/** The caller may keep a page, and has to ask each time whether it still holds. */
const REVALIDATE = { 'cache-control': 'private, no-cache' };
