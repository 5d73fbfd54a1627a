import type { ExecuteContext, ExecuteResult, ProjectionAction, ProjectionType, RepoRef } from '@pipeline/domain';
import type { LRUCache } from 'lru-cache';
import type { Client } from './client.ts';

export interface RequestOptions {
  signal?: AbortSignal;
  fetch?: typeof fetch;
}

/** Target of one action, and the identity that executes it. */
export interface Target {
  client: Client;
  repo: RepoRef;
  issueNumber: number;
  /** Parameters that every request of the action shares. */
  at: { owner: string; repo: string; request: RequestOptions };
  login(): Promise<string>;
  context: ExecuteContext;
  /** Ids of comments that are kept up to date, by repo, issue and marker. */
  keptComments: LRUCache<string, number>;
}

type ActionOf<T extends ProjectionType> = Extract<ProjectionAction, { type: T }>;

/** Carries out one kind of action; it throws what the client throws and `execute` maps it. */
export type Executor<T extends ProjectionType> = (target: Target, action: ActionOf<T>) => Promise<ExecuteResult>;

type Created = Extract<ExecuteResult, { status: 'ok' }>['created'];

export const done = (created: Created = null): ExecuteResult => ({ status: 'ok', repeated: false, created });
export const repeated = (created: Created = null): ExecuteResult => ({ status: 'ok', repeated: true, created });
