import type { VcsHost } from '@pipeline/domain';
import type { RepoRow } from '@pipeline/store';
import type { Engine } from '../context/context.ts';

/** Where a host event is applied: the engine, the repo it is about, and that repo's host, which may be asked. */
export interface Intake {
  engine: Engine;
  repo: RepoRow;
  host: VcsHost;
}
