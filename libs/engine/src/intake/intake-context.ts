import type { RepoOnHost } from '../repos/repo-address.ts';

/** Context of a host event: the engine, the repo, and that repo's host, which may be queried. */
export type Intake = RepoOnHost;
