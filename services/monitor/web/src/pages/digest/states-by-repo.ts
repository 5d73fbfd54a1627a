import { STATE_NAMES } from '@pipeline/web/states/states.ts';
import type { Reply } from '../../api/types.ts';

export interface RepoStates {
  /** `owner/repo`, with `@tenant` where the name is ambiguous. */
  repo: string;
  states: { state: string; count: number }[];
}

const placeOf = (state: string): number => {
  const place = (STATE_NAMES as readonly string[]).indexOf(state);
  return place < 0 ? STATE_NAMES.length : place;
};

/** Groups the digest's counts, whose keys are `state:owner/repo`, by repo; states in the order of the workflow. */
export function statesByRepo(counts: Reply<'readDigest'>['digest']['pipelineByState']): RepoStates[] {
  const repos = new Map<string, RepoStates['states']>();
  for (const [key, count] of Object.entries(counts)) {
    const end = key.indexOf(':');
    const repo = key.slice(end + 1);
    repos.set(repo, [...(repos.get(repo) ?? []), { state: key.slice(0, end), count }]);
  }
  return [...repos]
    .map(([repo, states]) => ({ repo, states: states.toSorted((a, b) => placeOf(a.state) - placeOf(b.state)) }))
    .toSorted((a, b) => a.repo.localeCompare(b.repo, 'en'));
}
