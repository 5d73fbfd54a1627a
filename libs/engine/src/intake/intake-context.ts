import type { VcsHost } from '@pipeline/domain';
import type { RepoRow } from '@pipeline/store';
import type { Engine } from '../context/context.ts';

/** Context of a host event: the engine, the repo, and that repo's host, which may be queried. */
export interface Intake {
  engine: Engine;
  repo: RepoRow;
  host: VcsHost;
}
